"""What commands do with what outlives a session: the memory shown, edited and switched, guidelines written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codeagent.fronts.commands import Call


async def init(call: Call) -> None:
    """Say the prepared message: look at the project and write its guidelines."""
    from codeagent.memory.starting import starting_message

    await call.desk.agent.say(starting_message(call.desk.project, call.words))


def memory(call: Call) -> None:
    """List, show, edit or switch the memory."""
    kept = call.desk.memory
    first, _, rest = call.words.partition(" ")
    if first == "edit":
        _edit(call, rest.strip())
    elif first in ("on", "off"):
        where = kept.switch(on=first == "on")
        call.show(f"The memory is {first} for new sessions here; this one keeps what it has. It stands in {where}")
    elif first:
        call.show(kept.read(call.words))
    else:
        off = "" if kept.on else "The memory is switched off: /memory on\n\n"
        call.show(off + (kept.index() or "Nothing is remembered yet."))
        call.show("Read one: /memory TOPIC   Edit: /memory edit [TOPIC]   /memory on, off")


def _edit(call: Call, name: str) -> None:
    path = call.desk.memory.path(name)
    if call.edit is None:
        call.show(f"Open it in an editor: {path}")
        return
    call.edit(path)
    call.show(call.desk.memory.adopt(path) or f"{path.name} is as you left it.")
