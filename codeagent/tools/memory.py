"""The memory tool: topics that outlive a session are read, saved, deleted and searched."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.diffs import diff
from codeagent.core.effects import Effect, Permit, Risk, Touch
from codeagent.core.errors import ToolFault
from codeagent.core.notebook import Change, Notebook, Topic, TopicKind
from codeagent.core.ports import Progress, Result
from codeagent.core.views import Diff, Listing, Plain

_NEEDS = {
    "list": (),
    "read": ("name",),
    "save": ("name", "description", "text"),
    "delete": ("name",),
    "search": ("query",),
    "search_sessions": ("query",),
}

_TITLES = {
    "list": "List the memory",
    "read": "Read memory topic {name}",
    "save": "Save memory topic {name}",
    "delete": "Delete memory topic {name}",
    "search": "Search the memory for {query}",
    "search_sessions": "Search old sessions for {query}",
}


class MemoryInput(BaseModel):
    """What to do, and with which topic or words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    action: Literal["list", "read", "save", "delete", "search", "search_sessions"]
    name: Annotated[str, Field(max_length=80, description="Topic")] = ""
    description: Annotated[str, Field(description="save: one line, when this is of use")] = ""
    text: Annotated[str, Field(description="save: Markdown")] = ""
    type: TopicKind = "project"
    query: Annotated[str, Field(max_length=200)] = ""


class Memory:
    """The `memory` tool. `notebook` is where topics are kept; `root` shortens paths for the eye."""

    name: ClassVar[str] = "memory"
    description: ClassVar[str] = (Path(__file__).parent / "prompts" / "memory.md").read_text("utf-8").strip()
    timeout: ClassVar[float] = 60
    Input: ClassVar[type[Any]] = MemoryInput

    def __init__(self, notebook: Notebook, root: Path) -> None:
        self._notebook = notebook
        self._root = root

    async def plan(self, args: MemoryInput) -> Effect:
        for field in _NEEDS[args.action]:
            if not getattr(args, field).strip():
                raise ToolFault(f"{field}: missing; memory with action {args.action!r} needs it.", kind="invalid")
        change = await self._change(args)
        label = f"{args.action} {args.name or args.query}".strip()
        title = _TITLES[args.action].format(name=args.name, query=repr(args.query))
        if change is None:
            return Effect(self.name, label, title, Risk.LOW, Plain(title))
        touch = Touch(change.path, "write", "inside", self._short(change.path))
        before, after = _digest(change.before), _digest(change.after)
        view = self._diff(change)
        return Effect(self.name, label, title, Risk.MEDIUM, view, (touch,), before=before, after=after)

    async def run(self, args: MemoryInput, permit: Permit) -> AsyncIterator[Progress | Result]:
        change = await self._change(args)
        if change is not None:
            yield await self._carry_out(change, permit)
        elif args.action == "list":
            index = await asyncio.to_thread(self._notebook.index)
            yield Result.of(index or "The memory is empty.", summary=_count(index.count("\n- ["), "topic"))
        elif args.action == "read":
            text = await asyncio.to_thread(self._notebook.read, args.name)
            yield Result.of(text, summary=_count(text.count("\n"), "line"))
        else:
            yield await self._search(args)

    async def _change(self, args: MemoryInput) -> Change | None:
        if args.action == "save":
            topic = Topic(args.name, args.description, args.text, args.type)
            return await asyncio.to_thread(self._notebook.planned_save, topic)
        if args.action == "delete":
            return await asyncio.to_thread(self._notebook.planned_deletion, args.name)
        return None

    async def _carry_out(self, change: Change, permit: Permit) -> Result:
        if (_digest(change.before), _digest(change.after)) != (permit.effect.before, permit.effect.after):
            raise ToolFault(f"The topic {change.file} changed since this was shown; nothing was written. Try again.")
        notice = await asyncio.to_thread(self._notebook.carry_out, change)
        view = self._diff(change)
        done = "Deleted" if change.after is None else "Saved"
        words = f"{done} {change.file}." + (f" {notice}" if notice else "")
        summary = f"+{view.added} -{view.removed}"
        return Result.of(words, summary=summary, view=view, before=permit.effect.before, after=permit.effect.after)

    async def _search(self, args: MemoryInput) -> Result:
        if args.action == "search":
            lines = list(await asyncio.to_thread(self._notebook.search, args.query))
        else:
            found = await asyncio.to_thread(self._notebook.search_sessions, args.query)
            lines = [f"{each.session} {_when(each.when)} {each.kind}: {each.text}" for each in found]
        text = "\n".join(lines) or f"Nothing holds {args.query!r}."
        return Result.of(text, summary=_count(len(lines), "hit"), view=Listing(tuple(lines)))

    def _diff(self, change: Change) -> Diff:
        created = change.before is None
        return diff(self._short(change.path), change.before or "", change.after or "", created=created)

    def _short(self, path: str) -> str:
        return str(Path(path).relative_to(self._root)) if Path(path).is_relative_to(self._root) else path


def _digest(text: str | None) -> str:
    return "" if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _when(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "(no time)"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
