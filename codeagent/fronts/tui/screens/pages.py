"""Pages that commands without an argument open, by name. Each is a list to choose from or a text to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from codeagent.core.clean import clean_line
from codeagent.core.errors import CodeagentError
from codeagent.fronts import present, reports
from codeagent.fronts.tui import keys
from codeagent.fronts.tui.palette import PALETTES
from codeagent.fronts.tui.screens.help import Help
from codeagent.fronts.tui.screens.pick import Pick, session_rows
from codeagent.fronts.tui.screens.report import Report
from codeagent.fronts.tui.widgets.menu import Item

if TYPE_CHECKING:
    from codeagent.fronts.desk import Desk
    from codeagent.fronts.tui.app import Codeagent
    from codeagent.sessions.inspection import Exchange


def show(app: Codeagent, name: str) -> None:
    """Open the page of this command."""
    if name == "/help":
        _help(app)
    elif (desk := app.talk.desk) is not None:
        PAGES[name](app, desk)


def _help(app: Codeagent) -> None:
    from codeagent.fronts import commands

    listed = [(f"{c.name} {c.usage}".strip(), c.help) for c in commands.COMMANDS]
    desk = app.talk.desk
    own = keys.keymap(lambda name: str(desk.setting(name))) if desk else {}
    app.push_screen(Help(listed, app.stage(), own))


def _pick(app: Codeagent, title: str, rows: Sequence[tuple[str, Item]], chosen: Callable[[str], None]) -> Pick:
    """A list; `chosen` is called with the value of the row that was taken."""
    page = Pick(title, rows, app.stage())
    app.push_screen(page, lambda value: chosen(value) if value is not None else None)
    return page


def _sessions(app: Codeagent, desk: Desk) -> None:
    rows = session_rows(desk.sessions())
    if app.talk.working:
        app.tell("That has to wait until it is done, or stop it first with Esc.", "warning")
    elif not rows:
        app.tell("There is no other session in this project yet.")
    else:
        _pick(app, "Go on with", rows, app.talk.open)


def _context(app: Codeagent, desk: Desk) -> None:
    from codeagent.fronts.tui.screens.context import Context

    app.push_screen(Context(desk.agent.model, reports.bill_of(desk), app.stage()))


def _rewind(app: Codeagent, _desk: Desk) -> None:
    from codeagent.fronts.tui.screens import rewind

    app.run_worker(rewind.go(app), group="command", exit_on_error=False)


# --- model, effort, colours -------------------------------------------------------------------


def _models(app: Codeagent, desk: Desk) -> None:
    now = desk.agent.model
    listed = list(desk.models())
    if now not in dict(listed):
        listed.insert(0, (now, "in use"))
    rows = [(name, Item(name, about, marked=name == now)) for name, about in listed]

    def chosen(name: str) -> None:
        if name != now:
            desk.agent.switch(model=name)
        if desk.agent.info.efforts:
            _efforts(app, desk)

    _pick(app, "Model", rows, chosen).start(now)


def _efforts(app: Codeagent, desk: Desk) -> None:
    levels, now = desk.agent.info.efforts, desk.agent.effort
    if not levels:
        app.tell(f"{desk.agent.info.short} has no levels of effort.")
        return
    rows = [(level, Item(level, "in use" if level == now else "", marked=level == now)) for level in levels]
    _pick(app, "How hard it thinks", rows, lambda level: desk.agent.switch(effort=level)).start(now)


def _themes(app: Codeagent, desk: Desk) -> None:
    """Each row is shown at once; Esc brings the old colours back."""
    before = app.palette
    rows = [(name, Item(name, about)) for name, (_, about) in PALETTES.items()]
    page = Pick("Colours", rows, app.stage())

    def preview(name: str) -> None:
        app.paint(PALETTES[name][0])
        page.recolour(app.palette)

    def chosen(name: str | None) -> None:
        app.paint(PALETTES[name][0] if name else before)
        if name:
            _keep(app, desk, "theme", name)

    page.preview = preview
    app.push_screen(page, chosen)
    page.start(next((name for name, (palette, _) in PALETTES.items() if palette is before), ""))


# --- settings ---------------------------------------------------------------------------------


def _keep(app: Codeagent, desk: Desk, name: str, value: object) -> None:
    try:
        app.status.hint(f"kept in {desk.keep_setting(name, value)}", 3)
    except CodeagentError as fault:
        app.tell(str(fault), "warning")


LONG_VALUE = 16
"""Characters of a value that may push what it means to the right."""


def _settings(app: Codeagent, desk: Desk) -> None:
    listed = {each.name: each for each in desk.settings()}
    wide = max(len(each.value) for each in listed.values() if len(each.value) <= LONG_VALUE)
    rows = [(name, Item(name, f"{each.value:<{wide}}  {each.about}")) for name, each in listed.items()]

    def chosen(name: str) -> None:
        each = listed[name]
        if not each.choices:
            app.tell(
                f"{name}: {each.about}. It is {each.value} ({each.source}); write {each.wanted or 'the new value'}."
            )
            app.composer.put(f"/config {name} ")
            return
        options = [(choice, Item(choice, marked=choice == each.value)) for choice in each.choices]
        switch = set(each.choices) == {"true", "false"}
        _pick(app, name, options, lambda value: _keep(app, desk, name, value == "true" if switch else value))

    _pick(app, "Settings", rows, chosen)


def _vim(app: Codeagent, desk: Desk) -> None:
    """Vim's keys in the composer, on or off."""
    from codeagent.fronts.tui.vim import Vim

    on = app.composer.vim is None
    app.composer.vim = Vim() if on else None
    app.tell(f"Vim's keys are {'on: Esc leaves writing, i comes back' if on else 'off'}.")
    _keep(app, desk, "vim", on)


