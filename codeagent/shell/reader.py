"""`read_line`: a shell line into what the gate judges. It reads, and never runs anything."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from itertools import pairwise

from codeagent.core.effects import Risk, ShellPart, ShellReading, Touch
from codeagent.shell.classify import Verdict, classify
from codeagent.shell.forbidden import forbidden, writes_device
from codeagent.shell.guess import expansions
from codeagent.shell.parse import Command, Line, Redirect, parse, warm
from codeagent.shell.wrappers import SHELLS, hands_on, program, scripts, suffixes, unwrap

__all__ = ["read_line", "warm"]

Words = tuple[str, ...]
Judge = Callable[[str, str], Touch]

_DEEPEST = 6
"""Scripts inside scripts (`bash -c "bash -c ..."`) that are followed."""
_MOST_DIRECTORIES = 4
"""Directories that a line may be in at one place, after `cd a; cd b ...`."""


def read_line(command: str, cwd: str, judge: Judge, git_inert: Callable[[], bool]) -> ShellReading:
    """Read a bash line.

    `judge(path, access)` places a path; `cwd` is absolute. `git_inert` says whether the
    repository's git configuration names no program; it is asked only when git would be read-only.
    A part is read-only only when its program, every option and every path are known to be harmless.
    """
    line = parse(command)
    search = _Search(cwd, judge)
    covers = [search.inside(found, line) for found in line.commands]
    parts: list[ShellPart] = []
    touches: dict[Touch, None] = {}
    places = _Places(cwd)
    doubt = line.why
    for found, covered in zip(line.commands, covers, strict=True):
        places.step(found.link)
        part, verdict = _part(found, covered, places, judge, git_inert)
        parts.append(part)
        touches.update(dict.fromkeys(verdict.touches))
        if part.words is None:
            doubt = doubt or part.why
        elif part.words[0] == "cd":
            places.enter(verdict.touches[-1] if verdict.readonly and verdict.touches else None)
    return ShellReading(tuple(parts), not doubt, doubt, search.reason, tuple(touches))


class _Places:
    """The directories in which the next command may run, as far as `cd` moved."""

    def __init__(self, cwd: str) -> None:
        self.now: tuple[str, ...] = (cwd,)
        self._else: tuple[str, ...] = (cwd,)
        self.moved = False
        """A cd ran before, or may have."""

    def step(self, link: str) -> None:
        """Pass an operator: only `&&` proves that the cd before it worked."""
        if link != "&&":
            self.now = self._else

    def enter(self, target: Touch | None) -> None:
        """A cd to `target`; None when it is not known where it leads."""
        self.moved = True
        before = self._else
        self.now = (target.path,) if target else ()
        self._else = tuple(dict.fromkeys((*before, *self.now)))
        if target is None or len(self._else) > _MOST_DIRECTORIES:
            self.now = self._else = ()


def _part(
    found: Command, covered: tuple[Words, ...], places: _Places, judge: Judge, git_inert: Callable[[], bool]
) -> tuple[ShellPart, Verdict]:
    def look(path: str) -> Touch:
        touches = [judge(posixpath.join(place, path), "read") for place in places.now]
        return next((touch for touch in touches if touch.place != "inside"), touches[0] if touches else _nowhere(path))

    known = tuple(word.value for word in found.words if word.value is not None)
    obstacle = _obstacle(found, look)
    if obstacle or len(known) != len(found.words) or not known:
        why = obstacle or "a word of it is only known when it runs"
        part = ShellPart(found.text, None, False, Risk.HIGH, why, covered)
        return part, Verdict(why, Risk.HIGH, _written(found, places, judge))
    verdict = classify(known, look, git_inert)
    if verdict.readonly and places.moved and "git" in known[:3]:
        verdict = Verdict("git after cd may work in another repository", Risk.HIGH, verdict.touches)
    if verdict.readonly and known[0] == "cd" and not _same_both_ways(known[1], places, judge):
        verdict = Verdict("cd through a link and back leads elsewhere", Risk.HIGH, verdict.touches)
    inputs = tuple(look(r.target.value or "") for r in found.redirects if r.op == "<")
    verdict = verdict._replace(touches=(*inputs, *verdict.touches))
    return ShellPart(found.text, known, verdict.readonly, verdict.risk, verdict.why, covered), verdict


def _nowhere(path: str) -> Touch:
    return Touch(path, "read", "outside", path, "is relative to a directory that is only known when it runs")


def _same_both_ways(path: str, places: _Places, judge: Judge) -> bool:
    """Bash's cd drops `link/..` by name, the system follows the link: both must lead to one place."""
    wanted = [posixpath.join(place, path) for place in places.now]
    return all(judge(posixpath.normpath(name), "read").path == judge(name, "read").path for name in wanted)


