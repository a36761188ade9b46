"""The named keys: history, editor, stash, pictures, `!`, search, jumps, copying; and other keys for them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual import events

from codeagent.core.events import AssistantSaid, Noted, Opened, ToolFinished, ToolStarted, TurnEnded, UserSaid
from codeagent.core.messages import Image, Text, ToolUse
from codeagent.core.views import Shell
from codeagent.fronts.tui import attaching, sources
from codeagent.fronts.tui.app import Codeagent
from codeagent.fronts.tui.keys import ACTS, shown
from codeagent.fronts.tui.pieces import Block
from codeagent.fronts.tui.screens.pick import Pick
from codeagent.setting_keys import ACTS as SETTABLE
from tests.core.stage import say
from tests.tui.desk import screen_text, seated, until

OPENED = Opened("s", "/p", ("sys",), (), "m", 1000)


def png() -> bytes:
    """A picture of one black pixel."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


def asked(count: int) -> list[object]:
    """A session of questions and answers."""
    entries: list[object] = [OPENED]
    for n in range(count):
        entries += [UserSaid((Text(f"question {n}"),)), AssistantSaid((Text(f"answer {n} about cart{n}"),))]
    return entries


def test_every_named_key_can_be_set_and_is_shown() -> None:
    assert {act.name for act in ACTS} == set(SETTABLE)
    listed = [key for _, pairs in shown({"find": "f3"}) for key, _ in pairs]
    assert "F3" in listed
    assert "Ctrl+R" in listed
    assert len({act.key for act in ACTS}) == len(ACTS)


async def test_ctrl_r_searches_what_was_said(tmp_path: Path) -> None:
    log = tmp_path / "h"
    log.write_bytes(b'"fix the cart"\n"write tests"\n"fix the cart"\n')
    app = seated(history=log)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        assert [item.label for item in app.screen.items()] == ["fix the cart", "write tests"]
        await pilot.press(*"tests", "enter")
        await until(pilot, lambda: app.composer.text == "write tests")


async def test_files_that_are_still_being_listed_are_offered_once_they_are_there() -> None:
    listed: list[Sequence[str] | None] = [None]
    app = seated(files=lambda: listed[-1])
    async with app.run_test() as pilot:
        await pilot.press("@", "c")
        assert not app.composer.menu.display
        listed.append(("shop/cart.py",))
        await until(pilot, lambda: app.composer.menu.display)
        assert [item.label for item in app.composer.menu.items] == ["shop/cart.py"]


async def test_ctrl_s_puts_a_draft_aside_until_the_next_message_is_sent() -> None:
    app = seated(say("Yes."))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        await pilot.press(*"later", "ctrl+s")
        assert app.composer.text == ""
        await pilot.press("ctrl+s")
        assert app.composer.text == "later"
        await pilot.press("ctrl+s", *"now", "enter")
        await until(pilot, lambda: "Yes." in screen_text(app))
        assert app.composer.text == "later"


async def test_a_picture_from_the_clipboard_goes_with_the_message() -> None:
    app = seated(say("A pixel."), picture=png())
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        await pilot.press("ctrl+v")
        await until(pilot, lambda: app.composer.text == "[Image #1] ")
        await pilot.press(*"what", "enter")
        await until(pilot, lambda: "A pixel." in screen_text(app))
        said = next(e for e in app.talk.desk.agent.journal.entries if isinstance(e, UserSaid))
        assert [type(block) for block in said.blocks] == [Image, Text]


async def test_a_dropped_picture_is_attached_and_a_broken_one_is_told(tmp_path: Path) -> None:
    good, bad = tmp_path / "a b.png", tmp_path / "bad.png"
    good.write_bytes(png())
    bad.write_bytes(b"no picture")
    app = seated()
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        app.composer.post_message(events.Paste(str(good).replace(" ", "\\ ")))
        await until(pilot, lambda: app.composer.text == "[Image #1] ")
        await pilot.press("backspace", "backspace")
        assert app.composer.text == ""
        app.composer.post_message(events.Paste(str(bad)))
        await until(pilot, lambda: "bad.png is no picture" in screen_text(app))


@pytest.mark.parametrize("form", ["{0}", "'{0}'", '"{0}"', "file://{1}"])
def test_dropped_paths_as_terminals_write_them(tmp_path: Path, form: str) -> None:
    path = tmp_path / "my picture.PNG"
    path.write_bytes(b"")
    assert attaching.dropped(form.format(path, str(path).replace(" ", "%20")), tmp_path) == path


@pytest.mark.parametrize("text", ["a.png", "look at a.png", "'a.png", "a.png\nb.png", "notes.txt"])
def test_what_is_no_dropped_picture(tmp_path: Path, text: str) -> None:
    assert attaching.dropped(text, tmp_path) is None


async def test_a_command_of_ones_own_is_told_to_the_model() -> None:
    app = seated(say("I see."))
    async with app.run_test(size=(90, 24)) as pilot:
        await until(pilot, lambda: app.talk.desk)
        app.composer.put("!ls")
        await pilot.press("enter")
        await until(pilot, lambda: not app.talk.working)
        entries = app.talk.desk.agent.journal.entries
        assert [type(e) for e in entries[-2:]] == [ToolFinished, Noted]
        assert "The user ran this command: ls" in entries[-1].text


