"""The figures of an exact prefix cache, as the API counts them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LOOK_BACK = 20
"""Blocks that a cache read looks back from a mark."""

CHARS_PER_TOKEN = 4


class PrefixCache:
    """An exact prefix cache: a mark writes, a read finds the longest written prefix near a mark."""

    def __init__(self) -> None:
        self._written: set[int] = set()

    def figures(self, body: Any) -> dict[str, Any]:
        """Usage of the prompt in tokens of four characters."""
        digest = hash(body.get("model"))
        prefixes: list[tuple[int, int]] = []
        marks: list[tuple[int, str]] = []
        chars = 0
        for part in _parts(body):
            mark = part.get("cache_control")
            text = repr({k: v for k, v in part.items() if k != "cache_control"})
            digest = hash((digest, text))
            chars += len(text)
            prefixes.append((digest, chars // CHARS_PER_TOKEN))
            if mark:
                marks.append((len(prefixes) - 1, mark.get("ttl", "5m")))
        read = max((self._read(prefixes, at) for at, _ in marks), default=0)
        made = prefixes[marks[-1][0]][1] - read if marks else 0
        self._written.update(prefixes[at][0] for at, _ in marks)
        hour = made if marks and marks[-1][1] == "1h" else 0
        return {
            "input_tokens": chars // CHARS_PER_TOKEN - read - made,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": made,
            "cache_creation": {"ephemeral_5m_input_tokens": made - hour, "ephemeral_1h_input_tokens": hour},
        }

    def _read(self, prefixes: Sequence[tuple[int, int]], mark: int) -> int:
        for at in range(mark, max(-1, mark - LOOK_BACK), -1):
            if prefixes[at][0] in self._written:
                return prefixes[at][1]
        return 0


def _parts(body: Any) -> Iterator[Mapping[str, Any]]:
    """The prompt's parts in the order in which it is read."""
    yield from body.get("tools") or ()
    system = body.get("system") or ()
    yield from [{"type": "text", "text": system}] if isinstance(system, str) else system
    for message in body.get("messages") or ():
        content = message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield {"role": message.get("role"), **block}
