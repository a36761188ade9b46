"""Drives the real program: a process with its own home and project, against a scripted server on the loopback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.fronts.pseudo_terminal import PseudoTerminal
from tests.loopback import KEY

COMMAND = [sys.executable, "-m", "codeagent"]

PATIENCE = 20.0
"""Seconds after which a state that was waited for counts as never reached."""


@dataclass(frozen=True)
class Ran:
    """A run that is over: its exit code (negative for a signal) and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Standard output as stream-json."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def result(self) -> dict[str, Any]:
        """The result line: exactly one, and the last."""
        lines = self.lines
        assert [at for at, line in enumerate(lines) if line["type"] == "result"] == [len(lines) - 1], self.out
        return lines[-1]

    def no_traceback(self) -> Ran:
        """Itself, once it is sure that no person had to read a traceback."""
        assert "Traceback" not in self.err, self.err
        return self


class Running:
    """A started run; killed when the block ends. Its output is read as it comes."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, **streams: Any) -> None:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        self.process = subprocess.Popen(argv, env=dict(env), cwd=cwd, **pipes)

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def ended(self, seconds: float = PATIENCE) -> Ran:
        """Wait for its end."""
        out, err = self.process.communicate(timeout=seconds)
        return Ran(self.process.returncode, (out or b"").decode(), (err or b"").decode())


class Program:
    """codeagent in one project. `env` is the whole environment of its processes."""

    def __init__(self, project: Path, env: Mapping[str, str], url: str = "") -> None:
        access = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url} if url else {}
        self.project, self.env = project, {**env, **access}

    def run(
        self, *arguments: str, stdin: bytes = b"", seconds: float = PATIENCE, env: Mapping[str, str] | None = None
    ) -> Ran:
        """Run to the end."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            env={**self.env, **(env or {})},
            cwd=self.project,
            input=stdin,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode()).no_traceback()

    def headless(self, prompt: str, *arguments: str) -> Ran:
        """`codeagent -p PROMPT` with stream-json output."""
        return self.run("-p", prompt, "--output-format", "stream-json", *arguments)

    def start(self, *arguments: str, **streams: Any) -> Running:
        """Start and return at once."""
        return Running([*COMMAND, *arguments], self.env, self.project, **streams)

    def terminal(self, *arguments: str, **env: str) -> PseudoTerminal:
        """Start in a pseudo-terminal."""
        return PseudoTerminal([*COMMAND, *arguments], env={**self.env, **env}, cwd=self.project)

    # --- what it left on disk ---

    @property
    def logs(self) -> list[Path]:
        """Session logs, oldest first."""
        return sorted((self.project / ".agent/sessions").glob("*.jsonl"))

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The entries of the newest session; a torn last line is left out."""
        found = []
        for line in self.logs[-1].read_bytes().splitlines() if self.logs else ():
            try:
                found.append(json.loads(line)["e"])
            except ValueError:
                break
        return found

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The newest session's entries of one kind."""
        return [entry for entry in self.entries if entry["kind"] == kind]


def until(state: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Look until it is so."""
    end = time.monotonic() + seconds
    while not state():
        assert time.monotonic() < end, f"never came to it: {what}"
        time.sleep(0.01)  # between two looks at what another process does


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text() if sys.platform == "linux" else ""
        os.kill(pid, 0)
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] != ["Z"]


def told(body: Any) -> Iterator[dict[str, Any]]:
    """All content blocks of a request, in order; a message that is text is one text block."""
    for message in body["messages"]:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def results(body: Any) -> list[tuple[str, bool]]:
    """The tool results of a request: their words, and whether each is an error."""
    found = []
    for block in told(body):
        if block["type"] == "tool_result":
            content = block["content"]
            parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
            found.append(("\n".join(parts), bool(block.get("is_error"))))
    return found


def said(body: Any) -> str:
    """All words of a request's messages."""
    return "\n".join(block.get("text", "") for block in told(body))


_VARYING = (
    (
        re.compile(
            r'"(uuid|session_id|session|at|crc|mac|key|duration_ms|duration_api_ms|took_ms|first_ms|rate)":[^,}]+'
        ),
        r'"\1":0',
    ),
    (re.compile(r"\d{8}-\d{6}-\w+"), "SESSION"),
    (re.compile(r"in 0\.\d\d\ds"), "in 0.000s"),
    (re.compile(r'"tail":\[[^\]]*\]|"digest":"[0-9a-f]{64}"'), '"hash":0'),  # of results that tell their time
    (re.compile(r"\b\d+\.\d s\b"), "0.0 s"),
)
"""What differs between two runs of the same: ids, times, and the checksums over them."""


def settled(text: str) -> str:
    """The text with ids and times made equal."""
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return text
