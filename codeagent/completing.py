"""What could come next on a command line: read off the parsers themselves, so that it is never out of date."""

from __future__ import annotations

import argparse
import importlib
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, cast

from codeagent import flags
from codeagent.core.clean import clean_line
from codeagent.core.modes import EFFORTS, MODES
from codeagent.flags import Kind, Parser
from codeagent.subcommands import COMMANDS

Word = tuple[str, str]
"""A word that could stand here, and a line about it."""

SESSIONS = 60
"""How many sessions are offered, the latest ones."""

_METAVARS: Mapping[str, Kind] = {
    "DIR": "directory",
    "FILE": "file",
    "FILE|JSON": "file",
    "ID": "session",
    "MODEL": "model",
    "MODE": MODES,
    "LEVEL": EFFORTS,
    "stdio": ("stdio",),
}
"""What stands for the value in a flag's help -> what it is."""

_PLAIN_ID = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)


class Offer(NamedTuple):
    """What a shell shows. `kind` is `words`, or `files` or `directories`, which the shell knows better."""

    kind: str
    words: tuple[Word, ...] = ()


FILES, NOTHING = Offer("files"), Offer("words")


def offer(words: Sequence[str], environ: Mapping[str, str]) -> Offer:
    """What could stand in place of the last of these words, which follow `codeagent` and may be empty."""
    joined, parted = _joined(words)
    *before, last = joined or [""]
    last = last.lstrip("'\"")
    if not before and not last.startswith("-"):
        found = [(name, about) for name, about in COMMANDS.items() if name.startswith(last)]
        return Offer("words", tuple(found)) if found else FILES
    command = before[0] if before and before[0] in COMMANDS else ""
    parser = _parser(command, before[1:]) if command else flags.parser()
    line = _Line(parser, before[1:] if command else before, environ)
    return line.offer(last, whole=not parted)


def _parser(command: str, words: Sequence[str]) -> Parser:
    """The parser of a subcommand whose line goes on with these words: the first that is no flag names the act."""
    module = importlib.import_module(f"codeagent.subcommands.{command}")
    made = cast("Callable[[str], Parser]", module.parser)
    acts = {act for kind in made("").takes if isinstance(kind, tuple) for act in kind}
    return made(next((word for word in words if word in acts), ""))


def _joined(words: Sequence[str]) -> tuple[list[str], bool]:
    """Words that bash parts at `=` and `:` as one again; and whether the last one was parted so."""
    joined: list[str] = []
    sign = parted = False
    for word in words:
        before = joined[-1] if joined else ""
        parted = sign
        sign = (word == "=" and before.startswith("--")) or (word == ":" and before.endswith("script"))
        parted = parted or sign
        if parted:
            joined[-1] += word
        else:
            joined.append(word)
    return joined, parted


class _Line:
    """A line read up to the word that is being typed."""

    def __init__(self, parser: Parser, before: Sequence[str], environ: Mapping[str, str]) -> None:
        self._parser, self._environ = parser, environ
        self._given: dict[str, str] = {}
        self._words: list[str] = []
        self._open: argparse.Action | None = None
        self._only_words = False
        for word in before:
            self._take(word)

    def _take(self, word: str) -> None:
        opened, self._open = self._open, None
        if opened is not None and not (opened.nargs == "?" and word.startswith("-")):
            self._given[opened.dest] = word
        elif self._only_words or not word.startswith("-") or word == "-":
            self._words.append(word)
        elif word == "--":
            self._only_words = True
        else:
            name, equals, value = word.partition("=")
            action = self._flag(name)
            if equals and action is not None:
                self._given[action.dest] = value
            elif action is not None and action.nargs != 0:
                self._open = action

    def _flag(self, name: str) -> argparse.Action | None:
        return self._parser.flags.get(flags.kebab([name], self._parser.flags)[0])

    def offer(self, last: str, *, whole: bool) -> Offer:
        """What could stand for `last`; behind `--flag=` the flag is said again when the shell replaces the `whole`."""
        if self._open is not None and not (self._open.nargs == "?" and last.startswith("-")):
            return self._values(self._open, last)
        if last.startswith("-") and not self._only_words:
            name, equals, value = last.partition("=")
            if not equals:
                return _beginning(last, [(each, action.help or "") for each, action in self._parser.flags.items()])
            action = self._flag(name)
            if action is None:
                return NOTHING
            found = self._values(action, value)
            start = f"{name}=" if whole else ""
            return Offer(found.kind, tuple((start + word, about) for word, about in found.words))
        if len(self._words) < len(self._parser.takes):
            return self._of(self._parser.takes[len(self._words)], last)
        return FILES if self._parser.prog == "codeagent" else NOTHING

    def _values(self, action: argparse.Action, last: str) -> Offer:
        if action.choices is not None:
            return _beginning(last, [(str(choice), "") for choice in action.choices])
        kind = _METAVARS.get(str(action.metavar))
        return self._of(kind, last) if kind else NOTHING

    def _of(self, kind: Kind, last: str) -> Offer:
        match kind:
            case tuple():
                return _beginning(last, [(word, "") for word in kind])
            case "file":
                return FILES
            case "directory":
                return Offer("directories")
            case "session":
                return _beginning(last, self._sessions(last))
            case "model":
                return FILES if last.startswith("script:") else _beginning(last, _models())
            case "key":
                return _beginning(last, _keys())
            case "value":
                return _beginning(last, _values_of(self._words[-1]))
            case _:
                return _beginning(last, self._topics())

    @property
    def _project(self) -> str:
        return self._given.get("cwd") or "."

    def _sessions(self, last: str) -> Iterable[Word]:
        """Ids with names as their description; names too, once one is begun."""
        from codeagent.sessions import index
        from codeagent.subcommands import place

        listed = index.listed(place.directory(Namespace(cwd=self._project), self._environ))[:SESSIONS]
        for each in listed:
            if _PLAIN_ID.fullmatch(each.id):
                yield each.id, each.title
        if last:
            yield from ((title, each.id) for each in listed if (title := clean_line(each.title)))

    def _topics(self) -> Iterable[Word]:
        from codeagent.memory.layout import Layout

        folder = Layout(Path(self._project).resolve()).memory
        names = (file.stem for file in folder.glob("*.md") if file.stem != "MEMORY")
        return [(name, "") for name in sorted(names) if _PLAIN_ID.fullmatch(name)]


def _models() -> Iterable[Word]:
    from codeagent.models import catalog

    yield from ((alias, model) for alias, model in catalog.ALIASES.items())
    yield from catalog.listed()
    yield "offline", "a small stand-in that is no language model"
    yield "script:", "a recording: script:FILE"


def _keys() -> Iterable[Word]:
    from codeagent.setting_keys import KEYS

    return [(key.name, key.wanted) for key in KEYS.values()]


def _values_of(name: str) -> Iterable[Word]:
    from codeagent.setting_keys import KEYS

    key = KEYS.get(name)
    if key is None:
        return ()
    if key.name in ("model", "fallbackModel"):
        return _models()
    return [(word, "") for word in (("true", "false") if key.kind == "switch" else key.choices)]


def _beginning(last: str, words: Iterable[Word]) -> Offer:
    """Those that begin with what was typed; a disk that cannot be read offers nothing."""
    with suppress(OSError):
        return Offer("words", tuple((word, clean_line(about)) for word, about in words if word.startswith(last)))
    return NOTHING
