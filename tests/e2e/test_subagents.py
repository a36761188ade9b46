"""Sub-agents through the wire: parallel, nested, forked, refused, interrupted, stopped by the budget, killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.events import Decided, Opened, Spent, ToolFinished, ToolProgress
from codeagent.core.messages import Text
from codeagent.library import Answer, AskPermission, Event, Options, Pair, Question
from codeagent.sessions.load import load
from tests.e2e.conftest import CART, Open
from tests.e2e.program import results, said, told, until
from tests.loopback import KEY, Loopback, Reply, call, say

TALE = "Once there was a shop with a cart, and the cart had a discount that nobody understood. " * 100
"""Guidelines that are long enough for a cache."""


FREE = {"CODEAGENT_SANDBOX": "off"}
"""Commands without a sandbox, so that the process numbers that they tell are the system's."""


def environ(server: Loopback) -> Mapping[str, str]:
    return {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url, **FREE}


def task(label: str, prompt: str, **more: Any) -> Reply:
    return call("task", description=label, prompt=prompt, **more)


def words(done: ToolFinished) -> str:
    return "\n".join(block.text for block in done.blocks if isinstance(block, Text))


def by_first_words(answers: Mapping[str, Callable[[Any], Reply]]) -> Callable[[Any], Reply]:
    """Answers a request by what its agent was told first."""

    def answer(body: Any) -> Reply:
        first = next(block["text"] for block in told(body) if block["type"] == "text")
        return next(reply for begin, reply in answers.items() if first.startswith(begin))(body)

    return answer


def in_turn(*replies: Reply) -> Callable[[Any], Reply]:
    left = list(replies)
    return lambda _body: left.pop(0)


class Seen(list[Event]):
    """Events of a session, by kind."""

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self if isinstance(event, kind)]


async def test_several_at_once_share_what_the_first_put_into_the_cache(project: Path, home: Path) -> None:
    (project / "AGENTS.md").write_text(TALE)
    (project / "a.py").write_text("a = 1\n")
    events = Seen()
    calls = task("Count one", "one", agent="explore") + task("Count two", "two", agent="explore")
    answers = {
        "go": in_turn(calls + task("Count three", "three", agent="explore"), say("All counted.")),
        "one": in_turn(call("read", file_path="a.py"), say("One it is.")),
        "two": in_turn(say("Two it is.")),
        "three": in_turn(say("Three it is.")),
    }
    with Loopback(by_first_words(answers), delay=0.002) as server:
        async with Pair(project, environ=environ(server), home=home, see=events.append) as pair:
            reply = await pair.say("go")
        children = [seen for seen in server.requests if "You explore" in seen.body["system"][0]["text"]]
    assert reply.text == "All counted."
    assert {words(done) for done in events.of(ToolFinished)} == {"One it is.", "Two it is.", "Three it is."}
    first, *others = children
    assert first.usage["cache_read_input_tokens"] == 0
    assert len(others) == 3
    assert all(seen.usage["cache_read_input_tokens"] > 1500 for seen in others)
    assert [tool["name"] for tool in first.body["tools"]] == ["glob", "grep", "read"]
    assert any("a.py" in event.text for event in events.of(ToolProgress))
    spent = events.of(Spent)
    assert len(spent) == 4
    assert pair.agent.meter.usage.total == sum(sum(_four(seen.usage)) for seen in server.requests) + sum(
        each.usage.output for each in spent
    ) + _said(pair)
    summary = next(done.summary for done in events.of(ToolFinished) if words(done) == "One it is.")
    assert summary.startswith("2 steps, ")


