"""Going back in a journal: points, what files become, and that what is sent next is what was sent then."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from codeagent.core.conversation import messages
from codeagent.core.effects import Effect, Risk
from codeagent.core.errors import UsageFault
from codeagent.core.events import AssistantSaid, Changed, Entry, Opened, Prepared, Rewound, ToolStarted, UserSaid
from codeagent.core.file_states import FileChange, FileState
from codeagent.core.journal import Journal
from codeagent.core.messages import Note, Text
from codeagent.core.ports import Conflict, Kept, Restoring
from codeagent.core.rewind import cut_off, net, restorings
from codeagent.core.subagents import Parent, Subagent
from codeagent.core.toolset import Toolset
from codeagent.core.views import Plain
from tests.core.stage import Numbers, Replies, Reply, Stage, call, say

NONE = FileState()


def state(content: str) -> FileState:
    return FileState("file", content, 0o644) if content else NONE


class Disk:
    """Files of one letter each, in memory; keeps everything."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {"/p/a": "0"}
        self.looks = 0
        self.untold: tuple[FileChange, ...] = ()

    def now(self, path: str) -> FileState:
        return state(self.files.get(path, ""))

    async def keep(self, effect: Effect) -> Kept:
        self.looks += 1
        assert effect.risk > Risk.LOW
        return Kept(tuple((touch.path, self.now(touch.path)) for touch in effect.touches))

    async def changes(self, kept: Sequence[tuple[str, FileState]], *, scanned: bool) -> tuple[FileChange, ...]:
        return tuple(FileChange(path, was, self.now(path)) for path, was in kept if was != self.now(path))

    async def rest(self) -> tuple[FileChange, ...]:
        rest, self.untold = self.untold, ()
        return rest

    async def compare(self, plan: Sequence[Restoring]) -> tuple[list[Restoring], list[Conflict]]:
        differing = [each for each in plan if self.now(each.path) != each.wanted]
        return differing, [Conflict(e.path, "changed") for e in differing if self.now(e.path) != e.expected]

    async def restore(self, plan: Sequence[Restoring]) -> tuple[tuple[FileChange, ...], tuple[Conflict, ...]]:
        done = []
        for each in plan:
            before = self.now(each.path)
            self.files[each.path] = each.wanted.digest
            done.append(FileChange(each.path, before, self.now(each.path)))
        return tuple(done), ()


@pytest.fixture
def disk() -> Disk:
    return Disk()


def _writing(stage: Stage, disk: Disk) -> None:
    """Have the stage's changing tool write its answer into /p/a."""
    run = stage.change.run

    async def write(args, permit):
        async for part in run(args, permit):
            disk.files["/p/a"] = args.answer
            yield part

    stage.change.run = write


async def three_turns(disk: Disk) -> Stage:
    """Each turn writes its number into /p/a."""
    replies = [reply for n in "123" for reply in (say("", call(f"c{n}", "change", answer=n)), say(f"done {n}"))]
    stage = Stage(*replies, mode="bypass", snapshots=disk)
    _writing(stage, disk)
    for n in "123":
        await stage.agent.say(f"turn {n}")
    return stage


async def test_points_are_the_messages_with_what_each_changed(disk: Disk) -> None:
    stage = await three_turns(disk)
    found = await stage.agent.points()
    assert [(p.text, [(c.before.digest, c.after.digest) for c in p.files]) for p in found] == [
        ("turn 1", [("0", "1")]),
        ("turn 2", [("1", "2")]),
        ("turn 3", [("2", "3")]),
    ]


async def test_files_and_conversation_go_back_and_come_again(disk: Disk) -> None:
    stage = await three_turns(disk)
    second = (await stage.agent.points())[1]
    then = messages(stage.journal.entries[: second.to])
    later = messages(stage.journal.entries)
    back = await stage.agent.rewind(second.to)
    assert (disk.files["/p/a"], back.text) == ("1", "turn 2")
    assert messages(stage.journal.entries) == then
    undo = (await stage.agent.points())[-1]
    assert undo.undo
    await stage.agent.rewind(undo.to)
    assert disk.files["/p/a"] == "3"
    assert messages(stage.journal.entries) == later
    await stage.agent.rewind((await stage.agent.points())[-1].to)
    assert disk.files["/p/a"] == "1"