async def test_search_marks_and_steps_through_the_conversation() -> None:
    app = seated(entries=asked(60))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "answer 59" in screen_text(app))
        await pilot.press("ctrl+f", *"cart1")
        await pilot.press("enter")
        await until(pilot, lambda: "answer 19" in screen_text(app))
        assert app.transcript.has_focus
        await pilot.press("n")
        await until(pilot, lambda: app.transcript._chosen == 2 * 18 + 1)
        await pilot.press("N")
        await until(pilot, lambda: app.transcript._chosen == 2 * 19 + 1)
        await pilot.press("escape")
        assert app.composer.has_focus
        assert app.transcript._chosen is None


async def test_a_search_for_what_is_not_there_says_so() -> None:
    app = seated(entries=asked(2))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "answer 1" in screen_text(app))
        await pilot.press("ctrl+f", *"zebra", "enter")
        await until(pilot, lambda: "'zebra' is not here" in screen_text(app))
        assert app.composer.has_focus


async def test_jumping_from_message_to_message() -> None:
    app = seated(entries=asked(60))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "answer 59" in screen_text(app))
        for _ in range(30):
            await pilot.press("ctrl+up")
        assert "question 30" in screen_text(app)
        await pilot.press("ctrl+down")
        assert app.transcript._chosen == 2 * 31
        assert app.composer.has_focus


async def test_copying_code_from_an_answer() -> None:
    app = seated(entries=[OPENED, AssistantSaid((Text("Do this:\n\n```sh\nmake all\n```\n\nThat is it."),))])
    async with app.run_test() as pilot:
        await until(pilot, lambda: "That is it." in screen_text(app))
        await pilot.press("alt+c")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        await pilot.press(*"code", "enter")
        await until(pilot, lambda: app.clipboard == "make all")
        assert "copied: code, 8 characters" in screen_text(app)


async def test_what_is_too_long_for_a_clipboard_goes_to_a_file() -> None:
    app = seated(entries=[OPENED, AssistantSaid((Text("long " * 20_000),))])
    async with app.run_test(size=(200, 24)) as pilot:
        await until(pilot, lambda: "long" in screen_text(app))
        await pilot.press("alt+c")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        await pilot.press("enter")
        await until(pilot, lambda: "it is in" in screen_text(app))
        path = Path(screen_text(app).partition("it is in ")[2].split()[0])
        assert path.read_text().startswith("long long")
        path.unlink()


def test_what_can_be_copied_of_a_call() -> None:
    from codeagent.fronts.tui.story import Story

    story = Story()
    for entry in (
        AssistantSaid((ToolUse("1", "bash", {"command": "ls"}),)),
        ToolStarted("1", "bash", "ls", "Run", Shell("ls"), 0, "k"),
        ToolFinished("1", "bash", (), view=Shell("ls", output="a.py\n")),
        TurnEnded("done"),
    ):
        story.see(entry)
    assert [(p.kind, p.text) for p in sources.pieces(story.blocks)] == [("command", "ls"), ("output", "a.py\n")]


def test_rows_that_only_the_width_parted_are_put_together() -> None:
    source = "The discount is taken twice, in subtotal and in total.\nSecond line"
    rows = ["The discount is taken", "twice, in subtotal and", "in total.", "Second line"]
    assert sources.unwrapped(rows, source) == source
    assert sources.of(Block("words", source)) == source


async def test_another_key_from_the_settings() -> None:
    app = seated(entries=asked(2), settings={"keys.find": "f3"})
    async with app.run_test() as pilot:
        await until(pilot, lambda: "answer 1" in screen_text(app))
        await pilot.press("ctrl+f")
        assert not app.finder.display
        await pilot.press("f3")
        assert app.finder.display


async def test_a_dialog_keeps_the_named_keys_for_itself() -> None:
    app = seated(entries=asked(2))
    async with app.run_test() as pilot:
        await until(pilot, lambda: "answer 1" in screen_text(app))
        await pilot.press("?")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.press("ctrl+f")
        assert not app.finder.display


def last_line(app: Codeagent) -> str:
    """The status line."""
    return screen_text(app).rpartition("\n")[2]


async def test_the_status_line_tells_what_keys_do_to_the_draft() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        await until(pilot, lambda: "? keys" in last_line(app))
        await pilot.press("h")
        await until(pilot, lambda: "enter send" in last_line(app))
        assert "? keys" not in last_line(app)
        await pilot.press("backspace", "/")
        await until(pilot, lambda: "esc close" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: "? keys" in last_line(app))
        assert app.composer.text == ""
        await pilot.press(*"/he", "escape")
        assert app.composer.text == "/he"


async def test_a_hint_goes_when_something_is_typed() -> None:
    app = seated()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk)
        await pilot.press("escape")
        assert "esc again goes back" in screen_text(app)
        await pilot.press("/")
        await until(pilot, lambda: "esc again goes back" not in screen_text(app))


async def test_history_has_what_this_session_began_with() -> None:
    app = seated(entries=(OPENED, UserSaid((Text("the first words"),))))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.talk.desk and app.transcript.page.total)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        assert "the first words" in screen_text(app)


def test_a_piece_is_called_by_a_line_that_says_something() -> None:
    assert sources.Piece("output", "-----\n\n2 passed").label == "2 passed"
    assert sources.Piece("output", "-----").label == "-----"
