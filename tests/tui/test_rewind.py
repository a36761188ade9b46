"""Esc Esc: the list of messages, what would be put back, and the message in the composer again."""

from __future__ import annotations

from typing import Any

from codeagent.core.events import Changed, Rewound
from tests.core.stage import call, say
from tests.core.test_rewind import Disk
from tests.tui.desk import screen_text, seated, until


async def two_turns(pilot: Any, app: Any, disk: Disk) -> None:
    stage = app.talk.desk.stage
    run = stage.change.run

    async def write(args: Any, permit: Any) -> Any:
        async for part in run(args, permit):
            disk.files["/p/a"] = args.answer
            yield part

    stage.change.run = write
    stage.gate.mode = "bypass"
    for words in ("first", "second"):
        await pilot.press(*words, "enter")
        await until(pilot, lambda words=words: f"done {words}" in screen_text(app) and not app.talk.working)


def replies() -> list[Any]:
    return [
        reply
        for n, words in enumerate(("first", "second"), 1)
        for reply in (say("", call(f"c{n}", "change", answer=str(n))), say(f"done {words}"))
    ]


async def test_going_back_to_a_message() -> None:
    disk = Disk()
    app = seated(*replies(), snapshots=disk)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        await two_turns(pilot, app, disk)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: "Go back to before" in screen_text(app))
        assert "1 file: a" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: "Go back: second" in screen_text(app))
        assert "Puts back 1 file: a." in screen_text(app)
        await pilot.press("1")
        await until(pilot, lambda: app.composer.text == "second")
        await until(pilot, lambda: "done second" not in screen_text(app))
        assert "done first" in screen_text(app)
        assert "Put back 1 file: a." in screen_text(app)
        assert disk.files["/p/a"] == "1"
        app.composer.put("")
        await pilot.press(*"/rewind", "enter")
        await until(pilot, lambda: "undo the last rewind" in screen_text(app))
        await pilot.press("enter", "1")
        await until(pilot, lambda: "done second" in screen_text(app))
        assert disk.files["/p/a"] == "2"


async def test_conflicts_are_shown_and_the_careful_way_is_chosen_first() -> None:
    disk = Disk()
    app = seated(*replies(), snapshots=disk)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        await two_turns(pilot, app, disk)
        disk.files["/p/a"] = "mine"
        await pilot.press("escape", "escape")
        await until(pilot, lambda: "Go back to before" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "a: changed" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.composer.text == "second")
        assert disk.files["/p/a"] == "mine"
        (rewound,) = app.talk.desk.stage.of(Rewound)
        assert (rewound.files, rewound.conversation) == (False, True)


async def test_esc_leaves_everything_as_it_is() -> None:
    disk = Disk()
    app = seated(*replies(), snapshots=disk)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        await two_turns(pilot, app, disk)
        before = len(app.talk.desk.stage.of(Changed))
        for _ in range(2):
            await pilot.press("escape", "escape")
            await until(pilot, lambda: "Go back to before" in screen_text(app))
            await pilot.press("enter")
            await until(pilot, lambda: "Go back: second" in screen_text(app))
            await pilot.press("escape")
            await until(pilot, lambda: "Go back" not in screen_text(app))
        assert app.talk.desk.stage.of(Rewound) == []
        assert len(app.talk.desk.stage.of(Changed)) == before
