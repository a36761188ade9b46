"""The full-screen front: an App that only routes. Widgets hold what is shown, Talk drives the agent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual._compositor import ChopsUpdate
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Resize
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from codeagent.core.conversation import standing
from codeagent.core.events import Entry, Event, Fact, TextDelta, ThinkingDelta, ToolFinished, TurnEnded
from codeagent.core.views import Todo
from codeagent.fronts.tui import look
from codeagent.fronts.tui.bridge import Bridge
from codeagent.fronts.tui.driver import Terminal
from codeagent.fronts.tui.keys import ACTS, PAGES
from codeagent.fronts.tui.manners import Manners
from codeagent.fronts.tui.palette import ASCII, DARK, UNICODE, Palette
from codeagent.fronts.tui.stage import Stage
from codeagent.fronts.tui.talk import Connect, Talk
from codeagent.fronts.tui.thrift import Thrift, Thrifty
from codeagent.fronts.tui.twice import CLEARS, LEAVES, Twice
from codeagent.fronts.tui.widgets.composer import Composer
from codeagent.fronts.tui.widgets.finder import Finder
from codeagent.fronts.tui.widgets.menu import Menu
from codeagent.fronts.tui.widgets.panels import TodoPanel, Waiting
from codeagent.fronts.tui.widgets.status import Standing, Status
from codeagent.fronts.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType
    from textual.screen import Screen

    from codeagent.options import Options


class Codeagent(App[int]):
    """One screen: conversation, panels, composer, status line; questions lie over it."""

    CSS = look.CSS
    AUTO_FOCUS = "#composer"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop_or_clear", show=False),
        Binding("ctrl+c", "break", show=False, priority=True),
        Binding("ctrl+d", "end_of_input", show=False, priority=True),
        Binding("ctrl+q", "leave", show=False, priority=True),
        *(Binding(act.key, f"deed('{act.name}')", id=act.name, show=False, priority=True) for act in ACTS),
    ]

    talk: Talk
    transcript: Transcript
    composer: Composer
    status: Status
    finder: Finder

    def __init__(self, options: Options, connect: Connect, palette: Palette | None = None) -> None:
        super().__init__(driver_class=Terminal)
        self.options = options
        self.palette = palette or DARK
        self.glyphs = ASCII if options.ascii else UNICODE
        self.talk = Talk(self)
        self.manners = Manners(self, self._to_terminal)
        self.bridge = Bridge(self, self.show, self.stage, self.manners.ring, self.recall)
        self._connect = connect
        self.thrift = Thrift()
        self._unfolded = self._stale = False
        self.crash: Exception | None = None
        self.tour = False
        """Whether the program is to start anew, with the tour."""
        self.register_theme(self.palette.theme())
        self.set_reactive(App.theme, self.palette.name)  # no watcher: nothing is there yet to be styled again
        self.stylesheet.set_variables(self.get_css_variables())

    def compose(self) -> ComposeResult:
        palette, glyphs = self.palette, self.glyphs
        self.transcript = Transcript(palette, glyphs)
        menu = Menu(palette, glyphs, id="completions")
        self.composer = Composer(menu)
        self.status = Status(palette, glyphs)
        self.twice = Twice(self.status.hint)
        self.todo = TodoPanel(palette, glyphs, id="todo")
        self.waiting = Waiting(palette, glyphs, id="waiting")
        self.finder = Finder()
        yield self.transcript
        yield self.todo
        yield self.waiting
        yield self.finder
        yield menu
        yield Horizontal(Static(f" {glyphs.you} ", id="prompt", markup=False), self.composer, id="entry")
        yield self.status
        yield Static("too small: 20x6 at least", id="small", markup=False)

    def on_resize(self, event: Resize) -> None:
        look.fit(self.screen_stack[0], event.size)

    def on_mount(self) -> None:
        if self.glyphs is ASCII:
            for ruled in self.query("#entry, #completions"):
                ruled.styles.border_top = ("ascii", self.palette.css("line"))
        self.call_after_refresh(self.open)

    # -- opening -------------------------------------------------------------------------------

    def open(self, key: str = "", model: str = "") -> None:
        """Open the session that the options ask for; on trouble the person is asked what to do."""
        from codeagent.fronts.tui import opening

        self.run_worker(opening.seat(self, self._connect, key, model), group="open", exit_on_error=False)

    # -- what the agent does -------------------------------------------------------------------

    def show(self, event: Event) -> None:
        """Route an event to the widgets."""
        self.transcript.see(event)
        match event:
            case TextDelta(text=text) | ThinkingDelta(text=text):
                self.status.received(len(text) / 4)
            case ToolFinished(view=Todo() as todo):
                self.todo.update(todo)
            case TurnEnded(why=why):
                self.manners.ended(self.status.passed, "It is done." if why == "done" else "It has stopped.")
        if isinstance(event, Fact) and not self._stale:
            self._stale = True
            self.call_next(self.stand)

    def recall(self, entries: Sequence[Entry]) -> None:
        """Draw the first session's words while what it needs to go on is made ready; called in the thread that does."""
        if self.talk.desk is not None:
            return
        from codeagent.fronts.tui import opening

        opening.prepare_drawing()
        self.call_from_thread(self.transcript.reset, standing(entries))

    def redraw(self) -> None:
        """Draw the open session from its journal."""
        if (desk := self.talk.desk) is None:
            return
        self.bridge.live = True
        self.transcript.reset(standing(desk.agent.journal.entries))
        if not self.transcript.story.blocks:
            self.tell(f"In {desk.project}. Say what you want; / shows commands, @ files, ? keys.")
        self.todo.update(desk.agent.todo)
        self.cursor_position = self.composer.cursor_screen_offset  # where an input method puts its window
        self.stand()

    def stand(self) -> None:
        """Bring status line and waiting messages up to date, once all that watch the journal have seen its news."""
        self._stale = False
        (self.status.begin if self.talk.working else self.status.end)()
        if (desk := self.talk.desk) is None:
            return
        self.todo.rest(at_rest=not self.talk.working)
        agent = desk.agent
        info = agent.info
        self.waiting.update(agent.waiting)
        self.composer.waiting = bool(agent.waiting)
        share = agent.meter.context / info.window if info.window else 0.0
        self.status.show(Standing(agent.mode, info.short, desk.branch, share, agent.meter.cost, desk.sandbox))
        self.manners.title(desk, working=self.talk.working)
        self.manners.status(desk, self.status.told(desk, agent.title))

    def tell(self, text: str, level: str = "info") -> None:
        """A word of the front's own, in the transcript."""
        self.transcript.tell(text, level)

    def edit(self, path: Path) -> None:
        """Open a file in the person's editor, which has the terminal meanwhile."""
        from codeagent.host.editor import edit_file

        with self.suspend():
            edit_file(path, os.environ)

    def refill(self, text: str) -> None:
        """A message that was taken back stands in the composer again."""
        self.composer.put(text)

    def paint(self, palette: Palette) -> None:
        """Use other colours from now on."""
        self.register_theme(palette.theme())
        self.palette, self.theme = palette, palette.name
        for widget in (self.status, self.todo, self.waiting, self.composer.menu):
            widget.palette = palette
            widget.refresh()
        self.transcript.recolour(palette)

    def stage(self, place: tuple[int, int] = (1, 1)) -> Stage:
        """What a dialog gets of its surroundings."""
        return Stage(
            self.palette,
            self.glyphs,
            lambda: self.composer.last_key,
            self._cover,
            self.composer.stray,
            place,
            foresee=self.talk.foresee,
        )

    def _cover(self, rows: int) -> None:
        """Keep the end of the conversation above a dialog of so many rows; one that takes all needs no room."""
        if not rows:
            self.transcript.styles.margin = 0
            return
        below = self.status.outer_size.height + self.query_one("#entry").outer_size.height
        below += sum(panel.outer_size.height for panel in (self.todo, self.waiting) if panel.display)
        room = rows - below if rows < self.size.height - 2 else 0
        self.transcript.styles.margin = (0, 0, max(0, room), 0)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.tell(f"codeagent made a mistake: {event.worker.error!r}. The session is kept.", "error")
            self.stand()

    # -- what the person does ------------------------------------------------------------------

    def on_composer_sent(self, event: Composer.Sent) -> None:
        self.transcript.action_tail()
        if self.talk.desk and event.text in ("/help", *PAGES):
            self.page(event.text)
        else:
            self.talk.send(event.text, event.pictures)

    def on_composer_stood(self, event: Composer.Stood) -> None:
        self.twice.stands(self.composer.text)
        self.status.rest(event.keys)

    def on_composer_dropped(self, event: Composer.Dropped) -> None:
        from codeagent.fronts.tui import deeds

        deeds.drop(self, event.path)

    def on_finder_wanted(self, event: Finder.Wanted) -> None:
        found = self.transcript.search(event.words)
        if event.done:
            (self.transcript if found else self.composer).focus()
            self.status.hint("n  N  go on" if found else f"{event.words!r} is not here" if event.words else "", 3)

    def on_finder_left(self) -> None:
        self.transcript.search("")
        self.composer.focus()

    def on_composer_wanted(self, event: Composer.Wanted) -> None:
        match event.what:
            case "take_back":
                self.composer.put(self.talk.take_back())
            case "help":
                self.page("/help")
            case "look":
                self.transcript.focus()
            case "up" | "down":
                (self.transcript.scroll_page_up if event.what == "up" else self.transcript.scroll_page_down)(
                    animate=False
                )
            case "top" | "tail":
                (self.transcript.action_top if event.what == "top" else self.transcript.action_tail)()

    def on_text_selected(self) -> None:
        """What was selected with the mouse is copied at once."""
        if text := self.screen.get_selected_text():
            self.copy_to_clipboard(text)
            self.status.hint("copied")

    def on_transcript_leave(self, event: Transcript.Leave) -> None:
        self.composer.focus()
        self.composer.insert(event.text)

    def page(self, name: str) -> None:
        """Open the page of a command that has one."""
        from codeagent.fronts.tui.screens import pages

        pages.show(self, name)

    def action_stop_or_clear(self) -> None:
        """Esc: back to the composer, stop the turn, or, pressed twice, clear the draft or go back without one."""
        if self.talk.working:
            self.talk.interrupt()
        elif not self.composer.has_focus:
            self.transcript.unmark()
            self.composer.focus()
        elif draft := self.composer.text:
            if self.twice.pressed("escape", draft, "esc again clears", CLEARS):
                self.composer.forget()
        elif self.twice.pressed("escape", "", "esc again goes back to an earlier message", CLEARS):
            self.page("/rewind")

    def action_break(self) -> None:
        """Ctrl+C: stop, then clear, then leave."""
        if self.talk.working:
            self.talk.interrupt()
        elif self.composer.text:
            self.composer.forget()
        elif self.twice.pressed("ctrl+c", "", "ctrl+c again leaves", LEAVES):
            self.leave()

    def action_end_of_input(self) -> None:
        """Ctrl+D: delete forward, or, twice in an empty composer, leave."""
        if self.composer.text:
            self.composer.action_delete_right()
        elif self.twice.pressed("ctrl+d", "", "ctrl+d again leaves", LEAVES):
            self.leave()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The named keys are the conversation's: a dialog has its own."""
        return action != "deed" or len(self.screen_stack) == 1

    def action_deed(self, name: str) -> None:
        """Do what a key of `keys.ACTS` stands for."""
        from codeagent.fronts.tui import deeds

        deeds.DEEDS[name](self)

    def unfold(self) -> None:
        """Unfold all calls, or fold them."""
        self._unfolded = not self._unfolded
        self.transcript.fold_all(unfold=self._unfolded)

    def switch_todo(self) -> None:
        """Show or hide the todo list."""
        self.todo.wanted = not self.todo.wanted
        self.todo.update(self.talk.desk.agent.todo if self.talk.desk else None)

    def action_leave(self) -> None:
        """Leave at once."""
        self.leave()

    def leave(self, code: int = 0) -> None:
        """End the app; the turn is given a moment to end well."""
        self.run_worker(self._leave(code), group="leave", exit_on_error=False)

    async def _leave(self, code: int) -> None:
        await self.talk.stop()
        self.manners.farewell()
        self.exit(code)

    def switch_mouse(self, on: bool | None = None) -> None:
        """Leave the mouse to the terminal, so that it selects as everywhere, or take it back."""
        if isinstance(self._driver, Terminal):
            self.status.hint(self._driver.switch_mouse(on), 3)

    def _to_terminal(self, text: str) -> None:
        if self._driver is not None and not self.is_headless:
            self._driver.write(text)

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        """Textual's, but of a partial update only what differs is written."""
        if isinstance(renderable, ChopsUpdate):
            super()._display(screen, Thrifty(renderable, self.thrift))  # type: ignore[arg-type]  # as Textual's own are
            return
        if renderable is not None:
            self.thrift.forget()
        super()._display(screen, renderable)

    def _fatal_error(self) -> None:
        """A fault of our own: end without a traceback on the screen; `run` says it in short words."""
        self.crash = self._exception
        self._close_messages_no_wait()


def run(options: Options, connect: Connect) -> int:
    """Run the front to its end, which is the end of the process: it does not return."""
    from codeagent.fronts.tui import leaving

    return leaving.run(Codeagent(options, connect))