def _obstacle(found: Command, look: Callable[[str], Touch]) -> str:
    """What keeps the command's words from telling all that it does."""
    if found.link == "&":
        return "it runs beside a background job"
    if found.assignments:
        return f"it sets {found.assignments[0].partition('=')[0]} first"
    if found.body:
        return "it is fed a here-document"
    for redirect in found.redirects:
        if reason := _redirected(redirect, look):
            return reason
    return ""


def _redirected(redirect: Redirect, look: Callable[[str], Touch]) -> str:
    """What stands against a redirection; "" for `2>&1`, `>/dev/null` and reading a file inside."""
    target = redirect.target.value
    if target is None:
        return "it redirects to a name that is only known when it runs"
    if redirect.op == ">&" and target in {"1", "2"} and redirect.fd in {"", "1", "2"}:
        return ""
    if redirect.op in {">", ">>", "&>", "&>>"} and target == "/dev/null" and redirect.fd in {"", "1", "2"}:
        return ""
    if redirect.op == "<" and redirect.fd in {"", "0"}:
        touch = look(target)
        return "" if touch.place == "inside" else f"it reads {target}, which {touch.why or 'lies outside the project'}"
    return f"it redirects to {target}"


def _written(found: Command, places: _Places, judge: Judge) -> tuple[Touch, ...]:
    """The files that redirections of this command write or read, where their names are known."""
    named = [
        (r.target.value, "read" if r.op == "<" else "write")
        for r in found.redirects
        if not (r.op == ">&" and (r.target.value or "").isdigit())
    ]
    return tuple(
        judge(posixpath.join(place, target), access)
        for target, access in named
        if target not in {None, "/dev/null"}
        for place in places.now
        if target
    )


class _Search:
    """Looks at every command at every depth for deny rules and for the built-in deny."""

    def __init__(self, cwd: str, judge: Judge) -> None:
        self._judge = judge
        self._cwd = cwd
        self._variables = {"HOME": judge("~", "read").path, "PWD": cwd}
        self.reason = ""

    def inside(self, found: Command, line: Line, depth: int = 0) -> tuple[Words, ...]:
        """All word lists that this command stands for or hides, itself included."""
        for assignment in found.assignments:
            name, _, value = assignment.partition("=")
            self._variables[name.rstrip("+")] = " ".join(expansions(value, self._variables))
        for redirect in found.redirects:
            target = " ".join(expansions(redirect.target.raw, self._variables))
            self.reason = self.reason or writes_device(redirect.op, target)
        typed = tuple(word.raw if word.value is None else word.value for word in found.words)
        guessed = tuple(value for word in found.words for value in self._guess(word.raw, word.value))
        forms: dict[Words, None] = dict.fromkeys(form for form in (typed, guessed) if form)
        pending = list(forms)
        while pending and len(forms) < 200:
            words = pending.pop()
            for inner in self._unfold(words, found, line, depth):
                if inner and inner not in forms:
                    forms[inner] = None
                    pending.append(inner)
        for words in forms:
            self.reason = self.reason or forbidden(words, self._place)
        return tuple(forms)

    def _guess(self, raw: str, value: str | None) -> Words:
        if value is not None:
            return (value,)
        return expansions(
            self._variables["HOME"] + raw[1:] if raw == "~" or raw.startswith("~/") else raw, self._variables
        )

    def _place(self, path: str) -> Touch:
        if path == "~" or path.startswith("~/"):
            path = self._variables["HOME"] + path[1:]
        return self._judge(posixpath.join(self._cwd, path), "write")

    def _unfold(self, words: Words, found: Command, line: Line, depth: int) -> list[Words]:
        """Commands one layer further in."""
        name = program(words[0])
        inner = [unwrap(words), *suffixes(words), *hands_on(words), *_without_options(words)]
        if name != words[0]:
            inner.append((name, *words[1:]))
        fed = _fed_by(found, line)
        if name == "xargs" and (command := unwrap(words)):
            inner += [command + text for text in fed]
        texts = scripts(words)
        if name in SHELLS or name in {"source", "."}:
            texts = [*texts, found.body, *(" ".join(text) for text in fed)]
        for text in texts if depth < _DEEPEST else ():
            if text:
                nested = parse(text)
                inner += [cover for command in nested.commands for cover in self.inside(command, nested, depth + 1)]
        return inner


def _fed_by(found: Command, line: Line) -> list[Words]:
    """What `echo` or `printf` writes into the pipe before this command."""
    return [
        tuple(word.value or word.raw for word in left.words[1:])
        for left, right in pairwise(line.commands)
        if right is found and found.link in {"|", "|&"} and left.words and left.words[0].value in {"echo", "printf"}
    ]


def _without_options(words: Words) -> list[Words]:
    """`git --no-pager push` is also `git push`, `docker -H host run` also `docker run`: for deny rules."""
    found: list[Words] = []
    for at in range(1, min(len(words), 10)):
        if not (words[at].startswith("-") or words[at - 1].startswith("-")):
            break
        if not words[at].startswith("-"):
            found.append((words[0], *words[at:]))
    return found