# --- what runs, what was said -----------------------------------------------------------------


def _jobs(app: Codeagent, desk: Desk) -> None:
    listed = desk.jobs()
    if not listed:
        app.tell("Nothing runs in the background.")
        return
    rows = [
        (
            job.id,
            Item(
                f"{job.id}  {clean_line(job.command)}", f"{reports.state(job)}  {present.seconds(1000 * job.seconds)}"
            ),
        )
        for job in listed
    ]

    def chosen(job: str) -> None:
        acts = [("read", Item("Read what it wrote")), ("stop", Item("End it, with all that it started"))]
        _pick(app, job, acts, lambda act: act_on(job, act))

    def act_on(job: str, act: str) -> None:
        if act == "read":
            app.push_screen(Report(job, desk.job_output(job) or "It wrote nothing so far.", app.stage()))
        else:
            app.talk.send(f"/jobs stop {job}")

    _pick(app, "In the background", rows, chosen)


def _requests(app: Codeagent, desk: Desk) -> None:
    """Every request of this session, and each in full."""
    from codeagent.fronts import inspecting
    from codeagent.models import wire_views
    from codeagent.sessions.inspection import exchange, exchanges

    entries = desk.agent.journal.entries
    rows = [(str(each.number), _request_row(each)) for each in exchanges(entries)]
    if not rows:
        app.tell("Nothing was asked of the model yet.")
        return

    def chosen(number: str) -> None:
        each = exchange(entries, int(number))
        told = inspecting.details(
            each, wire_views.body(each.request), wire_views.headers(each.request), wire_views.problems(each.request)
        )
        app.push_screen(Report(f"Request {number}", "\n".join(told), app.stage()))

    _pick(app, "Requests to the model", rows, chosen)


def _request_row(each: Exchange) -> Item:
    """Tokens in and out, what came of it, its cost."""
    from codeagent.fronts import inspecting

    used, cost, stop = inspecting.outcome(each)
    cached = f"{100 * used.cache_read / used.prompt:.0f} % cached" if used.prompt else "nothing cached"
    label = f"{each.number:>3}  {present.short(used.prompt):>6} in, {cached:>14}, {present.short(used.output):>6} out"
    took = present.seconds(each.reply.took_ms) if each.reply else ""
    return Item(label, f"{stop:<10}  {took:>6}  {present.money(cost)}")


def _remembered(desk: Desk) -> str:
    """The memory's index, and whether it is on."""
    off = "" if desk.memory.on else "The memory is switched off: /memory on\n\n"
    return off + (desk.memory.index() or "Nothing is remembered yet.")


def _reading(title: str, text: Callable[[Desk], str]) -> Callable[[Codeagent, Desk], None]:
    """A page that is only read."""

    def open_page(app: Codeagent, desk: Desk) -> None:
        app.push_screen(Report(title, text(desk), app.stage()))

    return open_page


PAGES: dict[str, Callable[[Codeagent, Desk], None]] = {
    "/resume": _sessions,
    "/rewind": _rewind,
    "/undo": _rewind,
    "/continue": _sessions,
    "/model": _models,
    "/effort": _efforts,
    "/context": _context,
    "/theme": _themes,
    "/config": _settings,
    "/vim": _vim,
    "/jobs": _jobs,
    "/inspect": _requests,
    "/cost": _reading("Cost", reports.cost),
    "/status": _reading("Where things stand", reports.status),
    "/permissions": _reading("Permissions", lambda desk: desk.permissions("")),
    "/memory": _reading("What it remembers of this project", _remembered),
    "/audit": _reading("Who allowed what", reports.audit),
}
"""Commands that open a page when nothing is written after them."""
