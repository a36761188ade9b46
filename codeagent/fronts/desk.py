"""What a front may ask of the program besides the agent itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from codeagent.core.agent import Agent
from codeagent.core.effects import AskTrust
from codeagent.core.events import Entry
from codeagent.core.listed import Finding, Listed, ListedJob, ListedSetting

__all__ = ["Desk", "Listed", "ListedJob", "ListedSetting"]


class Remembered(Protocol):
    """The project's memory as its owner sees it. Methods raise UsageFault with words for a person."""

    @property
    def on(self) -> bool:
        """Whether new sessions get the index."""
        ...

    def index(self) -> str:
        """The index, with what is wrong with it."""
        ...

    def read(self, name: str) -> str:
        """A topic's text."""
        ...

    def path(self, name: str) -> Path:
        """The file to edit; the index when no topic is named."""
        ...

    def adopt(self, path: Path) -> str:
        """Take over what was edited by hand; what keeps it from that, mostly nothing."""
        ...

    def switch(self, *, on: bool) -> str:
        """Store whether sessions have a memory; where it stands now."""
        ...


class Desk(Protocol):
    """One open session and the way to others. `open` replaces `agent`; the front then redraws from its journal."""

    @property
    def agent(self) -> Agent: ...

    @property
    def project(self) -> Path:
        """The project's root."""
        ...

    @property
    def branch(self) -> str:
        """The git branch, or an empty string."""
        ...

    @property
    def resume_command(self) -> str:
        """What to type to come back to this session, empty when it is not kept."""
        ...

    def sessions(self) -> Sequence[Listed]:
        """Sessions of this project, newest first, without the open one."""
        ...

    def open(self, session: str | None, *, copy: bool = False) -> None:
        """Go on with another session (or a `copy` of one), or with a new one when None.

        Raises CodeagentError with words for a person.
        """
        ...

    async def findings(self) -> Sequence[Finding]:
        """What `codeagent doctor` finds here."""
        ...

    def permissions(self, call: str) -> str:
        """The rules in force; with a call (`bash git push`) why it would be allowed, asked or refused."""
        ...

    def question(self) -> AskTrust | None:
        """What came with the directory and has to be seen before it acts; asked once, before the first message."""
        ...

    def answer(self, question: AskTrust, *, yes: bool) -> None:
        """Remember the answer. A yes opens the session again: `agent` is another one then. Raises CodeagentError."""
        ...

    def models(self) -> Sequence[tuple[str, str]]:
        """Models that can be switched to: (id, one line about it)."""
        ...

    def files(self) -> Sequence[str] | None:
        """Project files for completion, relative, ignore rules applied, as last listed: answers at once.

        None until the first listing, which this begins, is done.
        """
        ...

    @property
    def memory(self) -> Remembered:
        """What outlives sessions."""
        ...

    @property
    def history(self) -> Path | None:
        """Where what was typed in this project is kept (JSON lines), or None when nothing is."""
        ...

    @property
    def sandbox(self) -> str:
        """`on` or `off`, or an empty string when there is none to speak of."""
        ...

    @property
    def theme(self) -> str:
        """`light` or `dark` as the settings wish, or an empty string."""
        ...

    def setting(self, name: str) -> Any:
        """The value of a setting by its dotted name, such as `keys.history`."""
        ...

    def settings(self) -> Sequence[ListedSetting]:
        """All settings with where they come from."""
        ...

    def keep_setting(self, name: str, value: object) -> str:
        """Write a setting into the user's own file; where it stands now. Raises UsageFault."""
        ...

    async def picture(self) -> bytes:
        """The picture on the system's clipboard, empty when there is none."""
        ...

    def edit(self, text: str, editor: str) -> str:
        """The text as it comes back from an editor, which has the terminal meanwhile. Raises OSError."""
        ...

    async def status_words(self, command: str, given: Mapping[str, Any]) -> str:
        """The line that the person's own status command prints; it gets `given` as JSON on its input."""
        ...

    @property
    def began(self) -> int:
        """How many entries of the journal are older than this run."""
        ...

    def jobs(self) -> Sequence[ListedJob]:
        """Background commands of the open session, oldest first, ended ones too."""
        ...

    def job_output(self, job: str) -> str:
        """Head and tail of what a background command wrote so far. Raises UsageFault."""
        ...

    async def stop_job(self, job: str) -> None:
        """End a background command with all its children. Raises UsageFault."""
        ...

    def transcript(self, use_id: str) -> Sequence[Entry]:
        """What the sub-agent of this call did. Raises UsageFault when nothing is kept of it."""
        ...

    async def warm(self) -> None:
        """Do ahead what the first request would have to wait for: import the SDK, connect."""
        ...

    async def close(self) -> None:
        """End background work, close connections, sync and release the log."""
        ...
