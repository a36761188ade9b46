"""Keys: what terminals send that Textual does not know, and the list that `?` shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, cast

from msgspec import Struct

NEWLINE_KEYS = ("ctrl+j", "shift+enter", "alt+enter", "shift+\r", "ctrl+enter")
"""All names under which "new line, do not send" arrives. `shift+\\r` is what `CSI 27;2;13~` becomes."""


class Act(Struct, frozen=True):
    """Something that a key does and that can be given another key: name in the settings, key, group, words."""

    name: str
    key: str
    group: str
    words: str


ACTS = (
    Act("history", "ctrl+r", "Write", "search what you said before"),
    Act("editor", "ctrl+g", "Write", "write in your own editor"),
    Act("stash", "ctrl+s", "Write", "put the draft aside; again, or after sending, it comes back"),
    Act("image", "ctrl+v", "Write", "attach the picture on the clipboard; a dropped file is attached too"),
    Act("mode", "shift+tab", "Steer", "next mode: ask, accept edits, plan"),
    Act("model", "alt+p", "Steer", "another model"),
    Act("effort", "alt+t", "Steer", "how hard it thinks"),
    Act("suspend", "ctrl+z", "Steer", "back to the shell; fg comes back here"),
    Act("find", "ctrl+f", "Look", "search the conversation; n and N for the next and the one before"),
    Act("earlier", "ctrl+up", "Look", "the message before"),
    Act("later", "ctrl+down", "Look", "the message after"),
    Act("copy", "alt+c", "Look", "copy an answer, code, a command, a diff; y when a call is chosen"),
    Act("unfold", "ctrl+o", "Look", "unfold or fold all calls"),
    Act("todo", "ctrl+t", "Look", "show or hide the todo list"),
    Act("theme", "alt+h", "Look", "other colours"),
    Act("mouse", "alt+m", "Look", "leave the mouse to the terminal, or take it back"),
    Act("redraw", "ctrl+l", "Look", "draw the screen anew"),
)
"""All that have a name. The keys `keys.NAME` in the settings replace these."""


def keymap(wished: Callable[[str], str]) -> dict[str, str]:
    """The keys that the settings give: `wished("keys.history")` and so on; empty ones stay as they are."""
    return {act.name: key for act in ACTS if (key := wished(f"keys.{act.name}").strip().lower())}


def shown(own: Mapping[str, str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Groups of (key, what it does) for a person, with their own keys."""
    groups = []
    for title, fixed in SHOWN:
        acts = [(own.get(act.name, act.key).title(), act.words) for act in ACTS if act.group == title]
        groups.append((title, [*fixed, *acts]))
    return groups


PAGES = (
    "/resume",
    "/rewind",
    "/undo",
    "/continue",
    "/model",
    "/effort",
    "/context",
    "/theme",
    "/config",
    "/vim",
    "/jobs",
    "/inspect",
    "/cost",
    "/status",
    "/permissions",
    "/memory",
    "/audit",
)
"""Commands that open a page when nothing is written after them; `screens/pages.py` has them."""

LONE_ESCAPE = 0.03
"""Seconds after which an escape byte without sequel is the Esc key; Textual waits 0.1 s."""

SHOWN = (
    (
        "Write",
        (
            ("Enter", "send; while it works: deliver after the current step"),
            ("Ctrl+J", "new line; also Shift+Enter, Alt+Enter, and \\ before Enter"),
            ("Up  Down", "earlier and later messages; Up takes a waiting message back"),
            ("/", "commands"),
            ("@", "a file of the project"),
            ("!", "a command of your own; the model reads what it gave"),
            ("Esc Esc", "clear what you wrote; with nothing written, go back in time"),
        ),
    ),
    (
        "Steer",
        (
            ("Esc", "stop what it does"),
            ("Ctrl+C", "stop; then clear; then, twice, leave"),
            ("Ctrl+D Ctrl+D", "leave"),
        ),
    ),
    (
        "Look",
        (
            ("PageUp  PageDown  wheel", "scroll"),
            ("Ctrl+End", "newest"),
            ("Tab, arrows, Enter", "go to a call and unfold it; or click it"),
        ),
    ),
)


def teach() -> None:
    """Teach Textual's parser the sequences that it gets wrong. To be called once before the app runs.

    `ESC CR` is what Alt+Enter sends, and what most recipes for Shift+Enter tell a terminal to send;
    unknown to Textual it arrives as `^` and Enter, which would send the message.
    """
    from textual import constants
    from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
    from textual.keys import Keys

    table = cast("MutableMapping[str, Any]", ANSI_SEQUENCES_KEYS)
    table["\x1b\r"] = table["\x1b\n"] = (Keys.ControlJ,)
    cast("Any", constants).ESCAPE_DELAY = LONE_ESCAPE
