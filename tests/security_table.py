"""The table of the security case files, with counts right and wrong: `python -m tests.security_table`."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from codeagent.core.calls import Calls
from codeagent.core.clean import clean
from codeagent.core.effects import Effect, Risk, ShellReading
from codeagent.core.events import AssistantSaid, Noted, Saw, TextDelta, ToolFinished, UserSaid
from codeagent.core.gate import Gate
from codeagent.core.journal import Journal
from codeagent.core.messages import Text, ToolUse
from codeagent.core.path_patterns import Anchors
from codeagent.core.rules import Rules, match, parse
from codeagent.core.toolset import Toolset
from codeagent.core.views import Shell
from codeagent.fronts.json_lines import encoded
from codeagent.fronts.repl.paper import Paper, Terminal
from codeagent.fronts.repl.printer import Printer
from codeagent.fronts.tui.palette import DARK, UNICODE
from codeagent.fronts.tui.render import Painter
from codeagent.fronts.tui.story import Story
from codeagent.host.clock import RandomIds, SystemClock
from codeagent.host.files import digest
from codeagent.host.jobs import Jobs
from codeagent.host.paths import Places
from codeagent.host.workspace import Workspace
from codeagent.shell.reader import read_line
from codeagent.tools.bash import Bash
from codeagent.tools.edit import Edit
from codeagent.tools.glob import Glob
from codeagent.tools.grep import Grep
from codeagent.tools.inputs import explain
from codeagent.tools.read import Read
from codeagent.tools.write import Write
from tests.core.stage import Person
from tests.core.test_token_shapes import right as secret_is_gone

CASES = Path(__file__).parent / "cases" / "security"


class Line(NamedTuple):
    """One line of the table: how many rows of a kind came out as they should, and the ids of those that did not."""

    file: str
    kind: str
    right: int
    wrong: tuple[str, ...]


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a case file."""
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()]


def line(file: str, kind: str, given: list[dict[str, Any]], good: Callable[[dict[str, Any]], bool]) -> Line:
    """Judge rows."""
    outcome = [(row["id"], good(row)) for row in given]
    return Line(file, kind, sum(ok for _, ok in outcome), tuple(name for name, ok in outcome if not ok))


# --- shell lines -----------------------------------------------------------------------------


def shell_gate(top: Path) -> Iterator[Line]:
    """In a project where git is inert, as the case file says."""
    root = top / "project"
    for name in ("project/src/deep", "project/docs", "home", "other"):
        (top / name).mkdir(parents=True)
    (root / "README.md").write_text("read me\n")
    (root / ".env").write_text("KEY=1\n")
    (root / "src" / "app.py").write_text("import os\n")
    (root / "out").symlink_to(top / "other")
    (root / "far").symlink_to(root / "src" / "deep")
    places = Places(root, top / "home")
    anchors = Anchors(str(root), str(top / "home"), str(root))

    def read(row: dict[str, Any]) -> ShellReading:
        made = row.get("command_gen")
        text = row["command"] if made is None else made["unit"] * made["count"] + made["tail"]
        return read_line(text, str(root), places.judge, lambda: True)

    def unasked(row: dict[str, Any]) -> bool:
        reading = read(row)
        return reading.plain and not reading.forbidden and all(part.readonly for part in reading.parts)

    def rule_is_right(row: dict[str, Any]) -> bool:
        text = row["command"]
        effect = Effect("bash", text, "Run it", Risk.HIGH, Shell(text), shell=read(row), cwd=str(root))
        return match(parse(row["rule"], row["kind"], "case"), effect, anchors) == row["matches"]

    judged = [row for row in rows("shell_gate") if "auto_ok" in row]
    yield line("shell_gate", "must be asked", [r for r in judged if not r["auto_ok"]], lambda r: not unasked(r))
    yield line("shell_gate", "core, may run", [r for r in judged if r["auto_ok"] and r["level"] == "core"], unasked)
    yield line("shell_gate", "bonus, may run", [r for r in judged if r["auto_ok"] and r["level"] == "bonus"], unasked)
    yield line("shell_gate", "rules", [row for row in rows("shell_gate") if "rule" in row], rule_is_right)


