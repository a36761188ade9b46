"""Text that would control a terminal or a markup parser, in every place where outside text can stand."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from codeagent.core.clean import clean
from codeagent.core.effects import (
    AskPermission,
    AskTrust,
    AskUser,
    AskValve,
    Brought,
    Choice,
    Effect,
    Risk,
    Touch,
    Verdict,
)
from codeagent.core.events import (
    AssistantSaid,
    Compacted,
    Decided,
    Entry,
    Noted,
    Queued,
    Retried,
    Titled,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserSaid,
    ValveClosed,
)
from codeagent.core.messages import Text, Thinking, ToolUse
from codeagent.core.views import Diff, Hunk, Listing, Plain, Shell, Todo, TodoItem, View

CASES = Path(__file__).parent / "cases" / "security" / "terminal_text.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in CASES.read_text().splitlines()]

MARKUP = (
    "[bold]b[/bold]",
    "[/]",
    "[link=x]y[/link]",
    "[red]",
    "[@click=app.quit]go[/]",
    "a[0] = b[i]",
    "[$primary]v",
    "\\[x]",
)
"""Strings that a markup parser changes, or fails on; each has to stand as it is."""


def text_of(row: dict[str, Any]) -> str:
    """The row's text; bytes that are no UTF-8 as a program's output would be decoded."""
    if "b64" in row:
        return base64.b64decode(row["b64"]).decode("utf-8", "replace")
    if "gen" in row:
        return str(row["gen"]["unit"] * min(row["gen"]["count"], 3000) + row["gen"].get("tail", ""))
    return str(row["text"])


SHORT = [*(text_of(row) for row in ROWS if "gen" not in row), *MARKUP]


def bad(shown: str) -> str:
    """The characters of a screen's text that could control a terminal; empty when it is inert."""
    return "".join(sorted({char for char in shown if char not in "\n" and clean(char) != char and char != "\t"}))


def leaks(raw: bytes) -> list[str]:
    """What of the rows' forbidden characters is in the bytes that went to a terminal, with what follows it."""
    found = []
    for row in ROWS:
        text = text_of(row)
        for char in row["must_not_emit"]:
            at = text.find(char)
            piece = text[at : at + 14] if char in "\x1b\r\n\b\t\x07" else char
            if (
                at >= 0
                and (len(piece) > 2 or char not in "\x1b\r\n\b\t\x07")
                and piece.encode("utf-8", "replace") in raw
            ):
                found.append(f"{row['id']}: {piece!r}")
    return found


def entries(text: str) -> list[Entry]:
    """Every kind of entry that is drawn, with this text in every field that comes from outside."""
    views: list[View] = [
        Plain(text),
        Shell(text, text, text, 1),
        Listing((text, text)),
        Diff(text, (Hunk(1, 1, (f" {text}", f"-{text}", f"+{text}x")),), 1, 1),
        Todo((TodoItem(text), TodoItem(text, "in_progress"))),
    ]
    made: list[Entry] = [Titled(text, "user"), UserSaid((Text(text),)), Queued("q", text)]
    for number, view in enumerate(views):
        use = ToolUse(f"u{number}", "bash", {"command": text, "file_path": text})
        made += [
            AssistantSaid((Thinking(text), Text(text), use), model=text),
            Decided(use.id, "bash", text, "deny", "rule", text, text, text, words=text),
            ToolStarted(use.id, "bash", text, text, view),
            ToolFinished(use.id, "bash", (Text(text),), is_error=bool(number % 2), summary=text, view=view, cwd=text),
        ]
    return [
        *made,
        Noted(text, level="warning"),
        Retried(1, 3, 0.1, text),
        Compacted(text, 0),
        ValveClosed("steps", text, 1),
        TurnEnded("failed", text),
    ]


def questions(text: str) -> list[Any]:
    """Every kind of question, full of this text."""
    verdict = Verdict("ask", "mode", text, text, text, ((text, "ask", text),))
    touch = Touch(text, "write", "protected", text, text)
    effect = Effect("bash", text, text, Risk.HIGH, Shell(text, text), (touch,), host=text, cwd=text)
    edit = Effect("edit", text, text, Risk.MEDIUM, Diff(text, (Hunk(1, 1, (f"-{text}", f"+{text}")),), 1, 1))
    return [
        AskPermission("u", effect, verdict, {"command": text}, text, (text,)),
        AskPermission("u", edit, verdict, {"new_string": text}, text),
        AskUser("u", text, text, (Choice(text, text), Choice(text))),
        AskUser("u", text, text, (Choice(text, text),), many=True),
        AskValve("steps", text, 10, 20),
        AskTrust(text, (Brought(f"{text}/x", text, (text,), "d", changed=True, before=(f"{text} before",)),)),
    ]
