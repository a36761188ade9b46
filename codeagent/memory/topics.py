"""The notebook on disk: topics are read, saved and deleted here, whole and one process at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from codeagent.core.errors import ToolFault
from codeagent.core.notebook import Change, Excerpt, Topic
from codeagent.host.durable import locked, read_regular, replace
from codeagent.memory import index, topic_file
from codeagent.memory.index import IndexLine
from codeagent.memory.layout import Layout

MOST = 64 * 1024
"""Bytes of the largest topic, or index, that is read."""

_HITS = 50


class Topics:
    """Implements core.notebook.Notebook in a project's `.agent/memory/`.

    `key` seals what is written (memory/seal.py); `session` is put down as its source; `now` gives seconds since the
    epoch; `find_sessions` searches old transcripts; `believed` says whether index lines of others may be shown.
    """

    def __init__(
        self,
        layout: Layout,
        key: bytes,
        session: str,
        now: Callable[[], float],
        find_sessions: Callable[[str], Sequence[Excerpt]],
        believed: Callable[[Sequence[str]], bool] = lambda _: True,
    ) -> None:
        self._layout = layout
        self._key = key
        self._session = session
        self._now = now
        self._find_sessions = find_sessions
        self._believed = believed

    def index(self) -> str:
        """The index as the prompt shows it, with what is wrong with it at its end. Raises ToolFault."""
        text = self._text(self._layout.index) or ""
        found, strange = index.read(text), self._strange(text)
        if not strange or self._believed(strange):
            return "\n".join([index.loaded(found.text), *(f"({problem})" for problem in found.problems)]).strip()
        ours = [str(line) for line in found.topics if self._ours(line)]
        return "\n".join([index.loaded("\n".join(ours)), f"({len(strange)} lines by others are not shown.)"]).strip()

    def foreign(self) -> tuple[str, ...]:
        """Index lines that this user's codeagent did not write: they count as the repository's content."""
        found = index.read(self._text(self._layout.index) or "")
        return tuple(str(line) for line in found.topics if not self._ours(line))

    def strange(self) -> tuple[str, ...]:
        """Every line of the index, index line or not, that this user's codeagent did not write. Raises ToolFault."""
        return self._strange(self._text(self._layout.index) or "")

    def _strange(self, text: str) -> tuple[str, ...]:
        ours = {str(line) for line in index.read(text).topics if self._ours(line)}
        lines = (line.strip() for line in text.splitlines())
        return tuple(line for line in lines if line and line != index.TITLE.strip() and line not in ours)

    def _ours(self, line: IndexLine) -> bool:
        try:
            text = self._text(self._layout.memory / line.file)
        except ToolFault:
            return False
        topic = topic_file.read(text, self._key, line.file) if text is not None else None
        told = (line.name, line.description)
        return topic is not None and topic.sealed and told == (topic.fields["name"], topic.fields["description"])

    def read(self, name: str) -> str:
        """A topic's whole file, named by its name or its file. Raises ToolFault when there is none."""
        file = topic_file.file_name(name)
        text = self._text(self._layout.memory / file)
        if text is None:
            raise ToolFault(f"There is no memory topic {name!r}.{self._near(file)}", kind="missing")
        problem = self._problem(file, text)
        return f"{text}\n({problem})" if problem else text

    def planned_save(self, topic: Topic) -> Change:
        """What saving would change. Raises ToolFault for what cannot be stored, or must not be overwritten."""
        _check(topic)
        file = topic_file.file_name(topic.name)
        path = self._layout.memory / file
        before = self._text(path)
        today = datetime.fromtimestamp(self._now(), UTC).date().isoformat()
        created = today
        if before is not None:
            self._refuse_foreign(file, before)
            known = topic_file.read(before, self._key, file)
            created = known.fields.get("created", today) if known else today
        line = _index_line(topic, file)
        if len(str(line)) >= index.WIDTH:
            raise ToolFault(
                f"The index line would have {len(str(line))} characters, fewer than {index.WIDTH} are wanted: "
                "shorten name or description."
            )
        self._text(self._layout.index)  # a broken index is told before the person is asked
        after = topic_file.write(topic, self._key, file, created, today, self._session)
        return Change(file, str(path), before, after, str(line))

    def planned_deletion(self, name: str) -> Change:
        """What deleting would change. Raises ToolFault when there is no such topic, or it was edited by hand."""
        file = topic_file.file_name(name)
        path = self._layout.memory / file
        before = self._text(path)
        listed = self._text(self._layout.index) or ""
        if before is None and index.without_topic(listed, file) == listed:
            raise ToolFault(f"There is no memory topic {name!r}.{self._near(file)}", kind="missing")
        if before is not None:
            self._refuse_foreign(file, before)
        return Change(file, str(path), before, None)

    def carry_out(self, change: Change) -> str:
        """Make the change; returns a notice when the index grew too long. Raises ToolFault, changing nothing.

        The topic must be as it was when the change was planned. The index may have got other lines meanwhile.
        """
        path = self._layout.memory / change.file
        try:
            self._layout.ensure()
            with locked(self._layout.memory / ".lock"):
                if self._text(path) != change.before:
                    raise ToolFault(f"The topic {change.file} changed meanwhile; nothing was written. Read it again.")
                old = self._text(self._layout.index) or ""
                if change.after is None:
                    new = index.without_topic(old, change.file)
                    path.unlink(missing_ok=True)
                else:
                    new = index.with_topic(old, index.read(change.line).topics[0])
                    replace(path, change.after.encode("utf-8", "replace"))
                if new != old:
                    replace(self._layout.index, new.encode("utf-8", "surrogateescape"))
        except OSError as fault:
            raise ToolFault(
                f"The memory in {self._layout.memory} cannot be written: {fault.strerror or fault}."
            ) from None
        return index.over(new)

    def adopt(self, file: str) -> str:
        """Seal a topic that its owner changed by hand, and bring its index line up to date. Raises ToolFault.

        Returns what keeps it from being adopted, mostly nothing.
        """
        path = self._layout.memory / file
        text = self._text(path)
        known = topic_file.read(text, self._key, file) if text is not None else None
        if text is None or known is None:
            return (
                f"{file} has no front matter that can be read: name and description are wanted between two lines ---."
            )
        if known.sealed:
            return ""
        kind = known.fields.get("type", "project")
        topic = Topic(
            known.fields["name"],
            known.fields["description"],
            known.text,
            kind if kind in ("user", "feedback", "reference") else "project",  # type: ignore[arg-type]  # as listed
        )
        _check(topic)
        if topic_file.file_name(topic.name) != file:
            return f"The name {topic.name!r} in {file} belongs to {topic_file.file_name(topic.name)}; change it back."
        today = datetime.fromtimestamp(self._now(), UTC).date().isoformat()
        fields = known.fields
        after = topic_file.write(
            topic, self._key, file, fields.get("created", today), today, fields.get("session", self._session)
        )
        line = _index_line(topic, file)
        if len(str(line)) >= index.WIDTH:
            return f"The index line of {file} would be longer than {index.WIDTH} characters: shorten the description."
        return self.carry_out(Change(file, str(path), text, after, str(line)))

    def search(self, words: str) -> Sequence[str]:
        """Lines `file:line: text` of topics that hold the words; case does not matter."""
        wanted = words.casefold().strip()
        hits: list[str] = []
        for path in self._files():
            try:
                text = self._text(path) or ""
            except ToolFault:
                continue
            for number, line in enumerate(text.splitlines(), 1):
                if wanted and wanted in line.casefold() and not line.startswith("seal: "):
                    hits.append(f"{path.name}:{number}: {line.strip()[:200]}")
        return hits[:_HITS]

    def search_sessions(self, words: str) -> Sequence[Excerpt]:
        """Places in earlier sessions that hold the words."""
        return self._find_sessions(words)

    def _files(self) -> list[Path]:
        try:
            return sorted(path for path in self._layout.memory.iterdir() if path.suffix == ".md")
        except OSError:
            return []

    def _text(self, path: Path) -> str | None:
        """A memory file's text, None when there is none; links are not followed, for they could show any file."""
        if self._layout.agent.is_symlink() or self._layout.memory.is_symlink():
            raise ToolFault(f"{self._layout.memory} is a link; memory is not read or written through links.")
        try:
            data, _ = read_regular(path, MOST, follow=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as fault:
            raise ToolFault(f"{path} cannot be read: {fault.strerror or fault}; it was left as it is.") from None
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise ToolFault(f"{path} is no UTF-8 text; it was left as it is.") from None
        if "\0" in text:
            raise ToolFault(f"{path} holds NUL characters; it was left as it is.")
        return text

    def _problem(self, file: str, text: str) -> str:
        known = topic_file.read(text, self._key, file)
        if known is None:
            return f"{file} has no front matter that can be read: it was written or changed by hand."
        return "" if known.sealed else f"{file} was edited by hand, or written elsewhere, since it was saved."

    def _refuse_foreign(self, file: str, text: str) -> None:
        problem = self._problem(file, text)
        if problem:
            raise ToolFault(
                f"{problem} It is not overwritten or deleted: save under another name, or ask the user to remove it.",
                kind="foreign",
            )

    def _near(self, file: str) -> str:
        from difflib import get_close_matches  # only on the way to an error

        names = [path.stem for path in self._files() if path.name != "MEMORY.md"]
        near = get_close_matches(file.removesuffix(".md"), names, n=3, cutoff=0.4)
        return f" Near it: {', '.join(near)}." if near else ""


def _index_line(topic: Topic, file: str) -> IndexLine:
    return IndexLine(" ".join(topic.name.split()), file, " ".join(topic.description.split()))


def _check(topic: Topic) -> None:
    """Raise ToolFault for what would make no readable topic."""
    if not topic.name.strip() or any(char in topic.name for char in "[]\n\r"):
        raise ToolFault(f"A topic's name is a few words without brackets or line ends; {topic.name[:60]!r} came.")
    if not topic.description.strip():
        raise ToolFault("description is missing: one line that says when this topic is of use.")
    if not topic.text.strip():
        raise ToolFault("text is missing: what is to be remembered, as Markdown.")
    if len(topic.text.encode("utf-8", "replace")) > MOST // 2:
        raise ToolFault(
            f"The text is longer than {MOST // 2048} KiB: keep what a later session needs, or use two topics."
        )
