"""The plain front over pipes: prompts, turns, questions, commands, one after the other."""

from __future__ import annotations

import asyncio
import io
import os
import signal
from pathlib import Path
from typing import Any

from codeagent.core.events import AssistantSaid, Decided, TurnEnded, UserSaid
from codeagent.core.valves import Limits
from codeagent.fronts.repl.app import Repl
from codeagent.fronts.repl.paper import Terminal
from codeagent.options import Options
from tests.core.stage import Reply, call, say
from tests.fronts.stand import StageDesk, connecting


async def talk(
    tmp: Path, typed: str, *replies: Reply, options: Options | None = None, **settings: Any
) -> tuple[str, StageDesk]:
    """What stands on the paper after these lines were typed."""
    connect, made = connecting(tmp, *replies, **settings)
    (tmp / "typed").write_text(typed)
    page = io.StringIO()
    with (tmp / "typed").open("rb") as stdin:
        assert await Repl(options or Options(), Terminal(), stdin.fileno(), page).run(connect) == 0
    assert made[0].closed
    return page.getvalue(), made[0]


async def test_a_conversation_reads_like_one(tmp_path: Path) -> None:
    paper, _ = await talk(tmp_path, "what is it?\nexit\n", say("I look.", call("1")), say("It is **42**."))
    assert paper.endswith(
        "\n\nyou: what is it?\n\ncodeagent:\nI look.\n  look: ok\n\ncodeagent:\nIt is **42**.\n\n"
        "[default, m, context 0 %, $0.02]\n\nyou: exit\nTo go on: codeagent -r s\n"
    )


async def test_the_prompt_of_the_command_line_is_the_first_message(tmp_path: Path) -> None:
    paper, _ = await talk(tmp_path, "", say("Hello."), options=Options(prompt="hi"))
    assert "you: hi\n\ncodeagent:\nHello.\n" in paper


async def test_a_question_is_answered_by_line_and_asked_again_until_it_is(tmp_path: Path) -> None:
    paper, desk = await talk(tmp_path, "go\nperhaps\ny but carefully\n", say("", call("1", "change")), say("Done."))
    assert paper.count("answer: ") == 2
    [decided] = desk.stage.of(Decided)
    assert (decided.decision, decided.words) == ("allow", "but carefully")


async def test_no_with_words_goes_to_the_model(tmp_path: Path) -> None:
    paper, desk = await talk(tmp_path, "go\n2 use another name\n", say("", call("1", "change")), say("As you say."))
    assert ": you said no: use another name\n" in paper
    assert "use another name" in desk.stage.results()["1"].blocks[0].text  # type: ignore[union-attr]


async def test_the_end_of_input_means_no(tmp_path: Path) -> None:
    _, desk = await talk(tmp_path, "go\n", say("", call("1", "change")), say("As you say."))
    assert desk.stage.of(Decided)[0].decision == "deny"


async def test_a_valve_asks_and_goes_on(tmp_path: Path) -> None:
    paper, desk = await talk(tmp_path, "go\n1\n", say("", call("1")), say("Done."), limits=Limits(steps=1))
    assert "1  Go on, up to" in paper
    assert desk.stage.of(TurnEnded)[0].why == "done"


async def test_commands_and_another_session(tmp_path: Path) -> None:
    paper, desk = await talk(tmp_path, "hi\n/mod\n/resume 1\n/resume nothing\nagain\n", say("Hello."))
    assert "Did you mean /mode" in paper
    assert "No session of this project" in paper
    assert [said.text for said in desk.stage.of(UserSaid)] == ["again"]


async def test_a_list_to_resume_from(tmp_path: Path) -> None:
    paper, _ = await talk(tmp_path, "", options=Options(resume=""))
    assert "  1  the other one  -  " in paper


async def test_a_resumed_session_is_drawn(tmp_path: Path) -> None:
    _, before = await talk(tmp_path, "what is it?\n", say("I look.", call("1")), say("It is 42."))
    paper, _ = await talk(tmp_path, "", entries=before.stage.journal.entries)
    assert paper.startswith("you: what is it?\n\ncodeagent:\nI look.\n  look: ok\n\ncodeagent:\nIt is 42.\n")


async def test_a_failed_turn_is_told_and_the_talk_goes_on(tmp_path: Path) -> None:
    from codeagent.core.errors import ModelBusy

    paper, _ = await talk(tmp_path, "hi\nagain\n", ModelBusy("The server is overloaded."), say("Back again."))
    assert "error: The server is overloaded.\n" in paper
    assert "Back again." in paper


async def _running(tmp: Path) -> tuple[asyncio.Task[int], StageDesk, io.StringIO, int]:
    """A plain front in the middle of a turn that hangs, and the end of the pipe that feeds it."""
    connect, made = connecting(tmp, AssistantSaid((), "interrupted"), say("Here again."))
    reading, writing = os.pipe()
    page = io.StringIO()
    os.write(writing, b"go\n")
    task = asyncio.create_task(Repl(Options(), Terminal(), reading, page).run(connect))
    while not made and not task.done():
        await asyncio.sleep(0)
    await made[0].stage.model.hang.wait()
    task.add_done_callback(lambda _: os.close(reading))
    return task, made[0], page, writing


async def test_ctrl_c_stops_the_turn_and_not_the_talk(tmp_path: Path) -> None:
    task, desk, page, writing = await _running(tmp_path)
    os.kill(os.getpid(), signal.SIGINT)
    while not desk.stage.of(TurnEnded):
        await asyncio.sleep(0)
    os.write(writing, b"again\n")
    os.close(writing)
    assert await task == 0
    assert "Interrupted." in page.getvalue()
    assert "Here again." in page.getvalue()


async def test_what_waited_when_ctrl_c_came_is_said_next(tmp_path: Path) -> None:
    task, desk, page, writing = await _running(tmp_path)
    desk.agent.steer("then this")
    os.kill(os.getpid(), signal.SIGINT)
    while len(desk.stage.of(TurnEnded)) < 2:
        await asyncio.sleep(0)
    os.close(writing)
    assert await task == 0
    assert "you: then this" in page.getvalue()
    assert "Here again." in page.getvalue()


async def test_sigterm_ends_turn_and_talk(tmp_path: Path) -> None:
    task, desk, _, writing = await _running(tmp_path)
    os.kill(os.getpid(), signal.SIGTERM)
    assert await task == 143
    os.close(writing)
    assert desk.closed
    assert desk.stage.of(TurnEnded)[0].why == "interrupted"
