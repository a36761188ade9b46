"""Events in words and figures, shared by all fronts."""

from __future__ import annotations

from collections.abc import Mapping

from codeagent.core.budget import Meter
from codeagent.core.events import (
    Compacted,
    Earlier,
    Event,
    Lost,
    Noted,
    Retried,
    Rewound,
    Stop,
    Switched,
    TurnEnded,
    ValveClosed,
)

NOT_RUN, OUTCOME_UNKNOWN = "not run", "outcome unknown"
"""What became of a call whose record breaks off before its result: it had not begun, or it had."""

STOPS: Mapping[Stop, str] = {
    "end_turn": "the answer is complete",
    "tool_use": "a tool is wanted",
    "max_tokens": "the answer was cut at its limit",
    "stop_sequence": "a stop word came",
    "pause_turn": "the model paused",
    "refusal": "the model declined",
    "context_window": "the window is full",
    "interrupted": "it was interrupted",
    "unknown": "nobody said why",
}
"""Why a reply ended, in words."""


def count(number: int, noun: str) -> str:
    """`1 line`, `1,204 lines`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def short(number: float) -> str:
    """`950`, `4.1k`, `1.2M`."""
    if number < 1000:
        return f"{number:.0f}"
    if number < 1_000_000:
        return f"{number / 1000:.1f}k".replace(".0k", "k")
    return f"{number / 1_000_000:.1f}M".replace(".0M", "M")


def money(dollars: float | None) -> str:
    """`$0.04`, `$0.0003`, or `unknown price`."""
    if dollars is None:
        return "unknown price"
    if 0 < dollars < 0.01:
        return f"${dollars:.4f}"
    return f"${dollars:.2f}"


def size(number: int) -> str:
    """`950 bytes`, `4.1 kB`, `120 MB`."""
    if number < 1000:
        return count(number, "byte")
    value, unit = next(
        ((number / scale, unit) for scale, unit in ((1e9, "GB"), (1e6, "MB")) if number >= scale), (number / 1e3, "kB")
    )
    return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"


def seconds(milliseconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 20 s`."""
    value = milliseconds / 1000
    if value < 10:
        return f"{value:.1f} s"
    if value < 60:
        return f"{value:.0f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def age(past: float, now: float) -> str:
    """`just now`, `5 min ago`, `3 h ago`, `2 days ago`; never negative."""
    passed = max(0.0, now - past)
    if passed < 60:
        return "just now"
    if passed < 3600:
        return f"{int(passed // 60)} min ago"
    if passed < 86400:
        return f"{int(passed // 3600)} h ago"
    return f"{count(int(passed // 86400), 'day')} ago"


Level = str
"""`info`, `warning` or `error`."""


def notice(event: Event) -> tuple[Level, str] | None:  # noqa: C901, PLR0911 - one case each, flat on purpose
    """What a person is told of an event beside the conversation itself, or None. Not cleaned for a screen yet."""
    match event:
        case Noted(to="model") | Noted(text=""):
            return None
        case Noted(text=text, level=level):
            return level, text
        case Retried(attempt=attempt, of=of, wait=wait, why=why):
            return "warning", f"{why.rstrip('.')}. Trying again in {wait:.0f} s ({attempt} of {of})."
        case Switched(by="resume"):
            return None
        case Switched():
            return "info", _switched(event)
        case Compacted(before_tokens=before, after_tokens=after):
            return "info", f"Conversation summed up: {short(before)} tokens became {short(after)}. Nothing is lost."
        case Rewound(conversation=conversation):
            return "info", f"Went back to an earlier point{' of the conversation' if conversation else ', files only'}."
        case ValveClosed(words=words, warning=True):
            return "warning", words
        case ValveClosed(words=words, raised=raised):
            return ("warning", f"{words} Going on.") if raised else None  # the end of the turn will tell
        case TurnEnded(why="done"):
            return None
        case TurnEnded():
            return ended(event)
        case Earlier(count=entries) if entries:
            return (
                "info",
                f"The beginning of this session was not loaded ({entries:,} entries, since summed up).",
            )
        case Lost(why=why):
            return "warning", f"A line of the session log could not be read: {why}."
        case _:
            return None


def _switched(event: Switched) -> str:
    changes = []
    if event.mode:
        changes.append(f"mode: {event.mode}")
    if event.model:
        changes.append(f"model: {event.model}")
    if event.effort:
        changes.append(f"effort: {event.effort}")
    if event.max_tokens:
        changes.append(f"room for an answer: {event.max_tokens:,} tokens")
    if event.without:
        changes.append(f"going on without: {', '.join(event.without)}")
    words = ", ".join(changes)
    return f"{words} ({event.why})" if event.why else words


def ended(event: TurnEnded) -> tuple[Level, str]:
    """How a turn that was not simply done has ended."""
    match event.why:
        case "interrupted":
            return "warning", "Interrupted. What was done so far is kept; say what to do instead."
        case "refused":
            return "warning", event.detail or "The model declined to answer. Try other words or another model."
        case "valve":
            return "warning", event.detail or "Stopped at a limit."
        case "failed":
            return "error", event.detail or "The turn failed."
        case _:
            return "info", ""


def closing(meter: Meter, tool_steps: int, took_ms: float) -> str:
    """`2 tool steps, 3 requests, 4,120 tokens (91 % cached), $0.01, 3.2 s`."""
    parts = [
        count(tool_steps, "tool step"),
        count(meter.requests, "request"),
        f"{count(meter.usage.total, 'token')} ({100 * meter.cached_share:.0f} % cached)",
        money(meter.cost),
        seconds(took_ms),
    ]
    return ", ".join(parts)


def standing(mode: str, model: str, meter: Meter, window: int) -> str:
    """The status in a line: `default, sonnet-5.5, context 12 %, $0.04`."""
    share = 100 * meter.context / window if window else 0.0
    return ", ".join((mode, model, f"context {share:.0f} %", money(meter.cost)))
