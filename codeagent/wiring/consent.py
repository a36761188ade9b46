"""Between what a directory brings along and the person's yes or no to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from codeagent.core.effects import AskTrust, Brought
from codeagent.trust import Trust, digest_of

NAMED = 3
"""Files that a note names; the others are counted."""


class Consent:
    """For one project. `gather` finds what it brings; `given` says that it is trusted for this run in any case."""

    def __init__(self, project: Path, trust: Trust, gather: Callable[[], Iterable[Brought]], *, given: bool) -> None:
        self._project, self._trust, self._gather, self.given = project, trust, gather, given

    @property
    def settings(self) -> bool:
        """Whether the settings files that lie in the project count."""
        return self.given or self._trust.covers(self._project)

    def believes(self, path: Path, digest: str) -> bool:
        """Whether this content of a file of the project was accepted."""
        return self.given or self._trust.believes(path, digest)

    def believes_file(self, path: Path) -> bool:
        """Whether this file, as it is now, was accepted. A link never is, unless everything is for this run."""
        return self.given or (not path.is_symlink() and self._trust.believes(path, digest_of(path)))

    def everything(self) -> AskTrust:
        """All that the directory brings, known or not."""
        found = tuple(self._gather())
        return AskTrust(str(self._project), tuple(b for b in found if b.words), tuple(b for b in found if not b.words))

    def question(self) -> AskTrust | None:
        """What the person has to see before it acts, None when there is nothing new. Files that want nothing pass."""
        news = () if self.given else self._trust.news(self._gather())
        others = tuple(each for each in news if not each.words)
        if len(others) < len(news):
            return AskTrust(str(self._project), tuple(each for each in news if each.words), others)
        if others:
            with suppress(OSError):
                self._trust.accept(others)
        return None

    def keep(self, question: AskTrust, *, yes: bool) -> None:
        """Remember the answer. Raises OSError."""
        if yes:
            self._trust.accept((*question.items, *question.others))
        else:
            self._trust.refuse(question.items)

    def notes(self) -> Iterable[str]:
        """What the directory brings and does not get, and what is wrong with the memory of answers, in words."""
        if problem := self._trust.problem:
            yield problem
        items = () if self.given else self.everything().items
        out = [each for each in items if not self._trust.believes(Path(each.path), each.digest)]
        if out:
            names = ", ".join(each.path.removeprefix(f"{self._project}/") for each in out[:NAMED])
            more = f" and {len(out) - NAMED} more" if len(out) > NAMED else ""
            how = "To see it: codeagent trust; for one run: --trust"
            yield f"Not in force, because this directory is not trusted: {names}{more}. {how}"
