"""A tool of the user's own: an executable with a JSON schema, declared in a file, run like a command.

The program gets the input as JSON on stdin and answers on stdout; an exit code other than 0 is a failure.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.effects import Effect, Permit, Risk
from codeagent.core.errors import ToolFault
from codeagent.core.ports import Progress, Result
from codeagent.core.views import Shell
from codeagent.host.durable import replace
from codeagent.host.jobs import Jobs
from codeagent.host.process import ShellProcess
from codeagent.host.workspace import Workspace
from codeagent.tools import kept_out
from codeagent.tools.own_input import DeclaredInput, input_of

INLINE = 10_000
"""Bytes of output that the model gets at most."""
LONGEST = 600.0
"""Seconds that a declared timeout may have."""
DECLARATION = 64 * 1024
"""Bytes of a declaration."""

_BEAT = 0.1
"""Seconds between two pieces of progress."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")


@dataclass(frozen=True, slots=True)
class Declaration:
    """A tool as its file declares it. `command` is a list of words, a relative path in it starts at the file's folder.

    `readonly` says that it changes nothing, so that it runs without a question; `timeout` is in seconds.
    """

    name: str
    description: str
    command: tuple[str, ...]
    input: type[DeclaredInput]
    timeout: float = 60.0
    readonly: bool = False


def read_declaration(file: Path, text: bytes) -> Declaration:
    """Read what is in `NAME.json`. Raises ValueError in words that name the field."""
    if not _NAME.fullmatch(file.stem):
        raise ValueError("the name of a tool is made of a-z, 0-9 and _, and begins with a letter")
    if len(text) > DECLARATION:
        raise ValueError(f"it is longer than {DECLARATION // 1024} KiB")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no valid JSON ({error})") from None
    if not isinstance(data, dict):
        raise ValueError("a JSON object is wanted")
    if unknown := data.keys() - {"description", "command", "input_schema", "timeout", "readonly"}:
        raise ValueError(f"{sorted(unknown)[0]}: there is no such field")
    description, command, timeout = data.get("description"), data.get("command"), data.get("timeout", 60)
    if not isinstance(description, str) or not description.strip():
        raise ValueError("description: a text for the model is wanted")
    if (
        not isinstance(command, list)
        or not command
        or not all(isinstance(w, str) and w and "\0" not in w for w in command)
    ):
        raise ValueError('command: a list of words is wanted, such as ["./get_time"]')
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= LONGEST:
        raise ValueError(f"timeout: seconds up to {LONGEST:.0f} are wanted")
    if not isinstance(data.get("readonly", False), bool):
        raise ValueError("readonly: true or false is wanted")
    program = command[0] if "/" not in command[0] else str((file.parent / command[0]).resolve())
    schema = input_of(file.stem, data.get("input_schema", {"type": "object", "properties": {}}))
    words = (program, *command[1:])
    return Declaration(file.stem, description.strip(), words, schema, float(timeout), data.get("readonly", False))


class Own:
    """Runs what a declaration names, in the project's root, as a process group that leaves nothing behind."""

    def __init__(self, declaration: Declaration, workspace: Workspace, jobs: Jobs) -> None:
        self.name, self.description = declaration.name, declaration.description
        self.Input, self.timeout = declaration.input, declaration.timeout
        self._declaration, self._workspace, self._jobs = declaration, workspace, jobs

    async def plan(self, args: DeclaredInput) -> Effect:
        given = json.dumps(args.given(), ensure_ascii=False)
        view = Shell(f"{shlex.join(self._declaration.command)} <<< {given}", str(self._workspace.root))
        risk = Risk.LOW if self._declaration.readonly else Risk.HIGH
        label = given if given != "{}" else self.name
        return Effect(self.name, label, f"Run your tool {self.name}", risk, view, cwd=str(self._workspace.root))

    async def run(self, args: DeclaredInput, permit: Permit) -> AsyncIterator[Progress | Result]:
        data = json.dumps(args.given()).encode()
        given = self._workspace.spill / f"input-{hashlib.sha256(data).hexdigest()[:16]}.json"
        try:
            replace(given, data)
            line = f"exec {shlex.join(self._declaration.command)} < {shlex.quote(str(given))}"
            process = self._jobs.run(line, self._workspace.root, self._workspace.env, self._workspace.spill)
        except OSError as error:
            raise ToolFault(f"{self.name} could not be started: {error}. Nothing was run.") from error
        try:
            while not await process.wait(_BEAT):
                if piece := process.output.fresh():
                    yield Progress(piece)
            await process.finish()
        finally:
            await process.end()
        yield self._told(permit.effect, process)

    def _told(self, effect: Effect, process: ShellProcess) -> Result:
        output, code = process.output.shown(INLINE).text, process.code or 0
        text = output.rstrip("\n") or "(no output)"
        if code:
            text += f"\n[exit code {code}]"
        text += "".join(f"\n[{note}]" for note in kept_out.of_command(process))
        view = Shell(effect.label, effect.cwd, output, code)
        return Result.of(text, is_error=bool(code), summary=f"exit {code}" if code else "done", view=view)