async def test_either_part_alone(disk: Disk) -> None:
    stage = await three_turns(disk)
    first, _, third = await stage.agent.points()
    before = messages(stage.journal.entries)
    await stage.agent.rewind(third.to, conversation=False)
    assert disk.files["/p/a"] == "2"
    assert messages(stage.journal.entries)[: len(before)] == before
    note = messages(stage.journal.entries)[-1].blocks[-1]
    assert isinstance(note, Note)
    assert "/p/a" in note.text, "the model is told that a file is not what it knows"
    await stage.agent.rewind(first.to, files=False)
    assert disk.files["/p/a"] == "2"
    (only,) = messages(stage.journal.entries)
    assert isinstance(only.blocks[0], Note)
    assert "stayed" in only.blocks[0].text


async def test_a_conflict_stops_it_before_anything_happens(disk: Disk) -> None:
    stage = await three_turns(disk)
    disk.files["/p/a"] = "mine"
    first = (await stage.agent.points())[0]
    count = len(stage.journal.entries)
    with pytest.raises(UsageFault, match="/p/a"):
        await stage.agent.rewind(first.to)
    assert (disk.files["/p/a"], len(stage.journal.entries)) == ("mine", count)
    await stage.agent.rewind(first.to, anyway=True)
    assert disk.files["/p/a"] == "0"
    await stage.agent.rewind((await stage.agent.points())[-1].to)
    assert disk.files["/p/a"] == "mine"


async def test_an_interrupted_call_is_part_of_it(disk: Disk) -> None:
    stage = Stage(say("", call("c1", "change", seconds=30)), mode="bypass", snapshots=disk)
    turn = asyncio.create_task(stage.agent.say("go"))
    while not stage.change.running:
        await asyncio.sleep(0)
    disk.files["/p/a"] = "half"
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)
    (point,) = await stage.agent.points()
    await stage.agent.rewind(point.to)
    assert disk.files["/p/a"] == "0"
    assert messages(stage.journal.entries) == ()


async def test_what_no_call_here_tells_is_part_of_it(disk: Disk) -> None:
    stage = await three_turns(disk)
    disk.files["/p/b"] = "1"
    disk.untold = (FileChange("/p/b", NONE, state("1")),)
    third = (await stage.agent.points())[2]
    assert [change.path for change in third.files] == ["/p/a", "/p/b"]
    await stage.agent.rewind(third.to)
    assert disk.files == {"/p/a": "2", "/p/b": ""}


async def test_a_killed_call_is_settled_when_it_goes_on(disk: Disk) -> None:
    stage = await three_turns(disk)
    started = next(i for i, e in enumerate(stage.journal.entries) if isinstance(e, ToolStarted) and e.use_id == "c3")
    again = Stage(say("ok"), entries=stage.journal.entries[: started + 1], snapshots=disk)
    assert net(again.journal.entries)[0].after.digest == "2"
    assert (await again.agent.points())[-1].files[0].after.digest == "3"
    await again.agent.say("go on")
    assert len([e for e in again.of(Changed) if e.use_id == "c3"]) == 1


def tasked(disk: Disk, *replies: Reply, entries: Sequence[Entry] = ()) -> tuple[Stage, Subagent, Toolset]:
    """A stage in whose turn a sub-agent works, with the stage's tools."""
    stage = Stage(say("ok"), mode="bypass", entries=entries, snapshots=disk)
    stage.journal.append(UserSaid((Text("go"),)))
    stage.journal.append(AssistantSaid((call("t1", "task"),), "tool_use"))
    stage.journal.append(ToolStarted("t1", "task", "Do", "Do it", Plain("")))
    agent, valves = stage.agent, stage.agent.valves
    parent = Parent(stage.journal, Replies(*replies), stage.gate, valves, stage.clock, Numbers(), agent.policy, disk)
    tools = Toolset([stage.change], lambda error, tool: f"{tool}: {error}")
    opened: list[Entry] = [Opened("c", "/p", ("sub",), tools.schemas(), "m", 1000)]
    return stage, Subagent(parent, "t1", "Do", Journal(opened)), tools


