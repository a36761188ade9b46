"""Slash commands: what each does. All fronts use these."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from codeagent.core.errors import CodeagentError, UsageFault
from codeagent.core.events import AssistantSaid, Opened
from codeagent.fronts import exports, present, remembering, reports
from codeagent.fronts.command_names import ALIASES, LEAVING, parted
from codeagent.fronts.command_names import COMMANDS as COMMANDS
from codeagent.fronts.command_names import complete as complete
from codeagent.fronts.command_names import is_command as is_command
from codeagent.fronts.command_names import must_wait as must_wait
from codeagent.fronts.command_names import own_command as own_command

if TYPE_CHECKING:
    from codeagent.fronts.desk import Desk, Listed

Outcome = Literal["handled", "unknown", "exit", "redraw"]
"""What the front does next: nothing (also when there is no such command, the person was told); leave; draw anew."""

Show = Callable[[str], None]
Copy = Callable[[str], bool]
Edit = Callable[[Path], None]
Refill = Callable[[str], None]

_HOLDS = "What is read at the start holds from the next one."


SIGNS = (
    ("! COMMAND", "a command of your own; the model reads what it gave"),
    ("@PATH", "a file of the project; Tab completes it where the terminal can"),
    ("Ctrl+C", "stop what it does; twice with nothing written: leave"),
    ("Ctrl+D", "leave"),
)
"""What else can be typed, as (sign, meaning), in the fronts that print."""

WIDEST = 26
"""Columns of a command in the help; what is longer has its meaning on the next line."""


class Call(Struct, frozen=True):
    """One use of a command: the desk, what was written after the name, where to show, how to copy, refill and edit."""

    desk: Desk
    words: str
    show: Show
    copy: Copy
    refill: Refill | None = None
    edit: Edit | None = None


def _no_clipboard(_text: str) -> bool:
    return False


def prepared(desk: Desk, line: str) -> str:
    """The message that a command stands for (/init), empty for any other line."""
    name, words = parted(line)
    if name != "/init":
        return ""
    from codeagent.memory.starting import starting_message

    return starting_message(desk.project, words)


async def run(
    desk: Desk,
    line: str,
    show: Show,
    copy: Copy = _no_clipboard,
    refill: Refill | None = None,
    edit: Edit | None = None,
) -> Outcome:
    """Do what `line` says. Words for the person go to `show`; `copy` puts text on the clipboard, False if it cannot.

    `refill` gets a message that was taken back, to be edited; without it the message is shown. `edit` opens a
    file in the person's editor and waits for it; without it the path is shown.
    """
    if line.strip() in LEAVING:
        return "exit"
    name, words = parted(line)
    call = Call(desk, words, show, copy, refill, edit)
    try:
        if name in WAITING:
            return await WAITING[name](call) or "handled"
        if name in ACTIONS:
            return ACTIONS[name](call) or "handled"
        show(_unknown(name))
        return "unknown"
    except CodeagentError as error:
        show(str(error))
    except OSError as error:
        show(f"That did not work: {error.strerror or error}.")
    return "handled"


def _unknown(name: str) -> str:
    import difflib

    known = [command.name for command in COMMANDS]
    near = difflib.get_close_matches(name, [*known, *ALIASES], n=1, cutoff=0.6)
    meant = ALIASES.get(near[0], near[0]) if near else ""
    return f"There is no command {name}." + (f" Did you mean {meant}?" if meant else " All commands: /help")


def _help(call: Call) -> None:
    rows = [*((f"{c.name} {c.usage}".strip(), c.help) for c in COMMANDS), *SIGNS]
    width = max(len(head) for head, _ in rows if len(head) <= WIDEST)
    lines = []
    for head, about in rows:
        lines += [f"{head:<{width}}  {about}"] if len(head) <= WIDEST else [head, f"{'':<{width}}  {about}"]
    call.show("\n".join(lines))


def _clear(call: Call) -> Outcome:
    call.desk.open(None)
    return "redraw"


def _resume(call: Call) -> Outcome | None:
    listed = call.desk.sessions()
    if not call.words:
        now = time.time()
        rows = [f"{n:>3}  {_row(s, now)}" for n, s in enumerate(listed[:20], 1)]
        call.show("\n".join([*rows, "Go on with one: /resume NUMBER"]) if rows else "There is no other session here.")
        return None
    call.desk.open(_chosen(call.words, listed))
    return "redraw"


def _fork(call: Call) -> Outcome:
    desk = call.desk
    opened = next((e for e in desk.agent.journal.entries if isinstance(e, Opened)), None)
    if opened is None or not desk.resume_command:
        raise UsageFault("There is nothing to copy yet: this session is not on disk.")
    before = desk.resume_command
    desk.open(opened.session, copy=True)
    call.show(f"This is a copy now. The session itself: {before}")
    return "redraw"


def _row(session: Listed, now: float) -> str:
    about = [present.age(session.when, now), session.branch, present.money(session.cost)]
    return f"{session.title or '(no name)'}  -  {', '.join(filter(None, about))}"


def _chosen(words: str, listed: object) -> str:
    """The id of the session that a number, an id or the beginning of one, or a name means."""
    sessions: list[Listed] = list(listed)  # type: ignore[call-overload]  # a sequence of Listed
    if words.isdecimal() and 0 < int(words) <= len(sessions):
        return sessions[int(words) - 1].id
    found = [s for s in sessions if words == s.id or words.lower() == s.title.lower()]
    found = found or [s for s in sessions if s.id.startswith(words)]
    if len(found) != 1:
        many = "More than one session" if found else "No session of this project"
        raise UsageFault(f"{many} is meant by {words!r}. /resume lists them.")
    return found[0].id


def _rename(call: Call) -> None:
    if not call.words:
        raise UsageFault("What shall it be called? /rename NAME")
    call.desk.agent.rename(call.words)
    call.show(f"This session is now called {call.words}.")


async def _compact(call: Call) -> None:
    if not await call.desk.agent.compact(call.words):
        call.show("There is too little to sum up, or it did not work. Everything is as it was.")


async def _rewind(call: Call) -> Outcome | None:
    from codeagent.fronts import going_back

    points = await call.desk.agent.points()
    if not call.words:
        call.show(going_back.listed(points, call.desk.project))
        return None
    await going_back.go(call.desk, going_back.wished(call.words, points), call.refill)
    return "redraw"


async def _jobs(call: Call) -> None:
    first, _, rest = call.words.partition(" ")
    if first == "stop" and rest:
        await call.desk.stop_job(rest.strip())
        call.show(f"{rest.strip()} has ended, with everything that it had started.")
    elif first:
        call.show(call.desk.job_output(first) or "It wrote nothing so far.")
    else:
        call.show(reports.jobs(call.desk))


def _agents(call: Call) -> None:
    from codeagent.fronts import hired

    agent = call.desk.agent
    if not call.words:
        call.show(hired.listed(agent.journal.entries, agent.working))
        return
    hire = hired.chosen(agent.journal.entries, call.words)
    call.show("\n".join(hired.story(call.desk.transcript(hire.use_id))))


def _model(call: Call) -> None:
    agent, models = call.desk.agent, call.desk.models()
    if not call.words:
        rows = [f"{'>' if name == agent.model else ' '} {name}  {about}" for name, about in models]
        call.show("\n".join([*rows, "Change it: /model NAME"]))
        return
    named = [name for name, _ in models if call.words.lower() in name.lower()]
    exact = [name for name in named if name == call.words]
    if named and not exact and len(named) > 1:
        raise UsageFault(f"Several models match {call.words!r}: {', '.join(named)}. Write more of the name.")
    agent.switch(model=named[0] if named else call.words)


def _effort(call: Call) -> None:
    agent = call.desk.agent
    levels = agent.info.efforts
    if not call.words:
        offered = f" This model knows: {', '.join(levels)}." if levels else " This model has no levels of effort."
        call.show(f"Effort: {agent.effort or 'the usual'}.{offered}")
        return
    agent.switch(effort=call.words)


def _mode(call: Call) -> None:
    if not call.words:
        call.show("\n".join(f"{'>' if n == call.desk.agent.mode else ' '} {n:<12} {t}" for n, t in reports.MODES))
        return
    call.desk.agent.switch(mode=call.words)


def _plan(call: Call) -> None:
    call.desk.agent.switch(mode="plan")


def _permissions(call: Call) -> None:
    call.show(call.desk.permissions(call.words.removeprefix("why ").strip()))


def _later(call: Call) -> None:
    if not call.words:
        raise UsageFault("What shall be said later? /later TEXT")
    if not call.desk.agent.working:
        raise UsageFault("Nothing is running now: just say it.")
    call.desk.agent.later(call.words)
    call.show("Kept for the end of the turn.")


def _export(call: Call) -> None:
    entries = call.desk.agent.journal.entries
    target = Path(call.words or f"codeagent-{time.strftime('%Y%m%d-%H%M%S')}.md").expanduser()
    if not target.is_absolute():
        target = call.desk.project / target
    if target.exists():
        raise UsageFault(f"{target} exists already and is left as it is. Name another file.")
    text = exports.render(entries, call.desk.agent.title, exports.format_of(target.name))
    target.write_text(text, "utf-8", "replace")
    call.show(f"Written to {target}")


def _copy(call: Call) -> None:
    entries = call.desk.agent.journal.entries
    text = next((e.text for e in reversed(entries) if isinstance(e, AssistantSaid) and e.text), "")
    if not text:
        raise UsageFault("There is no answer to copy yet.")
    if call.copy(text):
        call.show(f"Copied {present.count(len(text), 'character')}.")
        return
    import tempfile

    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".md", prefix="answer-", delete=False) as file:
        file.write(text)
    call.show(f"This terminal has no clipboard for us; the answer is in {file.name}")


def _reporting(report: Callable[[Desk], str]) -> Callable[[Call], Outcome | None]:
    """A command that only shows a text."""

    def act(call: Call) -> None:
        call.show(report(call.desk))

    return act


def _inspect(call: Call) -> None:
    from codeagent.fronts import inspecting
    from codeagent.sessions.inspection import exchanges

    call.show("\n".join(inspecting.table(exchanges(call.desk.agent.journal.entries))))


def _config(call: Call) -> None:
    name, _, value = call.words.partition(" ")
    if value.strip():
        call.show(f"{name} is {value.strip()} now, in {call.desk.keep_setting(name, value.strip())}. {_HOLDS}")
        return
    rows = [each for each in call.desk.settings() if not name or name.lower() in each.name.lower()]
    if not rows:
        raise UsageFault(f"No setting has {name!r} in its name. /config lists them.")
    if len(rows) == 1 or name in [each.name for each in rows]:
        call.show(reports.setting(next((each for each in rows if each.name == name), rows[0])))
        return
    wide = max(len(each.name) for each in rows)
    call.show("\n".join(f"{each.name:<{wide}}  {reports.setting_value(each)}" for each in rows))


def _vim(call: Call) -> None:
    on = not call.desk.setting("vim")
    where = call.desk.keep_setting("vim", on)
    call.show(f"Vim's keys are {'on' if on else 'off'} from the next message on. It stands in {where}")


async def _doctor(call: Call) -> None:
    found = await call.desk.findings()
    call.show(reports.findings(found))


def _theme(call: Call) -> None:
    if not call.words:
        call.show("Which one? /theme dark, light, dark-safe, light-safe or terminal")
        return
    call.show(f"Kept in {call.desk.keep_setting('theme', call.words)}; it holds from the next start.")


def _exit(_call: Call) -> Outcome:
    return "exit"


WAITING: dict[str, Callable[[Call], Awaitable[Outcome | None]]] = {
    "/compact": _compact,
    "/doctor": _doctor,
    "/init": remembering.init,
    "/jobs": _jobs,
    "/rewind": _rewind,
}
"""Commands that take a while."""

ACTIONS: dict[str, Callable[[Call], Outcome | None]] = {
    "/help": _help,
    "/clear": _clear,
    "/resume": _resume,
    "/fork": _fork,
    "/rename": _rename,
    "/context": _reporting(reports.context),
    "/cost": _reporting(reports.cost),
    "/model": _model,
    "/effort": _effort,
    "/mode": _mode,
    "/plan": _plan,
    "/later": _later,
    "/status": _reporting(reports.status),
    "/agents": _agents,
    "/memory": remembering.memory,
    "/todo": _reporting(reports.todo),
    "/diff": _reporting(reports.changes),
    "/permissions": _permissions,
    "/audit": _reporting(reports.audit),
    "/inspect": _inspect,
    "/config": _config,
    "/vim": _vim,
    "/theme": _theme,
    "/export": _export,
    "/copy": _copy,
    "/exit": _exit,
}
