"""Keys: what terminals send that Textual does not know, and the list that `?` shows."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, cast

NEWLINE_KEYS = ("ctrl+j", "shift+enter", "alt+enter", "shift+\r", "ctrl+enter")
"""All names under which "new line, do not send" arrives. `shift+\\r` is what `CSI 27;2;13~` becomes."""

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
            ("Esc Esc", "clear what you wrote; with nothing written, go back in time"),
        ),
    ),
    (
        "Steer",
        (
            ("Esc", "stop what it does"),
            ("Ctrl+C", "stop; then clear; then, twice, leave"),
            ("Ctrl+D Ctrl+D", "leave"),
            ("Shift+Tab", "next mode: default, acceptEdits, plan"),
        ),
    ),
    (
        "Look",
        (
            ("PageUp  PageDown  wheel", "scroll"),
            ("Ctrl+End", "newest"),
            ("Ctrl+O", "unfold or fold all calls"),
            ("Tab, arrows, Enter", "go to a call and unfold it; or click it"),
            ("Ctrl+T", "show or hide the todo list"),
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
