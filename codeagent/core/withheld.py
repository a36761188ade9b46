"""Keeps the values of our own credentials out of everything: replaced once, before an event is recorded or shown.

A value may come in pieces. The end of a piece that could be the beginning of a value is held back until what follows
tells what it is, so that no piece of a value is seen before the whole of it is replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from codeagent.core.events import (
    Asked,
    AssistantSaid,
    CallDelta,
    Compacted,
    Entry,
    Event,
    Fact,
    Heard,
    Raw,
    Retried,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    TurnEnded,
)
from codeagent.core.rewriting import changed, rewritten

INSTEAD = "[key withheld]"

SHORTEST = 8
"""Characters below which a value is not looked for: it would hit by chance."""

Piece = TextDelta | ThinkingDelta | ToolProgress | Heard
_REPLY = ("text", "thinking", "raw")
"""Streams that belong to the reply that is being given."""


class Values:
    """The values that are withheld, also as they stand within JSON."""

    def __init__(self, values: Iterable[str]) -> None:
        spelt = {form for value in values if len(value) >= SHORTEST for form in (value, *_in_json(value))}
        self.all = sorted(spelt, key=lambda value: (-len(value), value))  # one may be part of another
        self._any = re.compile("|".join(map(re.escape, self.all)))
        self._firsts = frozenset(value[0] for value in self.all)

    def without(self, text: str) -> str:
        """The text with each value replaced by words."""
        return self._any.sub(INSTEAD, text)

    def parted(self, text: str) -> tuple[str, str]:
        """What can be told of a text that goes on, and the rest as it is: what may be the beginning of a value."""
        ready: list[str] = []
        place = 0
        while True:
            held = self._beginning(text, place)
            found = self._any.search(text, place)
            if found is None or found.start() >= held:
                return "".join((*ready, text[place:held])), text[held:]
            ready += [text[place : found.start()], INSTEAD]
            place = found.end()

    def _beginning(self, text: str, place: int) -> int:
        """Where the longest end of the text starts that a value begins with, and that is not the whole value."""
        for start in range(max(place, len(text) - len(self.all[0]) + 1), len(text)):
            if text[start] in self._firsts and self._begins(text[start:]):
                return start
        return len(text)

    def _begins(self, end: str) -> bool:
        return any(value.startswith(end) and value != end for value in self.all)


class Withheld:
    """A filter of events: what may be seen of each, in order. It remembers what it holds back of pieces.

    Given one event it gives those that are to be recorded or shown now: none, when all of it is held back; a piece
    that was held back before it, when what follows ends that stream.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._values = Values(secrets)
        self._encoded = [msgspec.json.encode(value)[1:-1] for value in self._values.all]
        self._held: dict[str, tuple[Piece | Raw, str]] = {}
        """By stream its latest piece, and what of it was not told."""

    def __call__(self, event: Event) -> Iterator[Event]:
        """What may be seen now."""
        if not self._values.all:
            yield event
            return
        if isinstance(event, AssistantSaid | Retried | TurnEnded):
            # Not told: its rest never comes, and the reply has the words, whole; half a value must not stay in the log.
            self._held.pop("heard", None)
            self._held.pop("heard thinking", None)
        for stream in self._ended(event):
            yield from self._rest(stream)
        if isinstance(event, TextDelta | ThinkingDelta | ToolProgress | Heard | Raw):
            yield from self._piece(event)
        elif isinstance(event, Fact) and self._holds(event):
            yield rewritten(event, self._values.without)
        else:
            yield event

    def _ended(self, event: Event) -> Iterable[str]:
        """The streams that this event ends."""
        match event:
            case TextDelta():
                return ("thinking",)
            case ThinkingDelta():
                return ("text",)
            case CallDelta():
                return ("text", "thinking")
            case ToolFinished(use_id=use_id):
                return (f"call {use_id}",)
            case Raw(event=raw) if self._another_block(raw):
                return ("raw",)
            case AssistantSaid() | Retried() | Asked() | Compacted():
                return _REPLY
            case TurnEnded():
                return tuple(self._held)
            case _:
                return ()

    def _another_block(self, raw: Mapping[str, Any]) -> bool:
        """Whether it goes on with something else than the words that are held; a ping may come anywhere."""
        held = self._held.get("raw")
        if held is None or not isinstance(held[0], Raw) or raw.get("type") == "ping":
            return False
        return not _words_of(raw) or held[0].event.get("index") != raw.get("index")

    def _piece(self, piece: Piece | Raw) -> Iterator[Event]:
        text = _text(piece)
        if isinstance(piece, Raw) and not text:
            yield Raw(changed(piece.event, self._values.without))
            return
        stream = _stream(piece)
        before = self._held.pop(stream, None)
        ready, held = self._values.parted((before[1] if before else "") + text)
        if held:
            self._held[stream] = piece, held
        if ready or not text:
            yield _with(piece, ready)

    def _rest(self, stream: str) -> Iterator[Event]:
        """What was held back of a stream that goes no further: it was no value, or only a part of one came."""
        if stream in self._held:
            piece, held = self._held.pop(stream)
            yield _with(piece, self._values.without(held))

    def _holds(self, event: Entry) -> bool:
        try:
            data = msgspec.json.encode(event)
        except UnicodeEncodeError:  # a lone surrogate: looked through the long way
            return True
        except RecursionError:
            return False  # it cannot be recorded either
        return any(secret in data for secret in self._encoded)


def _in_json(value: str) -> Iterator[str]:
    for ascii_only in (False, True):
        yield json.dumps(value, ensure_ascii=ascii_only)[1:-1]


def _stream(piece: Piece | Raw) -> str:
    match piece:
        case TextDelta():
            return "text"
        case ThinkingDelta():
            return "thinking"
        case Heard(thinking=thinking):
            return "heard thinking" if thinking else "heard"
        case ToolProgress(use_id=use_id):
            return f"call {use_id}"
        case Raw():
            return "raw"


def _text(piece: Piece | Raw) -> str:
    return _words_of(piece.event) if isinstance(piece, Raw) else piece.text


def _with(piece: Piece | Raw, text: str) -> Event:
    """The same piece with another text."""
    if not isinstance(piece, Raw):
        return replace(piece, text=text)
    delta = piece.event["delta"]
    return Raw({**piece.event, "delta": {**delta, _field(delta): text}})


_FIELDS = ("text", "thinking", "partial_json")
"""What a provider's delta carries words in."""


def _field(delta: Mapping[str, Any]) -> str:
    return next((name for name in _FIELDS if isinstance(delta.get(name), str)), "")


def _words_of(raw: Mapping[str, Any]) -> str:
    """The words of a provider's stream event, empty for one that carries none."""
    delta = raw.get("delta")
    name = _field(delta) if isinstance(delta, Mapping) else ""
    return str(delta[name]) if name and isinstance(delta, Mapping) else ""
