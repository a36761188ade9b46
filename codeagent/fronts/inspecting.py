"""Requests and replies as lines: the table of a session, one exchange in full, two replies side by side."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from codeagent.core.clean import clean
from codeagent.core.events import AssistantSaid
from codeagent.core.messages import Text, Thinking, ToolUse, Usage
from codeagent.fronts import calls, present
from codeagent.sessions.inspection import Exchange

_WIDTHS = (4, 7, 8, 6, 7, 7, 8, 8)

LONGEST = 4000
"""Characters of one text that are shown; `--json` has all of it."""


def table(exchanges: Iterator[Exchange]) -> Iterator[str]:
    """One line a request."""
    heads = zip(("step", "new", "prompt", "cached", "written", "first", "took", "cost"), _WIDTHS, strict=True)
    yield "  ".join([*(f"{head:>{width}}" for head, width in heads), "stop"])
    for each in exchanges:
        yield _row(each)


def _row(each: Exchange) -> str:
    used, cost, stop = outcome(each)
    said = each.reply
    new = f"{len(each.fresh)} of {len(each.request.messages)}"
    share = f"{100 * used.cache_read / used.prompt:.0f} %" if used.prompt else "-"
    first = present.seconds(said.first_ms) if said and said.first_ms else "-"
    took = present.seconds(said.took_ms) if said else "-"
    marks = [stop, *([each.asked.purpose] if each.asked.purpose != "step" else ())]
    marks += [f"{len(each.retries)} retried"] if each.retries else []
    marks += [f"changed: {', '.join(each.changed)}"] if each.changed else []
    marks += [] if each.same else ["not as recorded"]
    cells = (each.number, new, f"{used.prompt:,}", share, f"{used.output:,}", first, took, present.money(cost))
    return "  ".join([*(f"{cell:>{width}}" for cell, width in zip(cells, _WIDTHS, strict=True)), ", ".join(marks)])


def outcome(each: Exchange) -> tuple[Usage, float | None, str]:
    """Tokens, dollars and stop reason of an exchange."""
    if each.reply:
        return each.reply.usage, each.reply.cost, each.reply.stop
    if each.summary:
        return each.summary.usage, each.summary.cost, "end_turn"
    return Usage(), 0.0, "failed" if each.failed else "no reply"


def details(
    each: Exchange, body: Mapping[str, Any], headers: Mapping[str, str], problems: Sequence[str]
) -> Iterator[str]:
    """One exchange in full: request as sent, what was new in it, reply, figures."""
    yield f"request {each.number} (entry {each.position}), sha256 {each.asked.digest[:12]}" + (
        "" if each.same else ": NOT what was recorded"
    )
    for name, value in headers.items():
        yield f"  {name}: {value}"
    for name, value in body.items():
        if name not in ("system", "tools", "messages"):
            yield f"  {name}: {json.dumps(value)}"
    yield from _fixed(body)
    for words in problems:
        yield f"  the API would refuse it: {words}"
    if each.changed:
        yield f"  changed since the request before: {', '.join(each.changed)}"
    yield f"  messages: {len(each.request.messages)}, of which {each.kept} were sent before; new:"
    for at, message in enumerate(each.fresh, each.kept):
        for block in message.blocks:
            yield from _indented(f"{at} {message.role}", _shown(block))
    yield ""
    yield from reply(each)


def _fixed(body: Mapping[str, Any]) -> Iterator[str]:
    for at, block in enumerate(body.get("system", ())):
        mark = ", cache mark" if "cache_control" in block else ""
        yield from _indented(f"system {at} ({present.count(len(block['text']), 'character')}{mark})", block["text"])
    names = ", ".join(str(tool["name"]) for tool in body.get("tools", ()))
    yield f"  tools: {names or 'none'}"


def reply(each: Exchange) -> Iterator[str]:
    """What came back, and its figures."""
    for retried in each.retries:
        yield f"attempt {retried.attempt} of {retried.of} failed: {clean(retried.why)}"
    used, cost, stop = outcome(each)
    if each.summary:
        yield from _indented("summary", each.summary.summary)
    if each.reply is None:
        yield f"{stop}: {clean(each.failed)}".rstrip(": ")
        return
    said = each.reply
    yield f"reply {said.message_id}".rstrip()
    for block in said.blocks:
        yield from _indented(type(block).__name__.lower(), _shown(block))
    yield from figures(used, cost, said)


def figures(used: Usage, cost: float | None, said: AssistantSaid) -> Iterator[str]:
    """Stop reason, tokens, time and cost of a reply."""
    yield f"  stop     {said.stop}{f' ({clean(said.detail)})' if said.detail else ''}"
    yield (
        f"  tokens   {used.input:,} new, {used.cache_read:,} from the cache, "
        f"{used.cache_write + used.cache_write_1h:,} into it, {used.output:,} written"
    )
    yield f"  time     first word after {present.seconds(said.first_ms)}, all after {present.seconds(said.took_ms)}"
    yield f"  cost     {present.money(cost)}"
    if said.miss:
        yield f"  cache    missed: {clean(said.miss)}"


def _shown(block: object) -> str:
    match block:
        case Text(text=text) | Thinking(text=text):
            return text
        case ToolUse():
            return calls.spelled(block.name, block.input, LONGEST)
        case _:
            from msgspec.json import encode

            return encode(block).decode("utf-8", "replace")


def _indented(head: str, text: str) -> Iterator[str]:
    shown = clean(text[:LONGEST])
    more = f"\n… {len(text) - LONGEST:,} more characters" if len(text) > LONGEST else ""
    yield f"  {head}:"
    yield from (f"    {line}".rstrip() for line in (shown + more).split("\n"))


def side_by_side(was: AssistantSaid, now: AssistantSaid, width: int) -> Iterator[str]:
    """Two replies in two columns of together `width` characters, their figures below."""
    half = max(20, (width - 3) // 2)
    yield f"{'as recorded':<{half}} │ sent again"
    yield f"{'─' * half}─┼─{'─' * half}"
    columns = ([*_wrapped(said, half), "", *_figures_in(said, half)] for said in (was, now))
    for left, right in zip_longest(*columns, fillvalue=""):
        yield f"{left:<{half}} │ {right}".rstrip()


def _wrapped(said: AssistantSaid, width: int) -> list[str]:
    made: list[str] = []
    for block in said.blocks:
        words = _shown(block)
        lines = f"> {words}" if isinstance(block, ToolUse) else words
        for line in clean(lines).split("\n"):
            made += textwrap.wrap(line, width, break_long_words=True, drop_whitespace=False) or [""]
    return made


def _figures_in(said: AssistantSaid, width: int) -> list[str]:
    return [part for line in figures(said.usage, said.cost, said) for part in textwrap.wrap(line.strip(), width)]
