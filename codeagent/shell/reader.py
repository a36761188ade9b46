"""`read_line`: a shell line into what the gate judges. It reads, and never runs anything."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from codeagent.core.effects import Risk, ShellPart, ShellReading, Touch
from codeagent.shell.classify import Verdict, classify
from codeagent.shell.parse import Command, Redirect, parse, warm
from codeagent.shell.search import Search, Words

__all__ = ["read_line", "warm"]

Judge = Callable[[str, str], Touch]

_MOST_DIRECTORIES = 4
"""Directories that a line may be in at one place, after `cd a; cd b ...`."""


def read_line(command: str, cwd: str, judge: Judge, git_inert: Callable[[], bool]) -> ShellReading:
    """Read a bash line.

    `judge(path, access)` places a path; `cwd` is absolute. `git_inert` says whether the
    repository's git configuration names no program; it is asked only when git would be read-only.
    A part is read-only only when its program, every option and every path are known to be harmless.
    """
    line = parse(command)
    search = Search(cwd, judge)
    covers = search.line(line)
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
    covered = tuple(words for words in covered if words != known)
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
