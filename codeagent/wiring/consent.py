"""Between what a directory brings along and the person's yes or no to it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from codeagent.core.effects import AskTrust, Brought
from codeagent.host.durable import read_regular
from codeagent.trust import LARGEST, Trust

NAMED = 3
"""Files that a note names; the others are counted."""


class Consent:
    """For one project. `gather` finds what it brings; `given` says that it is trusted for this run in any case.

    It is gathered once: the question and the notes speak of the same content, and what counts is its digest.
    """

    def __init__(self, project: Path, trust: Trust, gather: Callable[[], Iterable[Brought]], *, given: bool) -> None:
        self._project, self._trust, self._gather, self.given = project, trust, gather, given
        self._found: tuple[Brought, ...] | None = None

    def covers(self, files: Mapping[str, str]) -> bool:
        """Whether all of these count: files in the project by path, with the digest of what was read of them."""
        return self.given or self._trust.covers(files)

    def believes(self, path: Path, digest: str) -> bool:
        """Whether this content of a file of the project was accepted."""
        return self.given or self._trust.believes(path, digest)

    def content(self, path: Path) -> bytes | None:
        """What is in this file, if that was accepted. A link never is, unless everything is for this run.

        The bytes given are the ones that were judged. Raises OSError where all is accepted and it cannot be read.
        """
        if self.given:
            return read_regular(path, LARGEST)[0]
        try:
            data = read_regular(path, LARGEST, follow=False)[0]
        except OSError:
            return None
        return data if self._trust.believes(path, hashlib.sha256(data).hexdigest()) else None

    def everything(self) -> AskTrust:
        """All that the directory brings, known or not."""
        found = self._all()
        return AskTrust(str(self._project), tuple(b for b in found if b.words), tuple(b for b in found if not b.words))

    def question(self) -> AskTrust | None:
        """What the person has to see before it acts, None when there is nothing new. Files that want nothing pass."""
        news = () if self.given else self._trust.news(self._all())
        others = tuple(each for each in news if not each.words)
        if len(others) < len(news):
            return AskTrust(str(self._project), tuple(each for each in news if each.words), others)
        if others:
            with suppress(OSError):
                self._trust.accept(others)
        return None

    def _all(self) -> tuple[Brought, ...]:
        if self._found is None:
            self._found = tuple(self._gather())
        return self._found

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
