"""A program on the other side of the streams: messages, results, requests both ways."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from codeagent.core.events import AssistantSaid, Decided, UserSaid
from codeagent.core.messages import Image
from codeagent.fronts.dialogue import Dialogue
from codeagent.fronts.streams import Typed
from codeagent.options import Options
from tests.core.stage import Reply, call, say
from tests.fronts.stand import StageDesk, connecting

OPTIONS = Options(
    print=True, input_format="stream-json", output_format="stream-json", permission_prompt_tool="stdio", quiet=True
)


class Program:
    """Talks to a dialogue through two pipes."""

    def __init__(self, sending: int, receiving: int, task: asyncio.Task[int], made: list[StageDesk]) -> None:
        self._sending, self._typed = sending, Typed(receiving)
        self.task, self._made = task, made
        self.lines: list[dict[str, Any]] = []

    @property
    def desk(self) -> StageDesk:
        return self._made[0]

    def send(self, **line: Any) -> None:
        os.write(self._sending, json.dumps(line).encode() + b"\n")

    def say(self, content: object) -> None:
        self.send(type="user", message={"role": "user", "content": content}, parent_tool_use_id=None)

    def request(self, subtype: str, **fields: Any) -> None:
        self.send(type="control_request", request_id="r1", request={"subtype": subtype, **fields})

    def answer(self, request: dict[str, Any], **response: Any) -> None:
        given = {"subtype": "success", "request_id": request["request_id"], "response": response}
        self.send(type="control_response", response=given)

    async def until(self, kind: str) -> dict[str, Any]:
        """The next line of this type."""
        while True:
            text = await self._typed.line()
            assert text is not None, f"no {kind} in {self.lines}"
            self.lines.append(json.loads(text))
            if self.lines[-1]["type"] == kind:
                return self.lines[-1]

    async def end(self) -> int:
        os.close(self._sending)
        return await self.task


@asynccontextmanager
async def talking(tmp: Path, *replies: Reply, options: Options = OPTIONS) -> AsyncIterator[Program]:
    connect, made = connecting(tmp, *replies)
    in_reading, in_writing = os.pipe()
    out_reading, out_writing = os.pipe()
    with (tmp / "err").open("wb") as err:
        task = asyncio.create_task(Dialogue(options, in_reading, out_writing, err.fileno()).run(connect))
        try:
            async with asyncio.timeout(20):
                yield Program(in_writing, out_reading, task, made)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            for fd in (in_reading, out_reading, out_writing):
                os.close(fd)


async def test_each_message_gets_its_turn_and_its_result(tmp_path: Path) -> None:
    async with talking(tmp_path, say("One."), say("Two.")) as program:
        program.say("first")
        assert (await program.until("result"))["result"] == "One."
        program.say([{"type": "text", "text": "second"}])
        second = await program.until("result")
        assert (second["result"], second["num_turns"]) == ("Two.", 1)
        assert await program.end() == 0
        assert [line["type"] for line in program.lines] == ["system", "assistant", "result", "assistant", "result"]
        assert [said.text for said in program.desk.stage.of(UserSaid)] == ["first", "second"]


async def test_a_picture_comes_along(tmp_path: Path) -> None:
    async with talking(tmp_path) as program:
        source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
        program.say([{"type": "image", "source": source}, {"type": "text", "text": "what is it?"}])
        await program.until("result")
        assert program.desk.stage.of(UserSaid)[0].blocks[0] == Image("image/png", "AAAA")
        assert await program.end() == 0


async def test_initialize_mode_and_an_unknown_request(tmp_path: Path) -> None:
    async with talking(tmp_path) as program:
        program.request("initialize", hooks=None)
        assert (await program.until("control_response"))["response"]["subtype"] == "success"
        program.request("set_permission_mode", mode="acceptEdits")
        await program.until("control_response")
        assert program.desk.agent.mode == "acceptEdits"
        program.request("set_permission_mode", mode="fast")
        assert "There is no mode" in (await program.until("control_response"))["response"]["error"]
        program.request("rewind_files")
        assert "rewind_files" in (await program.until("control_response"))["response"]["error"]
        assert await program.end() == 2, "nothing was said"


@pytest.mark.parametrize(
    ("response", "decision", "words"),
    [
        ({"behavior": "allow", "updatedInput": {"answer": "x"}}, "allow", ""),
        ({"behavior": "allow"}, "allow", ""),
        ({"behavior": "deny", "message": "use another"}, "deny", "use another"),
        ({"behavior": "perhaps"}, "deny", ""),
        ({}, "deny", ""),
    ],
)
async def test_permission_is_asked_over_the_channel(
    tmp_path: Path, response: dict[str, Any], decision: str, words: str
) -> None:
    async with talking(tmp_path, say("", call("1", "change", answer="x")), say("Done.")) as program:
        program.say("go")
        asked = await program.until("control_request")
        assert asked["request"]["subtype"] == "can_use_tool"
        assert asked["request"]["tool_name"] == "change"
        assert asked["request"]["input"] == {"answer": "x"}
        program.answer(asked, **response)
        assert (await program.until("result"))["subtype"] == "success"
        [decided] = program.desk.stage.of(Decided)
        assert (decided.decision, decided.words) == (decision, words)
        assert await program.end() == 0


async def test_a_changed_input_is_what_runs(tmp_path: Path) -> None:
    async with talking(tmp_path, say("", call("1", "change", answer="x")), say("Done.")) as program:
        program.say("go")
        asked = await program.until("control_request")
        program.answer(asked, behavior="allow", updatedInput={"answer": "y"})
        await program.until("result")
        assert program.desk.stage.change.ran == ["y"]
        assert await program.end() == 0


async def test_a_program_that_leaves_a_question_open_says_no(tmp_path: Path) -> None:
    async with talking(tmp_path, say("", call("1", "change")), say("As you say.")) as program:
        program.say("go")
        await program.until("control_request")
        assert await program.end() == 0
        assert program.desk.stage.of(Decided)[0].decision == "deny"


async def test_interrupt_ends_the_turn_and_not_the_talk(tmp_path: Path) -> None:
    async with talking(tmp_path, AssistantSaid((), "interrupted"), say("Again.")) as program:
        program.say("go")
        await program.until("system")
        await program.desk.stage.model.hang.wait()
        program.request("interrupt")
        assert (await program.until("result"))["subtype"] == "error_during_execution"
        program.say("again")
        assert (await program.until("result"))["result"] == "Again."
        assert await program.end() == 0


async def test_interrupt_takes_an_open_question_back(tmp_path: Path) -> None:
    async with talking(tmp_path, say("", call("1", "change"))) as program:
        program.say("go")
        asked = await program.until("control_request")
        program.request("interrupt")
        assert (await program.until("control_cancel_request"))["request_id"] == asked["request_id"]
        assert (await program.until("result"))["is_error"] is True
        await program.end()


async def test_a_message_during_a_turn_goes_into_it(tmp_path: Path) -> None:
    async with talking(tmp_path, say("", call("1", "change")), say("Both done.")) as program:
        program.say("go")
        asked = await program.until("control_request")
        program.say("and the docs")
        program.request("initialize")  # answered in order: by then the message was taken
        await program.until("control_response")
        program.answer(asked, behavior="allow")
        assert (await program.until("result"))["result"] == "Both done."
        assert await program.end() == 0
        assert [said.text for said in program.desk.stage.of(UserSaid)] == ["go", "and the docs"]
        assert [line["type"] for line in program.lines].count("result") == 1


async def test_messages_that_no_tool_call_lets_in_are_turns_of_their_own(tmp_path: Path) -> None:
    async with talking(tmp_path, say("A."), say("B.")) as program:
        program.say("a")
        program.say("b")
        assert [(await program.until("result"))["result"] for _ in range(2)] == ["A.", "B."]
        assert await program.end() == 0


async def test_messages_can_be_echoed(tmp_path: Path) -> None:
    async with talking(tmp_path, say("A."), options=replace(OPTIONS, replay_user_messages=True)) as program:
        program.say("a")
        assert (await program.until("user"))["isReplay"] is True
        assert await program.end() == 0


async def test_hooks_that_nothing_would_call_are_refused(tmp_path: Path) -> None:
    async with talking(tmp_path) as program:
        program.request("initialize", hooks={"PreToolUse": [1]})
        assert (await program.until("control_response"))["response"]["subtype"] == "error"


async def test_a_no_can_end_the_turn(tmp_path: Path) -> None:
    async with talking(tmp_path, say("", call("1", "change")), AssistantSaid((), "interrupted")) as program:
        program.say("go")
        program.answer(await program.until("control_request"), behavior="deny", message="stop it", interrupt=True)
        assert (await program.until("result"))["terminal_reason"].startswith("aborted")
        [decided] = program.desk.stage.of(Decided)
        assert (decided.decision, decided.words) == ("deny", "stop it")


@pytest.mark.parametrize(
    "line",
    ["not json", "[]", '{"type": "user"}', '{"type": "user", "message": {"content": [{"type": "audio"}]}}', "{}"],
)
async def test_a_line_that_is_none_of_the_schema_ends_it_with_2(tmp_path: Path, line: str) -> None:
    async with talking(tmp_path) as program:
        os.write(program._sending, line.encode() + b"\n")
        assert (await program.until("result"))["is_error"] is True
        assert await program.end() == 2
        assert "Line 1 of standard input" in (tmp_path / "err").read_text()


async def test_without_the_permission_tool_nobody_is_there(tmp_path: Path) -> None:
    options = Options(print=True, input_format="stream-json", output_format="stream-json")
    async with talking(tmp_path, say("", call("1", "change")), say("I could not."), options=options) as program:
        program.say("go")
        assert (await program.until("result"))["subtype"] == "error_permission_required"
        assert await program.end() == 4
