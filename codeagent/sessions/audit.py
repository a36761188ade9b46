"""The audit trail of a session: every effect with who authorised it, by which rule, and what it did to which file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from codeagent.core.clean import clean_line
from codeagent.core.effects import By, Decision
from codeagent.core.errors import SessionError
from codeagent.core.events import Decided, Entry, Switched, ToolFinished, ToolStarted
from codeagent.sessions import codec

RISKS = {1: "LOW", 2: "MEDIUM", 3: "HIGH"}
BY = {
    "builtin": "codeagent itself",
    "rule": "a rule",
    "mode": "the mode",
    "protected": "a protected place",
    "path": "its place",
    "grant": "an earlier yes",
    "dialog": "you",
    "hook": "a hook",
}
"""Who decided, in words."""


class Audited(Struct, frozen=True):
    """One decision and what came of it.

    `when` is seconds since the epoch, 0 when it is not known. `rule` stands at `where` (`file:line`); `stored` are the
    rules that "don't ask again" wrote. `before` and `after` are sha256 hashes of the file that it changed, empty where
    there was none. `outcome` is `done`, `failed`, `refused`, `timeout`, ... and `unknown` when it never came back.
    """

    when: float
    use_id: str
    tool: str
    title: str
    decision: Decision
    by: By
    why: str = ""
    rule: str = ""
    where: str = ""
    risk: str = "LOW"
    words: str = ""
    stored: tuple[str, ...] = ()
    outcome: str = ""
    before: str = ""
    after: str = ""
    mode: str = "default"
    key: str = ""
    """The call's idempotency key."""
    who: str = ""
    """Who answered in the person's place."""


def trail(timed: Iterable[tuple[float, Entry]]) -> list[Audited]:
    """Fold entries with their times into what was decided, in order."""
    rows: list[Audited] = []
    started: dict[str, str] = {}
    finished: dict[str, ToolFinished] = {}
    mode = "default"
    for when, entry in timed:
        match entry:
            case Switched(mode=changed) if changed:
                mode = changed
            case Decided():
                rows.append(_row(when, entry, mode))
            case ToolStarted():
                started[entry.use_id] = entry.key
            case ToolFinished():
                finished[entry.use_id] = entry
            case _:
                mode = getattr(entry, "mode", "") or mode
    return [_with_outcome(row, started, finished) for row in rows]


def _row(when: float, entry: Decided, mode: str) -> Audited:
    return Audited(
        when=when,
        use_id=entry.use_id,
        tool=entry.tool,
        title=f"{entry.agent}: {entry.title}" if entry.agent else entry.title,
        decision=entry.decision,
        by=entry.by,
        why=entry.why,
        rule=entry.rule,
        where=entry.where,
        risk=RISKS.get(entry.risk, str(entry.risk)),
        words=entry.words,
        stored=entry.stored,
        mode=mode,
        who=entry.who,
    )


def _with_outcome(row: Audited, started: dict[str, str], finished: dict[str, ToolFinished]) -> Audited:
    from msgspec.structs import replace

    if row.decision == "deny":
        return replace(row, outcome="refused")
    done = finished.get(row.use_id)
    if done is None:
        return replace(row, outcome="unknown" if row.use_id in started else "not run", key=started.get(row.use_id, ""))
    key = started.get(row.use_id, "")
    return replace(row, outcome=done.outcome, before=done.before, after=done.after, key=key)


def of_log(path: Path) -> list[Audited]:
    """The trail in a log file; lines that cannot be read are passed over. Raises SessionError."""
    return trail(_timed(path))


def _timed(path: Path) -> Iterator[tuple[float, Entry]]:
    try:
        with path.open("rb", buffering=1 << 20) as file:
            for line in file:
                with suppress(ValueError):
                    read = codec.decode(line)
                    yield read.at / 1000, read.entry
    except OSError as fault:
        raise SessionError(f"The session log {path} cannot be read: {fault.strerror or fault}.") from None


def words(row: Audited, stamp: str = "") -> Iterator[str]:
    """A row as lines of text; `stamp` is its time as text."""
    verb = {"allow": "allowed", "deny": "refused", "ask": "asked"}[row.decision]
    head = f"{stamp}  " if stamp else ""
    yield f"{head}{verb:<7}  {row.risk:<6}  {clean_line(row.title)}  ({row.outcome})"
    indent = " " * len(head)
    yield f"{indent}    by {clean_line(row.who) or BY.get(row.by, row.by)}: {clean_line(row.why)}"
    if row.rule and row.rule not in row.why:
        yield f"{indent}    rule {clean_line(row.rule)}  {clean_line(row.where)}"
    if row.stored:
        yield f"{indent}    stored {clean_line(', '.join(row.stored))}  {clean_line(row.where)}"
    if row.words:
        yield f"{indent}    {clean_line(row.who) or 'you'} said: {clean_line(row.words)}"
    if row.before or row.after:
        yield f"{indent}    sha256 {row.before[:16] or '(no file)'} -> {row.after[:16] or '(no file)'}"