def _four(usage: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(usage[f"{name}input_tokens"] for name in ("", "cache_read_", "cache_creation_"))


def _said(pair: Pair) -> int:
    from codeagent.core.events import AssistantSaid

    return sum(e.usage.output for e in pair.agent.journal.entries if isinstance(e, AssistantSaid))


async def test_transcripts_are_kept_sealed_and_shown(project: Path, home: Path, program: Open) -> None:
    answers = {"go": in_turn(task("Look", "look there"), say("Done.")), "look": in_turn(say("It is there."))}
    with Loopback(by_first_words(answers)) as server:
        made = program(server)
        ran = made.headless("go")
    assert ran.code == 0, ran.err
    (log,) = made.logs
    (transcript,) = (log.with_suffix("") / "agents").glob("*.jsonl")
    assert isinstance(load(transcript).entries[0], Opened)
    assert '"mac":' in transcript.read_text()
    assert transcript.stat().st_mode & 0o077 == 0
    shown = made.run("sessions", "show", log.stem, "--agent", transcript.stem)
    assert "look there" in shown.out
    assert "It is there." in shown.out
    (tree,) = [
        line for line in made.run("sessions", "show", log.stem, "--trace").out.splitlines() if "  task  " in line
    ]
    assert "1 step" in tree
    assert "tokens in" in tree
    costs = json.loads(made.run("sessions", "list", "--json").out)[0]["cost"]
    assert costs == pytest.approx(ran.result["total_cost_usd"])
    wrong = made.run("sessions", "show", log.stem, "--agent", "toolu_none")
    assert wrong.code != 0
    assert transcript.stem in wrong.err


async def test_one_of_its_own_and_no_deeper(project: Path, home: Path) -> None:
    events = Seen()
    answers = {
        "go": in_turn(task("Outer", "outer"), say("Done.")),
        "outer": in_turn(task("Inner", "inner"), say("The inner one knows.")),
        "inner": in_turn(call("read", file_path="a.py"), say("Read.")),
    }
    (project / "a.py").write_text("a = 1\n")
    with Loopback(by_first_words(answers)) as server:
        async with Pair(project, environ=environ(server), home=home, see=events.append) as pair:
            await pair.say("go")
        names = [[tool["name"] for tool in body["tools"]] for body in server.bodies]
    assert "task" in names[1]
    assert "ask_user" not in names[1]
    assert "task" not in names[2]
    assert len({each.use_id for each in events.of(Spent)}) == 1, "all of it is spent for the one call"
    assert len(events.of(Spent)) == 4
    lines = [event.text for event in events.of(ToolProgress)]
    assert lines[0] == "Hand to a sub-agent: Inner\n"
    assert lines[1].startswith("  ")
    assert "a.py" in lines[1]


async def test_a_fork_begins_like_its_parent_and_the_cache_serves_it(project: Path, home: Path) -> None:
    (project / "AGENTS.md").write_text(TALE)
    (project / "a.py").write_text("secret = 42\n")
    replies = [call("read", file_path="a.py"), task("Fork", "what is it?", fork=True), say("42"), say("It is 42.")]
    with Loopback(replies) as server:
        async with Pair(project, environ=environ(server), home=home) as pair:
            reply = await pair.say("go")
        parent, fork = server.requests[1], server.requests[2]
    assert reply.text == "It is 42."
    assert fork.body["tools"] == parent.body["tools"]
    assert "secret = 42" in json.dumps(fork.body["messages"])
    assert "what is it?" in said(fork.body)
    whole = sum(_four(parent.usage))
    assert fork.usage["cache_read_input_tokens"] >= whole - parent.usage["input_tokens"] > 1500


async def test_a_permission_question_names_it_and_a_no_reaches_it(project: Path, home: Path) -> None:
    asked: list[Question] = []
    events = Seen()

    async def approve(question: Question) -> Answer:
        asked.append(question)
        return Answer("no", "not there")

    answers = {
        "go": in_turn(task("Write it", "write"), say("Done.")),
        "write": in_turn(call("write", file_path="b.py", content="b = 1\n"), say("I may not.")),
    }
    with Loopback(by_first_words(answers)) as server:
        async with Pair(project, environ=environ(server), home=home, approve=approve, see=events.append) as pair:
            await pair.say("go")
    (question,) = asked
    assert isinstance(question, AskPermission)
    assert question.agent == "Write it"
    assert not (project / "b.py").exists()
    assert [d.agent for d in events.of(Decided) if d.decision == "deny"] == ["Write it"]
    assert words(events.of(ToolFinished)[-1]) == "I may not."


@pytest.mark.parametrize("rule", ["Agent(explore)", "Task(explore)", "task"])
async def test_a_rule_forbids_a_kind(project: Path, home: Path, rule: str) -> None:
    events = Seen()
    replies = [task("Look", "look", agent="explore"), say("I look myself.")]
    options = Options(settings=json.dumps({"permissions": {"deny": [rule]}}))
    with Loopback(replies) as server:
        async with Pair(project, environ=environ(server), home=home, options=options, see=events.append) as pair:
            await pair.say("go")
    (done,) = events.of(ToolFinished)
    assert done.outcome == "refused"
    assert rule in words(done)


async def test_what_it_changed_is_rewound_with_the_session(project: Path, home: Path) -> None:
    options = Options(permission_mode="acceptEdits")
    answers = {
        "go": in_turn(task("Write it", "write"), say("Done.")),
        "write": in_turn(call("write", file_path="b.py", content="b = 1\n"), say("Written.")),
    }
    with Loopback(by_first_words(answers)) as server:
        async with Pair(project, environ=environ(server), home=home, options=options) as pair:
            await pair.say("go")
            assert (project / "b.py").exists()
            (point,) = await pair.agent.points()
            await pair.agent.rewind(point.to)
    assert not (project / "b.py").exists()


async def test_the_budget_of_all_stops_it(project: Path, home: Path) -> None:
    options = Options(max_tokens_total=1000)
    answers = {
        "go": in_turn(task("Read on", "read"), say("Done.")),
        "read": lambda _body: call("bash", command="echo on"),
    }
    events = Seen()
    with Loopback(by_first_words(answers)) as server:
        async with Pair(project, environ=environ(server), home=home, options=options, see=events.append) as pair:
            reply = await pair.say("go")
    assert reply.why == "valve"
    (done,) = events.of(ToolFinished)
    assert done.is_error
    assert "stopped by a limit" in words(done)
    assert "tokens" in words(done)


async def test_its_own_steps_are_limited_by_its_definition(project: Path, home: Path) -> None:
    (project / ".claude/agents").mkdir(parents=True)
    (project / ".claude/agents/short.md").write_text(
        "---\nname: short\ndescription: short of breath\ntools: Bash\nmaxTurns: 2\n---\nYou stop soon.\n"
    )
    number = iter(range(100))
    answers = {
        "go": in_turn(task("Go on", "on", agent="short"), say("Done.")),
        "on": lambda _body: say("On it.") + call("bash", command=f"echo {next(number)}"),
    }
    events = Seen()
    with Loopback(by_first_words(answers)) as server:
        options = Options(trust=True)
        async with Pair(project, environ=environ(server), home=home, options=options, see=events.append) as pair:
            reply = await pair.say("go")
        child = server.bodies[1]
    assert reply.text == "Done."
    assert child["system"][0]["text"] == "You stop soon."
    assert [tool["name"] for tool in child["tools"]] == ["bash"]
    (done,) = events.of(ToolFinished)
    assert done.summary.startswith("2 steps")
    assert "2 of 2 steps" in words(done)
    assert "On it." in words(done)


async def test_an_interrupt_reaches_it_and_what_it_runs(project: Path, home: Path) -> None:
    answers = {
        "go": in_turn(task("Sleep", "sleep"), say("Never.")),
        "sleep": in_turn(call("bash", command="echo $$ > pid; sleep 300")),
    }
    # Without a sandbox the process number that the command tells is the system's.
    options = Options(permission_mode="bypass", settings='{"sandbox": "off"}')
    with Loopback(by_first_words(answers)) as server:
        async with Pair(project, environ=environ(server), home=home, options=options) as pair:
            talk = asyncio.create_task(pair.say("go"))
            while not ((project / "pid").exists() and (project / "pid").read_text()):
                await asyncio.sleep(0.01)
            talk.cancel()
            with pytest.raises(asyncio.CancelledError):
                await talk
            pid = int((project / "pid").read_text())
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
            (transcript,) = (project / ".agent/sessions").glob("*/agents/*.jsonl")
    assert '"why":"interrupted"' in transcript.read_text()


async def test_a_child_whose_model_fails_is_news_and_no_end(project: Path, home: Path) -> None:
    answers = {
        "go": in_turn(task("Fail", "fail"), say("It failed, I see.")),
        "fail": lambda _body: Reply(status=403, type="permission_error", message="not for you"),
    }
    events = Seen()
    with Loopback(by_first_words(answers)) as server:
        async with Pair(project, environ=environ(server), home=home, see=events.append) as pair:
            reply = await pair.say("go")
    assert reply.text == "It failed, I see."
    (done,) = events.of(ToolFinished)
    assert done.is_error
    assert "did not finish" in words(done)


async def test_a_long_report_is_cut_and_says_where_the_whole_is(project: Path, home: Path) -> None:
    answers = {"go": in_turn(task("Talk", "talk"), say("Done.")), "talk": in_turn(say("word " * 10_000))}
    events = Seen()
    with Loopback(by_first_words(answers)) as server:
        async with Pair(project, environ=environ(server), home=home, see=events.append) as pair:
            await pair.say("go")
    (done,) = events.of(ToolFinished)
    assert len(words(done)) < 20_500
    assert "/agents/toolu_" in words(done)


def test_killed_in_the_middle_the_session_goes_on(program: Open, shop: Path) -> None:
    answers = {
        "go": in_turn(task("Sleep", "sleep"), say("It was cut off.")),
        "sleep": in_turn(call("bash", command="rm cart.py; echo $$ > pid; exec sleep 300")),
    }
    with Loopback(by_first_words(answers)) as server:
        made = program(server)
        arguments = ("-p", "go", "--output-format", "stream-json", "--permission-mode", "bypass")
        with made.start(*arguments) as running:
            until(lambda: (shop / "pid").exists() and (shop / "pid").read_text(), "a command that runs")
            running.signal(signal.SIGKILL)
            running.process.communicate(timeout=10)
        again = made.headless("go on", "-c")
        body = server.bodies[-1]
    assert again.code == 0, again.err
    assert "unknown" in results(body)[0][0]
    assert not server.requests[-1].problems
    assert not (shop / "cart.py").exists()
    back = made.run("--plain", "-r", made.logs[0].stem, stdin=b"/rewind 1\n")
    assert back.code == 0, back.err
    assert (shop / "cart.py").read_text() == CART, "the session knows what its sub-agent was doing to files"
    assert not (shop / "pid").exists()
    (transcript,) = (shop / ".agent/sessions").glob("*/agents/*.jsonl")
    assert "sleep" in transcript.read_text()


def test_definitions_of_an_untrusted_project_are_only_named(program: Open, shop: Path) -> None:
    (shop / ".agent/agents").mkdir(parents=True)
    (shop / ".agent/agents/mine.md").write_text("---\nname: mine\ndescription: mine alone\n---\nBe mine.\n")
    with Loopback([say("hello")]) as server:
        ran = program(server).headless("hello")
        body = server.bodies[0]
    assert any("agents/mine.md" in line.get("content", "") and "not trusted" in line["content"] for line in ran.lines)
    assert "mine alone" not in json.dumps(body["tools"])


async def test_an_unchanged_file_is_not_sent_twice_but_after_a_compaction(project: Path, home: Path) -> None:
    (project / "a.py").write_text("".join(f"value_{n} = {n}\n" for n in range(200)))
    read = call("read", file_path="a.py")
    filler = [say("word " * 8000) for _ in range(3)]
    replies = [read, read, say("Twice."), *filler, say("Summed up."), read, say("Again.")]
    with Loopback(replies) as server:
        async with Pair(project, environ=environ(server), home=home) as pair:
            await pair.say("go")
            before = results(server.bodies[2])
            for _ in filler:
                await pair.say("tell me more")
            assert await pair.agent.compact()
            await pair.say("once more")
        after = results(server.bodies[-1])
    assert "value_199 = 199" in before[0][0]
    assert "value_199" not in before[1][0]
    assert len(before[1][0]) < 300
    assert "value_199 = 199" in after[-1][0]
