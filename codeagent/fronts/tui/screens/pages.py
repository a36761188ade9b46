"""Pages that commands without an argument open: help, sessions, models, context, points to go back to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeagent.fronts.tui.screens.help import Help
from codeagent.fronts.tui.screens.pick import Pick, session_rows
from codeagent.fronts.tui.widgets.menu import Item

if TYPE_CHECKING:
    from codeagent.fronts.tui.app import Codeagent


def show(app: Codeagent, name: str) -> None:
    """Open the page of this command."""
    pages = {"/help": _help, "/model": _models, "/context": _context, "/rewind": _rewind, "/undo": _rewind}
    pages.get(name, _sessions)(app)


def _help(app: Codeagent) -> None:
    from codeagent.fronts import commands

    listed = [(f"{c.name} {c.usage}".strip(), c.help) for c in commands.COMMANDS]
    app.push_screen(Help(listed, app.stage()))


def _context(app: Codeagent) -> None:
    from codeagent.fronts import reports
    from codeagent.fronts.tui.screens.context import Context

    if desk := app.talk.desk:
        app.push_screen(Context(desk.agent.model, reports.bill_of(desk), app.stage()))


def _sessions(app: Codeagent) -> None:
    desk = app.talk.desk
    rows = session_rows(desk.sessions()) if desk else []
    if app.talk.working:
        app.tell("That has to wait until it is done, or stop it first with Esc.", "warning")
    elif not rows:
        app.tell("There is no other session in this project yet.")
    else:
        app.push_screen(Pick("Go on with", rows, app.stage()), lambda chosen: app.talk.open(chosen) if chosen else None)


def _rewind(app: Codeagent) -> None:
    from codeagent.fronts.tui.screens import rewind

    app.run_worker(rewind.go(app), group="command", exit_on_error=False)


def _models(app: Codeagent) -> None:
    desk = app.talk.desk
    if desk is None:
        return
    now = desk.agent.model
    rows = [(name, Item(name, about, marked=name == now)) for name, about in desk.models()]

    def chosen(name: str | None) -> None:
        if name and name != now:
            desk.agent.switch(model=name)

    app.push_screen(Pick("Model", rows, app.stage()), chosen)
