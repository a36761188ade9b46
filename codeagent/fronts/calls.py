"""Tool calls, their effects and their results as lines of plain text, for the fronts that print."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from codeagent.core.clean import clean, clean_line
from codeagent.core.effects import AskPermission, AskPlan, AskSummary, AskTrust, AskUser, AskValve, Question
from codeagent.core.events import ToolFinished
from codeagent.core.messages import Text, ToolUse
from codeagent.core.views import Diff, Listing, Plain, Shell, Todo, View

OBJECTS = ("command", "file_path", "pattern", "url", "query", "path", "question", "topic", "action", "prompt")
"""Input fields that name what a call is about, the most telling first."""

MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
PLAN_CHOICES = (
    "Go ahead, and accept edits",
    "Go ahead, and ask on each edit",
    "Keep planning (add words to say what to change)",
)
RISKS = {1: "low risk", 2: "medium risk", 3: "high risk"}


TRUST_CHOICES = ("Trust it, until it changes", "Go on without it")


def bounded(text: str, limit: int) -> str:
    """At most `limit` characters on one clean line, an ellipsis for the rest."""
    line = clean_line(text[: 4 * limit])
    return line if len(line) <= limit and len(text) <= 4 * limit else f"{line[: limit - 1]}…"


def spelled(name: str, args: Mapping[str, Any], limit: int = 200) -> str:
    """A call as it would be written: `read(file_path="shop/cart.py", limit=40)`."""
    todos = args.get("todos")
    if name == "todo" and isinstance(todos, list) and all(isinstance(each, Mapping) for each in todos):
        items = (f"{MARKS.get(str(each.get('status')), '[ ]')} {each.get('content', '')}" for each in todos)
        return f"todo({bounded(', '.join(items), limit)})"
    pairs = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in args.items())
    return f"{clean_line(name)}({bounded(pairs, limit)})"


def subject(use: ToolUse, limit: int = 100) -> str:
    """What a call is about: its path, pattern or command."""
    for key in OBJECTS:
        value = use.input.get(key)
        if isinstance(value, str) and value:
            return bounded(value, limit)
    return ""


def first_line(done: ToolFinished, limit: int = 160) -> str:
    """The first line of a result that says something."""
    for part in done.blocks:
        if not isinstance(part, Text):
            return "a picture" if part.media_type.startswith("image/") else "a document"
        for line in part.text.splitlines():
            if any(map(str.isalnum, line)):  # not a ruler of dashes
                return bounded(line.strip(), limit)
    return "(no output)"


def outcome(done: ToolFinished) -> str:
    """How a call went, in a few words: `42 lines`, `failed: 1 failed`."""
    words = clean_line(done.summary) or first_line(done, 80)
    if done.tool == "bash" and words[:1].isdigit() and words.endswith(" s"):  # a time and nothing else
        words = f"done, {words}"
    return words if done.outcome == "done" and not done.is_error else _unhappy(done, words)


def _unhappy(done: ToolFinished, words: str) -> str:
    state = "failed" if done.outcome == "done" else done.outcome
    return words if words.startswith(state) else f"{state}: {words}"


def diff(change: Diff) -> Iterator[tuple[str, str]]:
    """Lines of a change as (role, text); the role is `muted`, `added` or `removed`. Numbers as in an editor."""
    verb = "new file" if change.created else "change"
    yield "muted", f"{verb} {clean_line(change.path)}  +{change.added} -{change.removed}"
    for at, hunk in enumerate(change.hunks):
        if at:
            yield "muted", "   ..."
        old, new = hunk.old_start, hunk.new_start
        for line in hunk.lines:
            sign, rest = line[:1], clean(line[1:])
            number = old if sign == "-" else new
            old, new = old + (sign != "+"), new + (sign != "-")
            role = {"+": "added", "-": "removed"}.get(sign, "muted")
            yield role, f"{number:>5} {sign} {rest}".rstrip() if rest else f"{number:>5} {sign}"
    if change.omitted:
        yield "muted", f"   ... {change.omitted:,} more lines of this change are not shown"


def todo(items: Todo) -> Iterator[str]:
    """The todo list, one line an item."""
    for item in items.items:
        yield f"{MARKS[item.status]} {clean_line(item.text)}"


def view(seen: View, limit: int = 0) -> Iterator[tuple[str, str]]:
    """Any view as (role, text) lines; `limit` bounds the lines of output shown, the last ones kept, 0 shows all."""
    match seen:
        case Diff():
            yield from diff(seen)
        case Shell(command=command, output=output):
            for line in clean(command).split("\n"):
                yield "text", f"$ {line}"
            yield from _tail(output, limit)
        case Listing(lines=lines, omitted=omitted):
            yield from _tail("\n".join(lines), limit)
            if omitted:
                yield "muted", f"... {omitted:,} more"
        case Todo():
            for line in todo(seen):
                yield "text", line
        case Plain(text=text):
            yield from _tail(text, limit)


def _tail(text: str, limit: int) -> Iterator[tuple[str, str]]:
    lines = clean(text).rstrip("\n").split("\n") if text.strip() else []
    if limit and len(lines) > limit:
        yield "muted", f"... {len(lines) - limit:,} more lines"
        lines = lines[-limit:]
    for line in lines:
        yield "muted", line


def permission(asked: AskPermission) -> Iterator[tuple[str, str]]:
    """A permission question, complete: what, where, how risky, why it is asked, what would be stored."""
    effect, verdict = asked.effect, asked.verdict
    yield "warning", f"{asker(asked)}{clean_line(effect.title)}? ({RISKS[int(effect.risk)]})"
    for role, line in view(effect.view):
        yield role, f"  {line}"
    if effect.cwd and isinstance(effect.view, Shell):
        yield "muted", f"  in {clean_line(effect.cwd)}"
    if verdict.why:
        yield "muted", f"  asked because: {clean_line(verdict.why)}"


def trust(asked: AskTrust) -> Iterator[tuple[str, str]]:
    """What a directory brings, file by file: new wishes are marked with +, those that are gone with -."""
    yield "strong", f"Trust what {clean_line(asked.directory)} brings along? None of it has acted yet."
    for item in asked.items:
        name = item.path.removeprefix(f"{asked.directory}/")
        yield "warning", f"{clean_line(name)}  {item.kind}, {'changed since you trusted it' if item.changed else 'new'}"
        for words in item.words:
            fresh = item.changed and words not in item.before
            yield ("added" if fresh else "text"), f"  {'+' if fresh else ' '} {clean_line(words)}"
        for words in item.before:
            if words not in item.words:
                yield "removed", f"  - {clean_line(words)}"


def asker(asked: AskPermission) -> str:
    """The sub-agent that wants it, before the title; empty for the agent itself."""
    return f"Sub-agent «{clean_line(asked.agent)}»: " if asked.agent else ""


def choices(question: Question) -> tuple[str, ...]:
    """The numbered answers of a question, in order."""
    match question:
        case AskPermission(always=always):
            more = (f"Yes, and {clean_line(always)}",) if always else ()
            return ("Yes", *more, "No (add words to say why or what to do instead)")
        case AskPlan():
            return PLAN_CHOICES
        case AskTrust():
            return TRUST_CHOICES
        case AskValve(proposed=proposed):
            return (f"Go on, up to {proposed:,g}" if proposed else "Go on", "Stop")
        case AskSummary():
            return ("Yes", "Change it first, in your editor", "No, leave everything as it was")
        case AskUser(choices=listed):
            return tuple(
                f"{clean_line(c.label)}{' - ' if c.description else ''}{clean_line(c.description)}" for c in listed
            )