# --- paths -----------------------------------------------------------------------------------


def path_gate(top: Path) -> Iterator[Line]:
    """At the moment of asking, and the same once more at the moment of use."""

    def good(row: dict[str, Any]) -> bool:
        here = top / row["id"]
        here.mkdir()

        def put(text: str) -> Path:
            return Path(text.replace("{T}", str(here)))

        build(row["tree"], put)
        places = Places(put(row["root"]), put(row["home"]), cwd=lambda: put(row["cwd"]))
        touch = places.judge(row["request"].replace("{T}", str(here)), row["op"])
        return touch.place in {row["verdict"], *row.get("also_fine", [])} and places.recheck(touch)

    yield line("path_gate", "paths", rows("path_gate"), good)


def build(tree: dict[str, Any], put: Callable[[str], Path]) -> None:
    """The tree of a row."""
    for name in tree["dirs"]:
        put(name).mkdir(parents=True, exist_ok=True)
    for name in tree["files"]:
        put(name).parent.mkdir(parents=True, exist_ok=True)
        put(name).write_text("x")
    for name in tree["fifos"]:
        os.mkfifo(put(name))
    for name, target in tree["symlinks"].items():
        put(name).symlink_to(put(target) if "{T}" in target else target)


# --- text on its way to a screen ---------------------------------------------------------------


def terminal_text(_top: Path) -> Iterator[Line]:
    """Through the cleaner, the printing front, the full screen's painter, and JSON lines."""
    for way in (by_cleaning, on_paper, on_screen, as_json):
        yield line(
            "terminal_text", way.__name__.replace("_", " "), rows("terminal_text"), lambda row, way=way: inert(row, way)
        )  # type: ignore[misc]  # the way is bound early on purpose


def text_of(row: dict[str, Any]) -> str:
    """What comes in, bytes decoded as the tools decode them."""
    if "b64" in row:
        return base64.b64decode(row["b64"]).decode("utf-8", "surrogateescape")
    made = row.get("gen")
    return str(row["text"]) if made is None else made["unit"] * made["count"] + made.get("tail", "")


def inert(row: dict[str, Any], way: Callable[[str], str]) -> bool:
    """Nothing forbidden comes out, what must be readable is, and in time."""
    began = time.monotonic()
    shown = way(text_of(row))
    quick = time.monotonic() - began < 5
    flat = "".join(shown.split())
    readable = way is not by_cleaning or all("".join(want.split()) in flat for want in row["must_show"])
    return quick and readable and not any(char in shown for char in row["must_not_emit"] if char not in "\n\t")


def by_cleaning(text: str) -> str:
    return clean(text)


def on_paper(text: str) -> str:
    """As words of the person, of the model (streamed and whole), as a command's output, and as a notice."""
    page = io.StringIO()
    printer = Printer(Paper(page, Terminal(), width=80))
    for event in (
        UserSaid((Text(text),)),
        TextDelta(text),
        AssistantSaid((Text(text), ToolUse("1", "bash", {"command": text}))),
        ToolFinished("1", "bash", (Text(text),), summary=text[:200], view=Shell(text, "/p", text, 1)),
        Noted(text, to="person"),
    ):
        printer.see(event)
    return page.getvalue()


def on_screen(text: str) -> str:
    """The same events, drawn."""
    short = text[:20_000]
    story = Story()
    for event in (
        UserSaid((Text(short),)),
        AssistantSaid((Text(short), ToolUse("1", "bash", {"command": short}))),
        ToolFinished("1", "bash", (Text(short),), summary=short[:200], view=Shell(short, "/p", short, 1)),
        Noted(short, to="person"),
    ):
        story.see(event)
    painter = Painter(DARK, UNICODE, 80)
    return "\n".join(strip.text for block in story.blocks for strip in painter.draw(block))


def as_json(text: str) -> str:
    return encoded({"text": text})


# --- what a model may send as input ------------------------------------------------------------


