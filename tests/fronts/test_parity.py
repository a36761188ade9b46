"""The same recording through the printing fronts leaves the same facts."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from pathlib import Path

from msgspec import to_builtins

from codeagent.core.events import Entry
from codeagent.fronts.dialogue import Dialogue
from codeagent.fronts.headless import Headless
from codeagent.fronts.repl.app import Repl
from codeagent.fronts.repl.paper import Terminal
from codeagent.options import Options
from tests.core.stage import Reply, call, say
from tests.fronts.stand import Connect, connecting

REPLIES: tuple[Reply, ...] = (
    say("I look.", call("1"), call("2", answer="more")),
    say("I change.", call("3", "change"), call("4", fault="fault")),
    say("Done."),
)


def facts(entries: Sequence[Entry]) -> list[object]:
    return [to_builtins(entry) for entry in entries]


async def through(front: str, tmp: Path, connect: Connect) -> None:
    (tmp / "in").write_bytes(
        b'{"type":"user","message":{"role":"user","content":"go"}}\n' if front == "dialogue" else b""
    )
    with (tmp / "in").open("rb") as in_, (tmp / "out").open("wb") as out, (tmp / "err").open("wb") as err:
        fds = in_.fileno(), out.fileno(), err.fileno()
        match front:
            case "text" | "json" | "stream-json":
                await Headless(Options(prompt="go", output_format=front), *fds).run(connect)
            case "dialogue":
                options = Options(input_format="stream-json", output_format="stream-json")
                await Dialogue(options, *fds).run(connect)
            case _:
                await Repl(Options(prompt="go"), Terminal(), in_.fileno(), io.StringIO()).run(connect)


async def test_every_front_leaves_the_same_journal(tmp_path: Path) -> None:
    kept = {}
    for front in ("text", "json", "stream-json", "dialogue", "plain"):
        connect, made = connecting(tmp_path, *REPLIES, mode="bypass")
        await asyncio.wait_for(through(front, tmp_path, connect), 20)
        kept[front] = facts(made[0].stage.journal.entries)
    assert len(kept["text"]) > 12
    for front, entries in kept.items():
        assert entries == kept["text"], front
