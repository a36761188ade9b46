"""Texts about a session, read off its journal: cost, context, status, changes, audit, Markdown. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from codeagent.core.budget import Meter, Used
from codeagent.core.cache_audit import TOPIC
from codeagent.core.clean import clean_line
from codeagent.core.compaction import size, threshold
from codeagent.core.context import CATEGORIES, Bill, Category, Headings, bill, cells
from codeagent.core.conversation import request
from codeagent.core.events import (
    AssistantSaid,
    Compacted,
    Entry,
    Noted,
    Opened,
    ToolFinished,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import Text, ToolUse
from codeagent.core.ports import Price
from codeagent.core.views import Diff
from codeagent.fronts import calls, hired, present
from codeagent.memory.prompt import GUIDELINES, MEMORY

if TYPE_CHECKING:
    from codeagent.core.listed import Finding
    from codeagent.fronts.desk import Desk, ListedJob, ListedSetting

MODES = (
    ("default", "reads run; edits and commands are asked"),
    ("acceptEdits", "edits inside the project run too"),
    ("plan", "explores only, ends with a plan"),
    ("auto", "what looks harmless runs, the rest is asked"),
    ("dontAsk", "what would be asked is refused"),
    ("bypass", "everything runs; only for sandboxes"),
)


def cost(desk: Desk) -> str:
    """Tokens, cached share, dollars and time: the session, its last turn and step, and what the cache missed."""
    return spending(desk.agent.meter, desk.agent.journal.entries, desk.agent.info.price)


def spending(meter: Meter, entries: Sequence[Entry], price: Price | None) -> str:
    """The same of any session that was read; `price` is that of its model now."""
    shown = {"session": meter, "last turn": meter.turn, "last step": meter.step} if meter.requests else {}
    agents = hired.together(entries)
    shown |= {"sub-agents": agents} if agents.requests else {}
    rows = [f"{'':<10} {'cost':>9} {'new':>8} {'written':>8} {'cached':>8} {'output':>8} {'time':>12}"]
    rows += [_spent(name, each) for name, each in shown.items()]
    work = (
        present.count(meter.turns, "turn"),
        present.count(meter.requests, "request"),
        present.count(meter.tool_calls, "tool call"),
    )
    rows.append(f"cached     {100 * meter.cached_share:.0f} % of the prompts")
    rows.append(f"work       {', '.join(work)}")
    rest = meter.turn_ms - meter.model_ms - meter.tool_ms
    rows.append(
        f"time       {present.seconds(meter.turn_ms)} in turns: {present.seconds(meter.model_ms)} the model, "
        f"{present.seconds(meter.tool_ms)} tools" + (f", {present.seconds(rest)} your answers" if rest >= 1000 else "")
    )
    rows.append(f"prices     {_dated(price)}")
    missed = [e.text for e in entries if isinstance(e, Noted) and e.topic == TOPIC]
    rows += [f"missed     {clean_line(text)}" for text in missed[-5:]]
    return "\n".join(rows)


def _spent(name: str, spent: Used) -> str:
    used = spent.usage
    figures = (used.input, used.cache_write + used.cache_write_1h, used.cache_read, used.output)
    cells = " ".join(f"{present.short(figure):>8}" for figure in figures)
    return f"{name:<10} {present.money(spent.cost):>9} {cells} {present.seconds(spent.took_ms):>12}"


def _dated(price: Price | None) -> str:
    if price is None:
        return "unknown price"
    if not (price.input or price.output):
        return "free: $0 per million tokens"
    a_million = f"${price.input:g} in, ${price.output:g} out, ${price.read:g} from the cache per million tokens"
    return f"{a_million}, as listed on {price.date}" if price.date else a_million


def bill_of(desk: Desk) -> Bill:
    """What the next request is made of."""
    agent = desk.agent
    entries, info = agent.journal.entries, agent.info
    measured = size(entries, info) if agent.meter.context else 0
    return bill(request(entries), info, Headings(GUIDELINES, MEMORY), threshold(info, agent.policy), measured)


LETTERS = {
    "system": "S",
    "tools": "T",
    "guidelines": "G",
    "memory": "M",
    "conversation": "C",
    "tool results": "R",
    "free": ".",
    "reserve": "x",
}
"""The categories in a grid without colours."""

ACROSS, DOWN = 40, 5
"""Cells of the grid."""


def context(desk: Desk) -> str:
    """What fills the window: a grid of letters, the categories, and the bill by block."""
    made = bill_of(desk)
    grid = "".join(LETTERS[kind] for kind in cells(made, ACROSS * DOWN))
    rows = [headline(desk.agent.model, made), ""]
    rows += [f"  {grid[at : at + ACROSS]}" for at in range(0, len(grid), ACROSS)]
    rows += ["", *(f"  {LETTERS[kind]} {row}" for kind, row in shares(made)), ""]
    rows += billed(made)
    return "\n".join(rows)


def headline(model: str, made: Bill) -> str:
    """How full it is, and what the next request costs."""
    about = "" if made.measured else "about "
    words = f"{model}: {about}{made.used:,} of {made.window:,} tokens ({100 * made.used / made.window:.0f} %)"
    if made.warm is None or made.cold is None:
        return f"{words}; price unknown"
    prices = f", prices of {made.priced}" if made.priced else ""
    return f"{words}; a request {present.money(made.warm)} from the cache, {present.money(made.cold)} without{prices}"


def shares(made: Bill) -> Iterator[tuple[Category, str]]:
    """Each category that there is, with tokens and share of the window."""
    for kind in CATEGORIES:
        if tokens := made.of(kind):
            yield kind, f"{kind:<14} {present.short(tokens):>7}  {100 * tokens / made.window:5.1f} %"


def billed(made: Bill) -> Iterator[str]:
    """The bill by block, the largest first: tokens, and dollars a request when it comes from the cache."""
    yield f"{'block':<44} {'tokens':>8}  from the cache, a request"
    for item in sorted(made.items, key=lambda item: -item.tokens):
        if item.tokens:
            name = clean_line(f"{item.category}: {item.name}")
            yield f"{name if len(name) <= 44 else '…' + name[-43:]:<44} {item.tokens:>8,}  {_fine(item.dollars)}"


def _fine(dollars: float | None) -> str:
    return "price unknown" if dollars is None else f"${dollars:.6f}"


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
        "later": f"to come back: {desk.resume_command}" if desk.resume_command else "",
    }
    return "\n".join(f"{name:<10}{words}" for name, words in rows.items() if words)


def jobs(desk: Desk) -> str:
    """The commands in the background, and what can be done with them."""
    listed = desk.jobs()
    if not listed:
        return "Nothing runs in the background."
    rows = [
        f"{job.id:<6} {state(job):<14} begun {present.seconds(1000 * job.seconds)} ago  {clean_line(job.command)}"
        for job in listed
    ]
    return "\n".join([*rows, "Read one: /jobs ID   End one: /jobs stop ID"])


def state(job: ListedJob) -> str:
    """How a background command is doing."""
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
    """The conversation as Markdown."""
    return "\n\n".join((f"# {title or 'A session'}", *_paragraphs(entries))) + "\n"


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


def setting_value(each: ListedSetting) -> str:
    """A setting's value with where it comes from; its meaning where nobody set it."""
    if each.source == "default":
        return f"{f'{each.value} (default)':<24}  {each.about}"
    return f"{each.value:<24}  {each.source}"


def setting(each: ListedSetting) -> str:
    """One setting in full: what is in force and why, what it means, what it may be."""
    said = f"{each.name} is {each.value} ({each.source})"
    return f"{said}\n  {each.about}\n  wanted: {each.wanted}. Default: {each.usual}"


def findings(found: Sequence[Finding], width: int = 78) -> str:
    """What doctor found, one after the other; what goes beyond `width` columns hangs under its words. 0: no end."""
    lines = []
    for each in found:
        head = f"{each.state:<8} {each.name:<9} "
        words = clean_line(each.words)
        room = max(20, width - len(head))
        rows = textwrap.wrap(words, room, break_long_words=False, break_on_hyphens=False) if width else [words]
        lines += [f"{head}{rows[0] if rows else ''}", *(" " * len(head) + row for row in rows[1:])]
    return "\n".join(lines)
