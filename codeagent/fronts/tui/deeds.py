"""What the named keys of `keys.ACTS` do, each a function of the app. Imported with the first such key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from codeagent.core.clean import clean_line
from codeagent.core.errors import ToolFault
from codeagent.core.events import UserSaid
from codeagent.fronts.tui import attaching, sources
from codeagent.fronts.tui.screens.pick import Pick
from codeagent.fronts.tui.widgets.menu import Item

if TYPE_CHECKING:
    from pathlib import Path

    from codeagent.fronts.tui.app import Codeagent

OSC52 = 74_000
"""Bytes that terminals take for the clipboard; longer texts go to a file."""
COPIES = 60
"""Pieces offered for copying."""


def history(app: Codeagent) -> None:
    """Choose among what was said before."""
    entries = app.talk.desk.agent.journal.entries if app.talk.desk else ()
    here = [entry.text for entry in entries if isinstance(entry, UserSaid) and entry.text.strip()]
    said = list(dict.fromkeys((*reversed(app.composer.past.lines), *reversed(here))))
    rows = [(text, Item(clean_line(text.replace("\n", " "))[:200])) for text in said]
    if not rows:
        app.status.hint("nothing was said here yet")
        return
    app.push_screen(Pick("You said", rows, app.stage()), lambda text: app.composer.put(text) if text else None)


def editor(app: Codeagent) -> None:
    """Write the draft in the person's own editor."""
    desk = app.talk.desk
    if desk is None:
        return
    if not (command := str(desk.setting("editor"))):
        app.tell("No editor is known: set VISUAL or EDITOR, or `editor` in the settings.", "warning")
        return
    try:
        with app.suspend():
            text = desk.edit(app.composer.whole, command)
    except OSError as fault:
        app.tell(f"The editor {clean_line(command)!r} could not be started: {fault.strerror}.", "warning")
        return
    app.composer.put(text)
    app.refresh(layout=True)


def image(app: Codeagent) -> None:
    """Attach the picture on the clipboard, or paste what was cut here before."""

    async def attach() -> None:
        data = await app.talk.desk.picture() if app.talk.desk else b""
        if data:
            _attach(app, data, "the clipboard's picture")
        elif app.clipboard:
            app.composer.action_paste()
        else:
            app.status.hint("no picture on the clipboard")

    app.run_worker(attach(), group="image", exit_on_error=False)


def drop(app: Codeagent, path: Path) -> None:
    """Attach a file that was dropped on the terminal."""
    try:
        _attach(app, path.read_bytes(), path.name)
    except OSError as fault:
        app.tell(f"{path} could not be read: {fault.strerror}.", "warning")


def _attach(app: Codeagent, data: bytes, name: str) -> None:
    try:
        app.composer.attach(attaching.picture(data, clean_line(name)))
    except ToolFault as fault:
        app.tell(str(fault), "warning")


def copy(app: Codeagent) -> None:
    """Choose what to copy, the newest first."""
    found = list(sources.pieces(app.transcript.chosen_blocks()))[:COPIES]
    if not found:
        app.status.hint("nothing to copy yet")
        return
    rows = [(str(n), Item(f"{piece.kind:<8} {clean_line(piece.label)}")) for n, piece in enumerate(found)]

    def chosen(number: str | None) -> None:
        if number:
            put(app, found[int(number)])

    app.push_screen(Pick("Copy", rows, app.stage()), chosen)


def put(app: Codeagent, piece: sources.Piece) -> None:
    """To the terminal's clipboard; what is too long for one goes to a file."""
    size = len(piece.text.encode("utf-8", "replace"))
    if size <= OSC52:
        app.copy_to_clipboard(piece.text)
        app.status.hint(f"copied: {sources.told(piece)}", 3)
        return
    import tempfile

    with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="codeagent-copy-", suffix=".txt", delete=False) as f:
        f.write(piece.text)
    app.tell(f"Too long for a terminal's clipboard ({sources.told(piece)}); it is in {f.name}")


def effort(app: Codeagent) -> None:
    """Choose how hard the model thinks."""
    app.page("/effort")


DEEDS: dict[str, Callable[[Codeagent], object]] = {
    "history": history,
    "editor": editor,
    "stash": lambda app: app.status.hint(app.composer.stash()),
    "image": image,
    "mode": lambda app: app.talk.desk.agent.cycle_mode() if app.talk.desk else None,
    "model": lambda app: app.page("/model"),
    "effort": effort,
    "suspend": lambda app: app.action_suspend_process(),
    "find": lambda app: app.finder.open(),
    "earlier": lambda app: app.transcript.jump(-1),
    "later": lambda app: app.transcript.jump(1),
    "copy": copy,
    "unfold": lambda app: app.unfold(),
    "todo": lambda app: app.switch_todo(),
    "theme": lambda app: app.page("/theme"),
    "mouse": lambda app: app.switch_mouse(),
    "redraw": lambda app: app.refresh(layout=True),
}
