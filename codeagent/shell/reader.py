"""`read_line`: a shell line into what the gate judges. It reads, and never runs anything."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from codeagent.core.effects import Risk, ShellPart, ShellReading, Touch
from codeagent.shell.classify import Finding, classify
from codeagent.shell.line import Command, Redirect
from codeagent.shell.options import listed
from codeagent.shell.parse import parse, warm
from codeagent.shell.search import Search, Words

__all__ = ["read_line", "warm"]

Judge = Callable[[str, str], Touch]

_DISTURBERS = listed(
    ". alias bind builtin command enable eval exec hash mapfile popd pushd read readarray set shopt source trap unalias"
)
"""Builtins after which another word may name another program, or a relative path another file."""
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
    disturbed = False
    for found, covered in zip(line.commands, covers, strict=True):
        places.step(found.link)
        part, finding = _part(found, covered, places, judge, git_inert)
        if disturbed and part.readonly:
            part = ShellPart(
                part.text, part.words, False, Risk.HIGH, "an earlier part may change what it means", covered
            )
        parts.append(part)
        touches.update(dict.fromkeys(finding.touches))
        if part.words is None:
            doubt = doubt or part.why
        elif part.words[0] == "cd":
            target = part.words[1] if part.readonly else None
            spots = () if target is None else tuple(judge(spot, "read").path for spot in places.all(target))
            places.enter(spots, aside=found.link in {"|", "|&", "||"})
        disturbed = disturbed or not (part.readonly or part.words is None or part.words[0] not in _DISTURBERS)
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

    def all(self, path: str) -> list[str]:
        """The path as seen from each of them."""
        return [posixpath.join(place, path) for place in self.now]

    def enter(self, targets: tuple[str, ...], *, aside: bool) -> None:
        """A cd to one of `targets`; none when it is not known where it leads.

        `aside`: in a pipe it moves nobody else, and behind `||` it may not have run.
        """
        self.moved = True
        self._else = tuple(dict.fromkeys((*self._else, *targets)))
        self.now = self._else if aside else targets
        if not targets or len(self._else) > _MOST_DIRECTORIES:
            self.now = self._else = ()


def _part(
    found: Command, covered: tuple[Words, ...], places: _Places, judge: Judge, git_inert: Callable[[], bool]
) -> tuple[ShellPart, Finding]:
    def look(path: str) -> Touch:
        touches = [judge(spot, "read") for spot in places.all(path)]
        return next((touch for touch in touches if touch.place != "inside"), touches[0] if touches else _nowhere(path))

    known = tuple(word.value for word in found.words if word.value is not None)
    obstacle = _obstacle(found, look)
    if obstacle or len(known) != len(found.words) or not known:
        why = obstacle or "a word of it is only known when it runs"
        part = ShellPart(found.text, None, False, Risk.HIGH, why, covered)
        return part, Finding(why, Risk.HIGH, _written(found, places, judge))
    covered = tuple(words for words in covered if words != known)
    finding = classify(known, look, git_inert)
    if finding.readonly and places.moved and "git" in known:
        finding = Finding("git after cd may work in another repository", Risk.HIGH, finding.touches)
    if finding.readonly and known[0] == "cd" and not _without_links(known[1], places, judge):
        finding = Finding("cd through a link is not followed", Risk.HIGH, finding.touches)
    inputs = tuple(look(r.target.value or "") for r in found.redirects if r.op == "<")
    finding = finding._replace(touches=(*inputs, *finding.touches))
    if inputs and not finding.readonly:
        # A rule for `sh` is no rule for `sh < file`.
        return ShellPart(found.text, None, False, Risk.HIGH, "it is fed a file", (known, *covered)), finding
    return ShellPart(found.text, known, finding.readonly, finding.risk, finding.why, covered), finding


def _nowhere(path: str) -> Touch:
    return Touch(path, "read", "outside", path, "is relative to a directory that is only known when it runs")


def _without_links(path: str, places: _Places, judge: Judge) -> bool:
    """After `cd link`, bash's `cd ..` leaves by name and `cat ../x` by the real parent: not followed."""
    return all(judge(spot, "read").path == posixpath.normpath(spot) for spot in places.all(path))


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
    touches: list[Touch] = []
    for redirect in found.redirects:
        target = redirect.target.value
        if target in {None, "", "/dev/null"} or (redirect.op == ">&" and target and target.isdigit()):
            continue
        access = "read" if redirect.op == "<" else "write"
        touches.extend(judge(spot, access) for spot in places.all(target or ""))
    return tuple(touches)
