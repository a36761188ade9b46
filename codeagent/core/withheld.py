"""Keeps the values of our own credentials out of everything: replaced once, before an event is recorded or shown."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from codeagent.core.events import Entry, Event, Fact, Raw, TextDelta, ThinkingDelta, ToolProgress
from codeagent.core.rewriting import changed, rewritten

INSTEAD = "[key withheld]"

SHORTEST = 8
"""Characters below which a value is not looked for: it would hit by chance."""


class Withheld:
    """A filter of events: the same event, or one in which each secret is replaced by words."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        held = {secret for secret in secrets if len(secret) >= SHORTEST}
        self._secrets = sorted(held, key=len, reverse=True)  # one may be part of another
        self._encoded = [msgspec.json.encode(secret)[1:-1] for secret in self._secrets]

    def __call__(self, event: Event) -> Event:
        """The event as it may be seen."""
        if not self._secrets:
            return event
        if isinstance(event, Fact):
            return rewritten(event, self._cleaned) if self._holds(event) else event
        if isinstance(event, TextDelta | ThinkingDelta | ToolProgress):
            return msgspec.structs.replace(event, text=self._cleaned(event.text))
        return Raw(changed(event.event, self._cleaned)) if isinstance(event, Raw) else event

    def _holds(self, event: Entry) -> bool:
        try:
            data = msgspec.json.encode(event)
        except UnicodeEncodeError:  # a lone surrogate: looked through the long way
            return True
        except RecursionError:
            return False  # it cannot be recorded either
        return any(secret in data for secret in self._encoded)

    def _cleaned(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, INSTEAD)
        return text
