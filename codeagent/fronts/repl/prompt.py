"""The line editor between turns: several lines, history, completion of commands and files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from codeagent.fronts import commands, past

YOU = "you: "
MOST = 12
"""Completions of files that are offered at once."""


class Kept(History):
    """What was typed in this project, in the file that `past` knows."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        """The newest first."""
        return reversed(past.read(self._path))

    def store_string(self, string: str) -> None:
        """Append one; where that cannot be done, it is remembered for this session only."""
        with suppress(OSError):
            past.add(self._path, string)


class Completions(Completer):
    """Commands after a slash at the beginning, project files after an @ anywhere."""

    def __init__(self, files: Callable[[], Sequence[str] | None]) -> None:
        self._files = files

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What the words before the cursor could become."""
        text = document.text_before_cursor
        if text.startswith("/") and not text[1:].count(" "):
            for name, about in commands.complete(text):
                yield Completion(name, -len(text), display_meta=about)
            return
        word = text.rsplit(maxsplit=1)[-1] if text and not text[-1].isspace() else ""
        if word.startswith("@"):
            for path in matching(word[1:], self._files() or ())[:MOST]:
                yield Completion(f"@{path}", -len(word))


def matching(part: str, paths: Iterable[str]) -> list[str]:
    """Paths that hold the letters of `part` in order, the closest first."""
    wanted = part.lower()
    ranked = []
    for path in paths:
        low = path.lower()
        name = low.rsplit("/", 1)[-1]
        if wanted in low:
            ranked.append((0 if name.startswith(wanted) else 1 if wanted in name else 2, len(path), path))
        elif _in_order(wanted, low):
            ranked.append((3, len(path), path))
    return [path for _, _, path in sorted(ranked)]


def _in_order(letters: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)


class Prompt:
    """Asks for the next message. `history` is the file that keeps what was typed, if one does.

    Messages in `taken`, which were taken back, stand in the next line to be edited. `vim` tells before each line
    whether it has vim's keys.
    """

    def __init__(
        self,
        history: Path | None,
        files: Callable[[], Sequence[str] | None],
        taken: list[str],
        vim: Callable[[], bool] = bool,
    ) -> None:
        self._taken, self._vim = taken, vim
        self._session: PromptSession[str] = PromptSession(
            multiline=True,
            history=Kept(history) if history else InMemoryHistory(),
            completer=ThreadedCompleter(Completions(files)),
            complete_while_typing=False,
            key_bindings=_keys(),
            mouse_support=False,
            enable_suspend=True,
            enable_open_in_editor=True,
        )

    async def line(self) -> str | None:
        """What was typed, None at the end of input. Raises KeyboardInterrupt for Ctrl+C on an empty line."""
        standing = "\n\n".join(self._taken)
        self._taken.clear()
        try:
            return await self._session.prompt_async(YOU, default=standing, vi_mode=self._vim(), handle_sigint=False)
        except EOFError:
            return None
        except asyncio.CancelledError:
            raise


def _keys() -> KeyBindings:
    """Enter sends; Esc Enter and Ctrl+J make a new line; Ctrl+C clears, on an empty line it leaves the prompt."""
    keys = KeyBindings()

    @keys.add("enter")
    def _send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.text.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    @keys.add("c-j")
    def _newline(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    def _clear(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt, style="class:aborting")

    return keys
