"""Opening a session: connected in a thread after the first paint, so that keys are shown meanwhile."""

from __future__ import annotations

import asyncio
import importlib
from time import monotonic
from typing import TYPE_CHECKING

from codeagent.core.errors import CodeagentError, ModelUnavailable, UsageFault
from codeagent.fronts import commands
from codeagent.fronts.tui import keys
from codeagent.fronts.tui.palette import PALETTES

if TYPE_CHECKING:
    from codeagent.fronts.tui.app import Codeagent
    from codeagent.fronts.tui.talk import Connect

QUIET = 0.2
"""Seconds without a key before anything heavy is imported: that would hold up a key or two."""


async def seat(app: Codeagent, connect: Connect, key: str, model: str) -> None:
    """Connect and draw; on trouble ask what to do."""
    try:
        desk = await asyncio.to_thread(connect, app.bridge, key=key, model=model, keep_key=bool(key))
    except CodeagentError as error:
        _offer(app, error)
        return
    if (question := await asyncio.to_thread(desk.question)) is not None:
        answer = await app.bridge.ask(question)
        try:
            await asyncio.to_thread(desk.answer, question, yes=answer.verdict == "yes")
        except CodeagentError as error:
            _offer(app, error)
            return
    app.composer.past.use(desk.history)
    app.composer.files, app.composer.project = desk.files, desk.project
    app.set_keymap(keys.keymap(lambda name: str(desk.setting(name))))
    if desk.setting("vim"):
        from codeagent.fronts.tui.vim import Vim

        app.composer.vim = Vim()
    app.status.still = bool(desk.setting("reducedMotion"))
    if not desk.setting("mouse"):
        app.switch_mouse(on=False)
    app.composer.commands = commands.complete
    if desk.theme in PALETTES and PALETTES[desk.theme][0] is not app.palette:
        app.paint(PALETTES[desk.theme][0])
    app.talk.begin(desk)
    if desk.began:  # an old session's words, of a log that another wrote: keys need not wait for these imports
        await asyncio.to_thread(prepare_drawing)
    app.redraw()
    if app.options.prompt:
        app.talk.send(app.options.prompt)
    elif app.options.resume == "":
        app.page("/resume")
    app.call_after_refresh(_warm_when_quiet, app)  # an import holds up the painting of an old session by 0.1 s


def _offer(app: Codeagent, error: CodeagentError) -> None:
    from codeagent.fronts.tui.screens.trouble import NextTry, Trouble

    code = 2 if isinstance(error, UsageFault) else 5 if isinstance(error, ModelUnavailable) else 1

    def chosen(what: NextTry | None) -> None:
        app.tour = what is not None and what.tour
        if what is None or what.tour:
            app.leave(0 if app.tour else code)
        else:
            app.open(what.key, what.model)

    app.push_screen(Trouble(error, app.stage()), chosen)


def _warm_when_quiet(app: Codeagent) -> None:
    if monotonic() - app.composer.last_key > QUIET:
        app.talk.warm()
        asyncio.get_running_loop().run_in_executor(None, prepare_drawing)
    else:
        app.set_timer(QUIET, lambda: _warm_when_quiet(app))


def prepare_drawing() -> None:
    """Import what the first reply is drawn with: 50 ms that its first words need not wait for."""
    importlib.import_module("codeagent.fronts.tui.markdown")
    importlib.import_module("pygments.lexers.python")
