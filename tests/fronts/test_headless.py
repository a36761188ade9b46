"""One prompt, one run: the answer, the story, the lines, the exit code."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from codeagent.core.errors import ModelBusy, ModelError, ModelUnavailable, RequestRejected, UsageFault
from codeagent.core.events import AssistantSaid, TurnEnded
from codeagent.core.valves import Limits
from codeagent.fronts import piped
from codeagent.fronts.headless import Headless
from codeagent.options import Options
from tests.core.stage import Reply, call, say
from tests.fronts.stand import Connect, connecting, rules

ASKED = Options(prompt="fix it", print=True)
JSON = replace(ASKED, output_format="json")
STREAM = replace(ASKED, output_format="stream-json")


class Run:
    """What a run wrote and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def result(self) -> dict[str, Any]:
        assert [line["type"] for line in self.lines].count("result") == 1
        assert self.lines[-1]["type"] == "result"
        return self.lines[-1]


async def headless(tmp: Path, connect: Connect, options: Options, stdin: bytes = b"") -> Run:
    """Run it with files as its streams."""
    (tmp / "stdin").write_bytes(stdin)
    with (tmp / "stdin").open("rb") as in_, (tmp / "out").open("wb") as out, (tmp / "err").open("wb") as err:
        code = await Headless(options, in_.fileno(), out.fileno(), err.fileno()).run(connect)
    return Run(code, (tmp / "out").read_text("utf-8"), (tmp / "err").read_text("utf-8"))


async def run(tmp: Path, options: Options, *replies: Reply, stdin: bytes = b"", **settings: Any) -> Run:
    connect, made = connecting(tmp, *replies, **settings)
    done = await headless(tmp, connect, options, stdin)
    assert not made or made[0].closed
    return done


async def test_text_has_only_the_answer_on_stdout_and_the_story_on_stderr(tmp_path: Path) -> None:
    done = await run(tmp_path, ASKED, say("I look.", call("1", answer="it is 42\nmore")), say("It is 42."))
    assert done.code == 0
    assert done.out == "It is 42.\n"
    story = done.err.splitlines()
    assert story[:3] == [
        '[step 1] look(answer="it is 42\\nmore")',
        "  it is 42",
        "[step 2] stopped: end_turn, the answer is complete",
    ]
    assert story[3].startswith("1 tool step, 2 requests, 220 tokens (0 % cached), $0.02, ")


async def test_verbose_tells_words_between_steps_too(tmp_path: Path) -> None:
    done = await run(tmp_path, replace(ASKED, verbose=True), say("I look.", call("1")), say("Done."))
    assert done.out == "Done.\n"
    assert done.err.startswith("[step 1] I look.\n[step 1] look()")


async def test_partial_messages_come_before_the_whole(tmp_path: Path) -> None:
    done = await run(tmp_path, replace(STREAM, include_partial_messages=True), say("Done."))
    kinds = [line.get("event", line)["type"] for line in done.lines]
    assert kinds == [
        "system",
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "assistant",
        "result",
    ]


async def test_quiet_says_nothing_on_stderr(tmp_path: Path) -> None:
    done = await run(tmp_path, replace(ASKED, quiet=True), say("", call("1")), say("Done."))
    assert done.out == "Done.\n"
    assert done.err == ""


async def test_json_is_one_object(tmp_path: Path) -> None:
    done = await run(tmp_path, JSON, say("", call("1")), say("Done."))
    assert len(done.lines) == 1
    assert done.result["subtype"] == "success"
    assert done.result["is_error"] is False
    assert done.result["result"] == "Done."
    assert done.result["num_turns"] == 2
    assert done.result["total_cost_usd"] == pytest.approx(0.02)
    assert done.result["usage"]["input_tokens"] == 200
    assert done.result["stop_reason"] == "end_turn"
    assert done.result["terminal_reason"] == "completed"
    assert done.result["session_id"] == "s"
    assert done.err == ""


async def test_stream_json_tells_every_event_in_order(tmp_path: Path) -> None:
    done = await run(tmp_path, STREAM, say("I look.", call("1")), say("Done."))
    assert [line["type"] for line in done.lines] == ["system", "assistant", "user", "assistant", "result"]
    assert len({line["uuid"] for line in done.lines}) == 5
    assert {line["session_id"] for line in done.lines} == {"s"}


@pytest.mark.parametrize("options", [JSON, STREAM], ids=["json", "stream-json"])
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (ModelBusy("The server is overloaded.", category="overloaded", status=529), 1),
        (RequestRejected("Bad request.", category="invalid_request", status=400), 1),
        (ModelUnavailable("The key is wrong.", category="authentication_failed", status=401), 5),
        (ModelUnavailable("No such model.", category="model_not_found", status=404), 5),
        (ModelUnavailable("Nobody answers at host.", category="connection"), 5),
    ],
)
async def test_a_failed_run_never_looks_like_a_success(
    tmp_path: Path, options: Options, fault: ModelError, code: int
) -> None:
    done = await run(tmp_path, options, fault)
    assert done.code == code
    assert done.result["subtype"] == "error_during_execution"
    assert done.result["is_error"] is True
    assert done.result["errors"] == [str(fault)]
    assert done.result["api_error_status"] == (fault.status or None)
    assert "result" not in done.result
    assert str(fault) in done.err


async def test_a_failed_run_has_no_answer_in_text_either(tmp_path: Path) -> None:
    done = await run(tmp_path, ASKED, ModelBusy("The server is overloaded.", category="overloaded"))
    assert done.out == ""
    assert "codeagent: The server is overloaded.\n" in done.err


