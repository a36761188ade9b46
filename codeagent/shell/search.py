"""Every command at every depth of a line: for ask and deny rules, and for the built-in deny."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from codeagent.core.effects import Touch
from codeagent.shell.forbidden import forbidden, writes_device
from codeagent.shell.guess import expansions
from codeagent.shell.line import Command, Line
from codeagent.shell.parse import parse
from codeagent.shell.wrappers import SHELLS, hands_on, program, scripts, suffixes, unwrap

Words = tuple[str, ...]

_DEEPEST = 6
"""Scripts inside scripts (`bash -c "bash -c ..."`) that are followed."""
_MOST_FORMS = 200
"""Word lists of one command that are looked at."""
_MOST_SCRIPTS = 40
"""Scripts of one line that are read."""


class Search:
    """Reads one line; `reason` is then the built-in deny's reason, or "".

    Where a word is unknown the best guess stands for it: a guess can only refuse.
    """

    def __init__(self, cwd: str, judge: Callable[[str, str], Touch]) -> None:
        self._judge = judge
        self._variables = {"HOME": judge("~", "read").path, "PWD": cwd}
        self._places: list[str] = [cwd]
        self._scripts = 0
        self.reason = ""

    def line(self, line: Line, depth: int = 0) -> list[tuple[Words, ...]]:
        """For each command of the line, all word lists that it stands for or hides, itself included."""
        outer = list(self._places)
        forks = bool(re.search(r"(?<!\$)[(]|(?<![|])[|](?![|])", line.text))
        found: list[tuple[Words, ...]] = []
        before: Command | None = None
        for command in line.commands:
            forms = self._forms(command, before, depth)
            self._move(command, forms[0] if forms else (), forks)
            found.append(forms)
            before = command
        self._places = outer
        return found

    def _forms(self, command: Command, before: Command | None, depth: int) -> tuple[Words, ...]:
        self._note(command)
        typed = tuple(word.raw if word.value is None else word.value for word in command.words)
        guessed = tuple(value for word in command.words for value in self._guess(word.raw, word.value))
        whole = expansions(command.text, self._variables) if command.odd else ()
        forms: dict[Words, None] = dict.fromkeys(form for form in (guessed, typed, whole) if form)
        fed = _fed(before, command)
        read: set[str] = set()
        pending = list(forms)
        while pending and len(forms) < _MOST_FORMS:
            words = pending.pop()
            inner = [*_one_layer(words, fed), *self._scripted(words, [command.body, *map(" ".join, fed)], read, depth)]
            fresh = [form for form in inner if form and form not in forms]
            forms.update(dict.fromkeys(fresh))
            pending.extend(fresh)
        for words in forms:
            self.reason = self.reason or forbidden(words, self._place)
        shorter = [form for words in forms for form in _without_options(words)]
        return tuple(dict.fromkeys([*forms, *shorter]))

    def _note(self, command: Command) -> None:
        """Remember assignments, and look at redirections."""
        declared = [word.raw for word in command.words[1:] if command.words[0].value in {"export", "declare", "local"}]
        for assignment in (*command.assignments, *declared):
            name, equals, value = assignment.partition("=")
            if equals:
                self._variables[name.rstrip("+")] = " ".join(expansions(value, self._variables))
        for redirect in command.redirects:
            target = " ".join(expansions(redirect.target.raw, self._variables))
            self.reason = self.reason or writes_device(redirect.op, target)

    def _scripted(self, words: Words, fed: list[str], read: set[str], depth: int) -> list[Words]:
        """The commands in texts that a shell among these words would run."""
        runs_input = program(words[0]) in SHELLS or words[0] in {"source", ".", "at", "batch"}
        texts = {*scripts(words), *(fed if runs_input else ())} - read - {""}
        read |= texts
        if depth >= _DEEPEST or self._scripts + len(texts) > _MOST_SCRIPTS:
            return []
        self._scripts += len(texts)
        return [form for text in sorted(texts) for forms in self.line(parse(text), depth + 1) for form in forms]

    def _guess(self, raw: str, value: str | None) -> Words:
        if value is not None:
            return (value,)
        return expansions(re.sub(r"^~(?=/|$)", lambda _: self._variables["HOME"], raw), self._variables)

    def _move(self, command: Command, words: Words, forks: bool) -> None:
        """Follow a cd, taking it to work. Where a part of the line runs aside, both places count."""
        if not words or words[0] not in {"cd", "pushd"}:
            return
        if len(command.words) > 1 and not any(words[1:]):
            self._places = self._places if forks else []
            return
        target = words[1] if len(words) > 1 else self._variables["HOME"]
        moved = [posixpath.join(place, target) for place in self._places]
        self._places = (moved + self._places)[:8] if forks else moved

    def _place(self, path: str) -> Touch:
        if path == "~" or path.startswith("~/"):
            path = self._variables["HOME"] + path[1:]
        places = [""] if posixpath.isabs(path) else self._places
        touches = [self._judge(posixpath.join(place, path), "write") for place in places]
        return next((touch for touch in touches if touch.vital), Touch(path, "write", "outside", path))


def _one_layer(words: Words, fed: list[Words]) -> list[Words]:
    """Commands that these words run or are another spelling of."""
    inner = [unwrap(words), *suffixes(words), *hands_on(words)]
    name = program(words[0])
    if name != words[0]:
        inner.append((name, *words[1:]))
    if name == "xargs" and (command := unwrap(words)):
        inner += [command + text for text in fed]
    return inner


def _fed(before: Command | None, command: Command) -> list[Words]:
    """What `echo` or `printf` writes into the pipe before this command."""
    if before is None or command.link not in {"|", "|&"} or not before.words:
        return []
    prints = before.words[0].value in {"echo", "printf"}
    return [tuple(word.value or word.raw for word in before.words[1:])] if prints else []


def _without_options(words: Words) -> list[Words]:
    """`git --no-pager push` is also `git push`, `docker -H host run` also `docker run`: for deny rules.

    An option may take the next word, or not: both readings are given.
    """
    found: list[Words] = []
    plain = 2
    for at, word in enumerate(words[1:10], start=1):
        if word.startswith("-"):
            plain = 0
            continue
        if plain == 2:
            break
        plain += 1
        found.append((words[0], *words[at:]))
    return found
