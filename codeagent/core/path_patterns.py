"""Path and host patterns of rules: gitignore syntax with anchors, and host names."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from functools import lru_cache

from msgspec import Struct

from codeagent.core.effects import Touch


class Anchors(Struct, frozen=True):
    """Absolute directories from which path patterns start: `/x` from the settings file's directory,
    which is the root unless a rule says otherwise, `~/x` from `home`, `x` from `cwd`.

    `cwd` is where the session began, not where the shell has gone since: else `cd` would undo a rule.
    """

    root: str
    home: str
    cwd: str


def spellings(touch: Touch, cwd: str, anchors: Anchors) -> set[str]:
    """The resolved path and the named one, made absolute without following links."""
    named = touch.named or touch.path
    if named == "~" or named.startswith("~/"):
        named = anchors.home + named[1:]
    return {touch.path, posixpath.normpath(posixpath.join(cwd or anchors.cwd, named))}


def path_matches(pattern: str, path: str, anchors: Anchors, base: str, *, wide: bool) -> bool:
    """Does an absolute path match? `wide` (deny and ask) ignores case and Unicode form, counts from the
    root as well as from `cwd`, and finds `dir/**` at any depth."""
    starts = _starts(pattern, anchors, base)
    if wide and starts[0][0] == anchors.cwd and not pattern.startswith(("/", "~")):
        text = starts[0][1]
        text = "**/" + text if text.endswith("/**") and not text.startswith("/") else text
        starts = [(anchors.cwd, text), (anchors.root, text)]
    return any(
        _below(_plain(top), _plain(text), _plain(path)) if wide else _below(top, text, path) for top, text in starts
    )


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _starts(text: str, anchors: Anchors, base: str) -> list[tuple[str, str]]:
    """The directory from which the pattern counts, and the pattern in gitignore syntax."""
    if text.startswith("//"):
        return [("/", text[1:])]
    if text == "~" or text.startswith("~/"):
        return [(anchors.home, text[1:] or "/**")]
    if text.startswith("/"):
        return [(base, text)]
    return [(anchors.cwd, text[1:] if text.startswith("./") else text)]


def _below(top: str, pattern: str, path: str) -> bool:
    stem = top.rstrip("/") + "/"
    return path.startswith(stem) and len(path) > len(stem) and _Pattern.of(pattern).matches(path[len(stem) :])


class _Pattern:
    """One gitignore pattern over paths relative to its anchor."""

    def __init__(self, pattern: str) -> None:
        from pathspec import GitIgnoreSpec  # 12 ms, and most sessions have no path rule

        self._spec = GitIgnoreSpec.from_lines([pattern])

    @staticmethod
    @lru_cache(maxsize=512)
    def of(pattern: str) -> _Pattern:
        return _Pattern(pattern)

    def matches(self, path: str) -> bool:
        return self._spec.match_file(path)


def host_matches(pattern: str, host: str) -> bool:
    """Hosts ignore case. `*.x` is any depth below x, not x itself; an inner `*` does not cross a dot."""
    pattern, host = pattern.lower().rstrip("."), host.lower().rstrip(".")
    if not re.fullmatch(r"[\w.:\[\]-]+", host):
        return False
    lead = r"(?:[^.]+\.)+" if pattern.startswith("*.") else ""
    rest = pattern[2:] if lead else pattern
    return re.fullmatch(lead + "[^.]*".join(re.escape(piece) for piece in rest.split("*")), host) is not None