async def test_a_refused_answer_is_a_failure(tmp_path: Path) -> None:
    done = await run(tmp_path, JSON, say("I won't.", stop="refusal"))
    assert done.code == 1
    assert done.result["stop_reason"] == "refusal"
    assert done.result["errors"]


@pytest.mark.parametrize(
    ("limits", "subtype"),
    [
        (Limits(steps=1), "error_max_turns"),
        (Limits(tokens=100), "error_max_tokens_total"),
        (Limits(dollars=0.01), "error_max_budget_usd"),
    ],
)
async def test_a_valve_ends_with_its_own_subtype(tmp_path: Path, limits: Limits, subtype: str) -> None:
    done = await run(tmp_path, JSON, say("", call("1")), say("", call("2")), limits=limits)
    assert done.code == 3
    assert done.result["subtype"] == subtype
    assert done.result["errors"]


async def test_no_progress_is_its_own_subtype(tmp_path: Path) -> None:
    done = await run(tmp_path, JSON, *(say("", call(str(n))) for n in range(5)))
    assert done.code == 3
    assert done.result["subtype"] == "error_no_progress"


async def test_what_nobody_could_allow_is_refused_told_and_exit_4(tmp_path: Path) -> None:
    done = await run(tmp_path, JSON, say("", call("1", "change", answer="x")), say("I could not."))
    assert done.code == 4
    assert done.result["subtype"] == "error_permission_required"
    assert done.result["permission_denials"] == [
        {"tool_name": "change", "tool_use_id": "1", "tool_input": {"answer": "x"}}
    ]
    assert done.result["result"] == "I could not."
    assert "--allowed-tools" in done.err


async def test_in_dont_ask_refusals_are_the_modes_wish(tmp_path: Path) -> None:
    done = await run(tmp_path, JSON, say("", call("1", "change")), say("So be it."), mode="dontAsk")
    assert done.code == 0
    assert len(done.result["permission_denials"]) == 1


async def test_a_deny_rule_is_no_missing_person(tmp_path: Path) -> None:
    done = await run(tmp_path, JSON, say("", call("1", "change")), say("So be it."), rules=rules("change"))
    assert done.code == 0
    assert done.result["permission_denials"][0]["tool_name"] == "change"


@pytest.mark.parametrize(
    ("error", "code"),
    [(UsageFault("There is no session x."), 2), (ModelUnavailable("No key. Set ANTHROPIC_API_KEY."), 5)],
)
async def test_a_run_that_cannot_begin_has_its_result_too(tmp_path: Path, error: Exception, code: int) -> None:
    def connect(front: object) -> Any:
        raise error

    done = await headless(tmp_path, connect, STREAM)
    assert done.code == code
    assert done.result["errors"] == [str(error)]
    assert str(error) in done.err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_the_turn_and_the_result_still_comes(tmp_path: Path, number: signal.Signals) -> None:
    connect, made = connecting(tmp_path, AssistantSaid((), "interrupted"))
    task = asyncio.create_task(headless(tmp_path, connect, STREAM))
    await asyncio.sleep(0)  # the task begins
    while not made and not task.done():
        await asyncio.sleep(0)
    await made[0].stage.model.hang.wait()
    os.kill(os.getpid(), number)
    done = await task
    assert done.code == 128 + number
    assert done.result["subtype"] == "error_during_execution"
    assert done.result["terminal_reason"] == "aborted_streaming"
    assert made[0].stage.of(TurnEnded)[-1].why == "interrupted"
    assert made[0].closed


async def test_a_reader_that_left_ends_the_run_with_141(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    connect, made = connecting(tmp_path, AssistantSaid((), "interrupted"))
    with Path(os.devnull).open("rb") as nothing, (tmp_path / "err").open("wb") as err:
        code = await Headless(STREAM, nothing.fileno(), writing, err.fileno()).run(connect)
    os.close(writing)
    assert code == 141
    assert made[0].stage.of(TurnEnded)[-1].why == "interrupted"


async def test_a_reader_that_is_slow_does_not_hold_up_the_turn(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    connect, made = connecting(tmp_path, say("x" * 300_000, call("1")), say("Done."))
    with Path(os.devnull).open("rb") as nothing, (tmp_path / "err").open("wb") as err:
        task = asyncio.create_task(Headless(STREAM, nothing.fileno(), writing, err.fileno()).run(connect))
        while not task.done() and not (made and made[0].stage.of(TurnEnded)):
            await asyncio.sleep(0)
        received = b""
        while b'"type":"result"' not in received:
            received += await asyncio.to_thread(os.read, reading, 65536)
        assert await task == 0
    os.close(writing)
    os.close(reading)
    assert len(received.splitlines()) == 5


async def test_standard_input_joins_the_prompt(tmp_path: Path) -> None:
    connect, made = connecting(tmp_path)
    await headless(tmp_path, connect, ASKED, b"diff --git a b\n")
    assert made[0].stage.journal.entries[2].text == "fix it\n\ndiff --git a b"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("prompt", "stdin", "words"),
    [("", b"", "no prompt was given"), ("  ", b" \n", "no prompt was given"), ("a", b"x" * piped.LIMIT, "10 MB")],
    ids=["none", "blank", "too long"],
)
async def test_no_prompt_and_too_long_a_prompt(tmp_path: Path, prompt: str, stdin: bytes, words: str) -> None:
    done = await run(tmp_path, replace(JSON, prompt=prompt), stdin=stdin)
    assert done.code == 2
    assert words in done.result["errors"][0]