def tool_input(top: Path) -> Iterator[Line]:
    """Through the tool boundary, everything allowed."""

    def good(row: dict[str, Any]) -> bool:
        return asyncio.run(answers_well(row, top / row["id"]))

    yield line("tool_input", "inputs", rows("tool_input"), good)


async def answers_well(row: dict[str, Any], here: Path) -> bool:
    """Whether a result came that says what it must, and no other file changed."""
    root = here / "project"
    (root / "src").mkdir(parents=True)
    (root / "a.txt").write_text("a\nsame\ntwice twice\n")
    (root / "evil_aaaa.txt").write_text("a" * 40 + "!\n")
    workspace = Workspace(root, here, here / "spill", {"PATH": os.environ["PATH"]})
    a = root / "a.txt"
    workspace.seen.note(Saw(str(a), digest(a.read_bytes())))
    places = Places(root, here)
    jobs = Jobs("table", SystemClock())
    bash = Bash(workspace, lambda text, cwd: read_line(text, cwd, places.judge, lambda: False), jobs)
    tools = Toolset([*(tool(workspace, places.judge) for tool in (Read, Write, Edit, Grep, Glob)), bash], explain)
    journal = Journal()
    gate = Gate(Person(), journal.append, lambda: Rules((), Anchors(str(root), str(here), str(root))), str, "bypass")
    (done,) = await Calls(journal, tools, gate, SystemClock(), RandomIds()).run([use_of(row)])
    await jobs.close()
    text = "\n".join(block.text for block in done.blocks if isinstance(block, Text))
    expect = row["expect"]
    if expect["is_error"] != "either" and done.is_error != expect["is_error"]:
        return False
    names = [*expect["names"], "file_path"] if "input" in expect["names"] else expect["names"]  # the input's own field
    if done.is_error and names and not any(name in text for name in names):
        return False
    return (root / "evil_aaaa.txt").read_text() == "a" * 40 + "!\n"


def use_of(row: dict[str, Any]) -> ToolUse:
    """The call as the stream's reader makes it: what is no JSON object stays raw."""
    raw = row.get("raw")
    if "gen" in row:
        made = row["gen"]
        if "raw_unit" in made:
            raw = made["raw_unit"] * made["count"]
        else:
            return ToolUse("1", row["tool"], made["base"] | {made["field"]: made["unit"] * made["count"]})
    if raw is None:
        given = row["input"]
        return (
            ToolUse("1", row["tool"], given) if isinstance(given, dict) else ToolUse("1", row["tool"], {}, str(given))
        )
    try:
        given = json.loads(raw) if raw else {}
    except (ValueError, RecursionError):
        given = None
    return ToolUse("1", row["tool"], given) if isinstance(given, dict) else ToolUse("1", row["tool"], {}, raw)


# --- credentials -------------------------------------------------------------------------------


def secrets(_top: Path) -> Iterator[Line]:
    """In exports, debug logs and crash reports."""
    given = rows("secrets")
    yield line("secrets", "must go", [row for row in given if row["kind"] != "none"], secret_is_gone)
    yield line("secrets", "must stay", [row for row in given if row["kind"] == "none"], secret_is_gone)


FILES: tuple[Callable[[Path], Iterator[Line]], ...] = (shell_gate, path_gate, terminal_text, tool_input, secrets)


def table() -> list[Line]:
    """All lines."""
    lines: list[Line] = []
    for file in FILES:
        with tempfile.TemporaryDirectory() as top:
            lines += file(Path(top).resolve())
    return lines


def main() -> int:
    """Print the table; 1 when a row that counts is wrong."""
    print(f"{'case file':<14}  {'rows':<16} {'right':>6} {'wrong':>6}")
    lines = table()
    for each in lines:
        print(f"{each.file:<14}  {each.kind:<16} {each.right:>6} {len(each.wrong):>6}  {' '.join(each.wrong[:6])}")
    return int(any(each.wrong for each in lines if not each.kind.startswith("bonus")))


if __name__ == "__main__":
    sys.exit(main())