async def test_what_a_sub_agent_changed_is_known_wherever_a_kill_falls(disk: Disk) -> None:
    """Its log has the change first; the session's log may end before it, and the file is known all the same."""
    replies = [say("", call("c1", "change", answer="1")), say("", call("c2", "change", answer="2")), say("Done.")]
    stage, agent, tools = tasked(disk, *replies)
    _writing(stage, disk)
    await agent.work(tools, "change it twice")
    entries = list(stage.journal.entries)
    assert [(e.use_id, e.call) for e in stage.of(Prepared)] == [("t1", "c1"), ("t1", "c2")]
    assert [(e.use_id, e.call) for e in stage.of(Changed)] == [("t1", "c1"), ("t1", "c2")]
    for end in range(len(entries) + 1):
        prepared = sum(isinstance(e, Prepared) for e in entries[:end])
        if not prepared:
            continue
        disk.files = {"/p/a": str(prepared)}
        again = Stage(say("ok"), entries=entries[:end], snapshots=disk)
        (point,) = await again.agent.points()
        assert [(c.path, c.before.digest, c.after.digest) for c in point.files] == [("/p/a", "0", str(prepared))]
        await again.agent.rewind(point.to)
        assert disk.files == {"/p/a": "0"}


async def test_a_sub_agents_sub_agent_is_told_of_by_its_own_call(disk: Disk) -> None:
    stage, outer, tools = tasked(disk)
    lent = replace(outer.parent, model=Replies(say("", call("deep", "change", answer="1")), say("Done.")))
    inner = Subagent(lent, "t2", "Deeper", Journal([Opened("d", "/p", ("sub",), tools.schemas(), "m", 1000)]))
    _writing(stage, disk)
    await inner.work(tools, "change it")
    assert [(e.use_id, e.call) for e in stage.of(Prepared)] == [("t1", "deep")]
    assert [(e.use_id, e.call) for e in stage.of(Changed)] == [("t1", "deep")]
    assert cut_off(stage.journal.entries) == []


async def test_messages_that_wait_are_given_back(disk: Disk) -> None:
    stage = await three_turns(disk)
    stage.agent.steer("and this")
    stage.agent.later("and that")
    back = await stage.agent.rewind((await stage.agent.points())[2].to)
    assert back.text == "turn 3\n\nand this\n\nand that"
    assert not stage.agent.waiting


async def test_not_while_it_works_and_only_to_points(disk: Disk) -> None:
    stage = await three_turns(disk)
    with pytest.raises(UsageFault, match="no message"):
        await stage.agent.rewind(4)
    stage.agent.working = True
    with pytest.raises(UsageFault, match="running"):
        await stage.agent.rewind((await stage.agent.points())[0].to)


async def test_looking_costs_no_look() -> None:
    disk = Disk()
    stage = Stage(say("", call("1")), say("done"), snapshots=disk)
    await stage.agent.say("go")
    assert (disk.looks, stage.of(Changed)) == (0, [])


async def test_what_is_sent_next_is_what_was_sent_then(disk: Disk) -> None:
    stage = await three_turns(disk)
    sent = [asked.messages for asked in stage.model.asked]
    await stage.agent.rewind((await stage.agent.points())[1].to)
    await stage.agent.say("turn 2")
    assert stage.model.asked[-1].messages == sent[2]


CONTENT = st.sampled_from(["", "1", "2", "3"])


@given(st.lists(st.tuples(st.sampled_from("abc"), CONTENT), max_size=12), st.data())
def test_going_back_gives_what_was_there(writes: list[tuple[str, str]], data: st.DataObject) -> None:
    """Whatever was written and rewound before: the files at a point are the files that were there at that point."""
    disk: dict[str, str] = dict.fromkeys("abc", "")
    entries: list[object] = []
    history = []
    for path, content in writes:
        history.append((len(entries), dict(disk)))
        if data.draw(st.booleans()):
            to, _ = data.draw(st.sampled_from(history))
            plan = [(each.path, each.wanted) for each in restorings(entries, to)]  # type: ignore[arg-type]
            entries.append(Changed("", tuple(FileChange(p, state(disk[p]), wanted) for p, wanted in plan)))
            entries.append(Rewound(to, files=True))
            disk.update({p: wanted.digest for p, wanted in plan})
        else:
            entries.append(Changed("u", (FileChange(path, state(disk[path]), state(content)),)))
            disk[path] = content
    for to, then in history:
        after = dict(disk)
        for each in restorings(entries, to):  # type: ignore[arg-type]
            assert each.expected == state(disk[each.path])
            after[each.path] = each.wanted.digest
        assert after == then
