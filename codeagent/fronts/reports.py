"""Texts about a session, read off its journal: cost, context, status, changes, audit, Markdown. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from codeagent.core.clean import clean_line
from codeagent.core.conversation import request
from codeagent.core.events import (
    AssistantSaid,
    Compacted,
    Entry,
    Opened,
    ToolFinished,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import Image, Note, Text, Thinking, ToolResult, ToolUse
from codeagent.core.views import Diff
from codeagent.fronts import calls, present

if TYPE_CHECKING:
    from codeagent.fronts.desk import Desk, ListedJob

MODES = (
    ("default", "reads run; edits and commands are asked"),
    ("acceptEdits", "edits inside the project run too"),
    ("plan", "explores only, ends with a plan"),
    ("auto", "what looks harmless runs, the rest is asked"),
    ("dontAsk", "what would be asked is refused"),
    ("bypass", "everything runs; only for sandboxes"),
)


def cost(desk: Desk) -> str:
    """Tokens, cached share, dollars and time."""
    meter, usage = desk.agent.meter, desk.agent.meter.usage
    return "\n".join(
        (
            f"cost      {present.money(meter.cost)}",
            f"tokens    {usage.total:,}: {usage.input:,} new, {usage.cache_read:,} from the cache, "
            f"{usage.cache_write + usage.cache_write_1h:,} into it, {usage.output:,} written by the model",
            f"cached    {100 * meter.cached_share:.0f} % of the prompts",
            f"work      {present.count(meter.turns, 'turn')}, {present.count(meter.requests, 'request')}, "
            f"{present.count(meter.tool_calls, 'tool call')}",
            f"time      {present.seconds(meter.turn_ms)} working: {present.seconds(meter.model_ms)} the model, "
            f"{present.seconds(meter.tool_ms)} tools",
        )
    )


def context(desk: Desk) -> str:
    """What fills the window, by kind, in estimated tokens; a bar of twenty cells each."""
    agent = desk.agent
    window, per = agent.info.window, agent.info.chars_per_token
    sizes = _sizes(agent.journal.entries)
    tokens = {name: int(size / per) for name, size in sizes.items()}
    used = agent.meter.context or sum(tokens.values())
    rows = [f"{agent.model}: {used:,} of {window:,} tokens ({100 * used / window:.0f} %)"]
    rows += [_bar(name, amount, window) for name, amount in tokens.items() if amount]
    rows.append(_bar("free", max(0, window - used), window))
    return "\n".join(rows)


def _bar(name: str, amount: int, window: int) -> str:
    cells = min(20, round(20 * amount / window))
    return f"  {name:<14} {'#' * cells + '.' * (20 - cells)} {present.short(amount):>7}  {100 * amount / window:.1f} %"


def _sizes(entries: Sequence[Entry]) -> dict[str, int]:
    """Characters of the next request by kind."""
    asked = request(entries)
    sizes = {
        "guidance": sum(map(len, asked.system)),
        "tools": sum(len(t.description) + len(json.dumps(t.input_schema)) for t in asked.tools),
        "your words": 0,
        "its words": 0,
        "tool calls": 0,
        "tool results": 0,
        "pictures": 0,
    }
    for message in asked.messages:
        for part in message.blocks:
            match part:
                case Text(text=text) | Note(text=text):
                    sizes["your words" if message.role == "user" else "its words"] += len(text)
                case Thinking(text=text):
                    sizes["its words"] += len(text)
                case ToolUse(input=given):
                    sizes["tool calls"] += len(json.dumps(given))
                case ToolResult(content=content):
                    sizes["tool results"] += sum(len(c.text) for c in content if isinstance(c, Text))
                case Image():
                    sizes["pictures"] += 5000
                case _:
                    pass
    return sizes


def status(desk: Desk) -> str:
    """Where things stand."""
    agent = desk.agent
    opened = next((e for e in agent.journal.entries if isinstance(e, Opened)), None)
    rows = {
        "session": f"{agent.title or '(no name)'}  {opened.session if opened else ''}".strip(),
        "project": str(desk.project) + (f" on {desk.branch}" if desk.branch else ""),
        "model": agent.model + (f", effort {agent.effort}" if agent.effort else ""),
        "mode": agent.mode,
        "standing": present.standing(agent.mode, agent.info.short, agent.meter, agent.info.window),
        "sandbox": desk.sandbox,
        "waiting": "; ".join(q.text for q in agent.waiting),
        "come back": desk.resume_command,
    }
    return "\n".join(f"{name:<10}{words}" for name, words in rows.items() if words)


def jobs(desk: Desk) -> str:
    """The commands in the background, and what can be done with them."""
    listed = desk.jobs()
    if not listed:
        return "Nothing runs in the background."
    rows = [
        f"{job.id:<6} {_state(job):<14} begun {present.seconds(1000 * job.seconds)} ago  {clean_line(job.command)}"
        for job in listed
    ]
    return "\n".join([*rows, "Read one: /jobs ID   End one: /jobs stop ID"])


def _state(job: ListedJob) -> str:
    if job.code is None:
        return "runs"
    return "stopped" if job.stopped else f"ended, exit {job.code}"


def todo(desk: Desk) -> str:
    """The todo list."""
    items = desk.agent.todo
    return "\n".join(calls.todo(items)) if items and items.items else "The todo list is empty."


def changes(desk: Desk) -> str:
    """Every change of a file that this session made, in order."""
    made = [e.view for e in desk.agent.journal.entries if isinstance(e, ToolFinished) and isinstance(e.view, Diff)]
    if not made:
        return "This session changed no file with its edit tools."
    added, removed = sum(d.added for d in made), sum(d.removed for d in made)
    files = len({d.path for d in made})
    total = f"{present.count(len(made), 'change')} in {present.count(files, 'file')}: +{added} -{removed}"
    return "\n".join([*(text for change in made for _, text in calls.diff(change)), total])


def audit(desk: Desk) -> str:
    """Each decision of the gate: what, who said so, by which rule, what came of it."""
    from codeagent.sessions import audit as trails  # builds the log's decoder, which no front needs to start

    rows = trails.trail((0.0, entry) for entry in desk.agent.journal.entries)
    return "\n".join(line for row in rows for line in trails.words(row)) or "Nothing had to be decided yet."


def markdown(entries: Sequence[Entry], title: str) -> str:
    """The conversation as Markdown, to be passed on: without credentials of well-known shapes."""
    from codeagent.core.token_shapes import masked  # seven large patterns, which only an export needs

    return masked("\n\n".join((f"# {title or 'A session'}", *_paragraphs(entries))) + "\n")


def _paragraphs(entries: Sequence[Entry]) -> Iterator[str]:
    uses: dict[str, ToolUse] = {}
    for entry in entries:
        match entry:
            case UserSaid(text=text):
                yield f"## You\n\n{text}"
            case AssistantSaid():
                uses.update({use.id: use for use in entry.uses})
                if entry.text:
                    yield f"## codeagent\n\n{entry.text}"
            case ToolFinished(use_id=use_id):
                use = uses.get(use_id)
                head = calls.spelled(use.name, use.input) if use else entry.tool
                body = "\n".join(b.text for b in entry.blocks if isinstance(b, Text))
                yield f"`{head.replace('`', chr(39))}`: {calls.outcome(entry)}\n\n{_fenced(body)}"
            case Compacted(summary=summary):
                yield f"## Summed up\n\n{summary}"
            case TurnEnded(why=why) if why != "done":
                yield f"*{present.ended(entry)[1]}*"
            case _:
                pass


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
