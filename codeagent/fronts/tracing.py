"""The tree of a session in lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codeagent.core.clean import clean_line
from codeagent.core.messages import Usage
from codeagent.fronts import calls, present
from codeagent.sessions import trace
from codeagent.sessions.trace import Call, Run, Step, Turn


def tree(run: Run) -> Iterator[str]:
    """One line for the run, each turn, each step, each call."""
    steps = trace.steps(run)
    turns = present.count(len(run.turns), "turn")
    about = (run.model, turns, present.count(len(steps), "request"), tokens(trace.usage(steps)))
    yield ", ".join((f"session {run.session}: {clean_line(run.title)}".rstrip(": "), *about, _money(steps)))
    for turn in run.turns:
        yield from _turn(turn)


def tokens(used: Usage) -> str:
    """`12,400 tokens in (91 % cached), 310 out`."""
    return f"{present.count(used.prompt, 'token')} in ({100 * trace.cached(used):.0f} % cached), {used.output:,} out"


def _turn(turn: Turn) -> Iterator[str]:
    end = turn.outcome + (f" ({calls.bounded(turn.detail, 80)})" if turn.detail else "")
    parts = (end, present.count(len(turn.steps), "step"), tokens(trace.usage(turn.steps)), _money(turn.steps))
    said = f" “{calls.bounded(turn.prompt, 60)}”" if turn.prompt else ""
    yield f"  turn {turn.number}{said}: {', '.join((*parts, present.seconds(turn.took_ms)))}"
    for step in turn.steps:
        yield from _step(step)


def _step(step: Step) -> Iterator[str]:
    name = f"step {step.number}" if step.asked.purpose == "step" else f"{step.asked.purpose} (request {step.number})"
    own = replace(step, calls=[])
    parts = [step.outcome, tokens(step.usage), _money([own]), present.seconds(step.took_ms)]
    if step.first_ms:
        parts.append(f"first word after {present.seconds(step.first_ms)}")
    if step.retries:
        parts.append(f"{len(step.retries)} retried: {calls.bounded(step.retries[-1].why, 60)}")
    if step.miss:
        parts.append(f"cache missed: {clean_line(step.miss)}")
    yield f"    {name}: {', '.join(parts)}"
    for call in step.calls:
        yield _call(call)


def _call(call: Call) -> str:
    about = clean_line(call.title) or calls.spelled(call.use.name, call.use.input, 60)
    parts = [call.outcome, *([f"by {call.by}"] if call.by else []), present.seconds(call.took_ms)]
    if call.usage.total:
        parts += [tokens(call.usage), present.money(call.cost)]
    summary = f" ({calls.bounded(call.summary, 60)})" if call.summary else ""
    return f"      {clean_line(call.use.name)}  {about}: {', '.join(parts)}{summary}"


def _money(steps: Sequence[Step]) -> str:
    return present.money(trace.cost(steps))
