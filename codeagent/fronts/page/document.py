"""The document: who said what, which tools ran and what came of them, in the order in which it happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codeagent.core.budget import Meter
from codeagent.core.events import (
    AssistantSaid,
    Compacted,
    Decided,
    Entry,
    Opened,
    ToolFinished,
    TurnEnded,
    UserSaid,
)
from codeagent.core.messages import Document, Image, Text, Thinking, ToolUse
from codeagent.core.views import Diff, Plain, Shell, Todo
from codeagent.fronts import calls, present
from codeagent.fronts.page import code
from codeagent.fronts.page.style import STYLE

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")

_MARKS = {"pending": "·", "in_progress": "▸", "completed": "✓"}
_VERBS = {"allow": "Allowed", "deny": "Refused", "ask": "Asked"}

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
"""


def html(entries: Sequence[Entry], title: str) -> str:
    """The whole file: no script, nothing fetched, every word escaped."""
    name = code.text(title or "A session")
    made = [_HEAD.format(title=name, style=STYLE), f"<h1>{name}</h1>", _facts(entries), *_parts(entries)]
    return "\n".join((*made, f"<footer>{_version(entries)}</footer>", "</main>", "</body>", "</html>", ""))


def _facts(entries: Sequence[Entry]) -> str:
    meter = Meter(entries)
    opened = next((e for e in entries if isinstance(e, Opened)), None)
    facts = [
        present.count(meter.turns, "turn"),
        present.count(meter.requests, "request"),
        present.count(meter.tool_calls, "tool call"),
        f"{present.short(meter.usage.total)} tokens, {100 * meter.cached_share:.0f} % cached",
        present.money(meter.cost),
    ]
    if opened:
        facts.insert(0, opened.model)
    made = [f"<span>{code.text(fact)}</span>" for fact in facts]
    if opened:
        branch = f" on {opened.branch}" if opened.branch else ""
        made.append(f'<br><span class="place">{code.text(opened.cwd + branch)}</span>')
    return f'<p class="facts">{" ".join(made)}</p>'


def _version(entries: Sequence[Entry]) -> str:
    opened = next((e for e in entries if isinstance(e, Opened)), None)
    return code.text(f"Session {opened.session}, exported by codeagent." if opened else "Exported by codeagent.")


def _parts(entries: Sequence[Entry]) -> Iterator[str]:
    uses: dict[str, ToolUse] = {}
    decided: dict[str, Decided] = {}
    for entry in entries:
        match entry:
            case UserSaid(blocks=blocks):
                yield f'<section class="you">{"".join(_piece(block) for block in blocks)}</section>'
            case AssistantSaid():
                uses.update((use.id, use) for use in entry.uses)
                yield from _reply(entry)
            case Decided(use_id=use_id, agent=""):
                decided[use_id] = entry
            case ToolFinished(use_id=use_id):
                yield _call(uses.get(use_id), entry, decided.get(use_id))
            case Compacted(summary=summary):
                yield _folded(
                    "summed up", "the conversation so far", "", f'<div class="said">{code.markdown(summary)}</div>'
                )
            case TurnEnded(why="done"):
                yield '<hr class="turn-end">'
            case _:
                yield from _notice(entry)


def _reply(said: AssistantSaid) -> Iterator[str]:
    for block in said.blocks:
        if isinstance(block, Text) and block.text.strip():
            yield f'<div class="said">{code.markdown(block.text)}</div>'
        elif isinstance(block, Thinking) and block.text.strip():
            yield _folded("thought", "", "", f'<div class="thinks">{code.text(block.text)}</div>')


def _notice(entry: Entry) -> Iterator[str]:
    told = present.notice(entry)
    if told:
        level, words = told
        yield f'<p class="note {level}">{code.text(words)}</p>'


def _call(use: ToolUse | None, done: ToolFinished, decided: Decided | None) -> str:
    about = calls.subject(use) if use else ""
    wrong = done.is_error or done.outcome != "done"
    end = f"{'✗ ' if wrong else ''}{calls.outcome(done)}"
    shown = isinstance(done.view, Diff | Todo)
    inside = _result(use, done) + (_decision(decided) if decided else "")
    return _folded(done.tool, about, end, inside, opened=shown, wrong=wrong)


def _decision(decided: Decided) -> str:
    if decided.by in ("builtin", "mode"):
        return ""
    words = f" {(decided.who or 'you').capitalize()} said: {decided.words}" if decided.words else ""
    return f'<p class="note">{code.text(f"{_VERBS[decided.decision]}. {decided.why}{words}")}</p>'


def _folded(what: str, about: str, end: str, inside: str, *, opened: bool = False, wrong: bool = False) -> str:
    return (
        f"<details{' open' if opened else ''}{' class=wrong' if wrong else ''}><summary>"
        f'<span class="what"><b>{code.text(what)}</b> {code.text(about)}</span>'
        f'<span class="end">{code.text(end)}</span></summary>\n{inside}\n</details>'
    )


def _result(use: ToolUse | None, done: ToolFinished) -> str:
    match done.view:
        case Diff():
            return code.diff(done.view)
        case Todo():
            items = "".join(
                f'<li class="{item.status}"><b>{_MARKS[item.status]}</b>{code.text(item.text)}</li>'
                for item in done.view.items
            )
            return f'<ul class="todo">{items}</ul>'
        case Shell(command=command):
            run = code.lines(command, language="bash")
            return f"<pre>$ {chr(10).join(run)}</pre>{_told(done, '')}"
        case Plain(text=text):
            return code.block(text)
        case _:
            path = str(use.input.get("file_path", "")) if use and use.name == "read" else ""
            return _told(done, path)


def _told(done: ToolFinished, path: str) -> str:
    """What the model was told."""
    return "".join(
        code.block(b.text, path=path) if isinstance(b, Text) else _piece(b)
        for b in done.blocks
        if not isinstance(b, Text) or b.text.strip()
    )


def _piece(block: Text | Image | Document) -> str:
    match block:
        case Text(text=text):
            return code.text(text)
        case Image(media_type=kind, data=data) if kind in _PICTURES:
            return f'<p><img alt="a picture" src="data:{kind};base64,{code.text(data)}"></p>'
        case _:
            name = block.name if isinstance(block, Document) and block.name else block.media_type
            return f'<p class="note">{code.text(f"({name})")}</p>'
