"""The memory tool over a real notebook: what it plans is what it does."""

import json

import pytest
from pydantic import ValidationError

from codeagent.core.effects import Permit, Risk
from codeagent.core.errors import ToolFault
from codeagent.core.events import Opened, UserSaid
from codeagent.core.messages import Text
from codeagent.core.views import Diff, Listing
from codeagent.memory.layout import Layout
from codeagent.memory.topics import Topics
from codeagent.sessions.search import search
from codeagent.sessions.store import Log
from codeagent.tools.memory import Memory, MemoryInput


@pytest.fixture
def layout(tmp_path):
    return Layout(tmp_path)


@pytest.fixture
def tool(layout):
    notes = Topics(layout, b"k" * 32, "s1", lambda: 0.0, lambda words: search(layout.sessions, words))
    return Memory(notes, layout.project)


async def use(tool, **fields):
    args = MemoryInput(**fields)
    effect = await tool.plan(args)
    return effect, [each async for each in tool.run(args, Permit(effect))][-1]


def said(result):
    return result.blocks[0].text


SAVE = {"action": "save", "name": "Build", "description": "how to build", "text": "Run make."}


async def test_a_save_shows_its_diff_and_does_it(tool, layout):
    effect, result = await use(tool, **SAVE)
    assert (effect.risk, effect.title) == (Risk.MEDIUM, "Save memory topic Build")
    assert [(t.path, t.access, t.named) for t in effect.touches] == [
        (str(layout.memory / "build.md"), "write", ".agent/memory/build.md")
    ]
    assert isinstance(effect.view, Diff)
    assert effect.view.created
    assert "+Run make." in effect.view.hunks[0].lines
    assert result.view == effect.view
    assert said(result) == "Saved build.md."
    effect, result = await use(tool, **{**SAVE, "text": "Run ninja."})
    assert {"-Run make.", "+Run ninja."} <= set(effect.view.hunks[-1].lines)
    assert effect.before == result.before != result.after


async def test_reading_is_low_and_touches_nothing(tool):
    await use(tool, **SAVE)
    for fields, words in (
        ({"action": "list"}, "[Build](build.md) - how"),
        ({"action": "read", "name": "build"}, "Run make."),
        ({"action": "search", "query": "MAKE"}, "Run make."),
    ):
        effect, result = await use(tool, **fields)
        assert (effect.risk, effect.touches) == (Risk.LOW, ())
        assert words in said(result)


async def test_a_deletion_is_shown(tool):
    await use(tool, **SAVE)
    effect, result = await use(tool, action="delete", name="Build")
    assert (effect.risk, effect.view.added, effect.after) == (Risk.MEDIUM, 0, "")
    assert said(result) == "Deleted build.md."
    assert said((await use(tool, action="list"))[1]) == "# Memory"


async def test_what_was_permitted_is_what_happens(tool):
    args = MemoryInput(**SAVE)
    permit = Permit(await tool.plan(args))
    await use(tool, **{**SAVE, "text": "Other."})
    with pytest.raises(ToolFault, match="changed since this was shown"):
        [each async for each in tool.run(args, permit)]


async def test_old_sessions_are_searched(tool, layout):
    log = Log.create(layout.sessions / "old1.jsonl", lambda: 1_764_444_444.0)
    log.append(Opened("old1", "/", (), (), "m", 1))
    log.append(UserSaid((Text("the cart rounds wrongly"),)))
    log.close()
    _, result = await use(tool, action="search_sessions", query="rounds")
    assert said(result) == "old1 2025-11-29 19:27 user_said: the cart rounds wrongly"
    assert result.view == Listing((said(result),))
    assert said((await use(tool, action="search_sessions", query="nowhere"))[1]) == "Nothing holds 'nowhere'."


@pytest.mark.parametrize(
    ("fields", "lacking"),
    [
        ({"action": "read"}, "name"),
        ({"action": "save", "name": "a", "description": "d"}, "text"),
        ({"action": "search", "query": " "}, "query"),
    ],
)
async def test_what_lacks_is_named(tool, fields, lacking):
    with pytest.raises(ToolFault, match=f"^{lacking}: missing"):
        await tool.plan(MemoryInput(**fields))


@pytest.mark.parametrize(
    "fields", [{}, {"action": "forget"}, {"action": "list", "extra": 1}, {"action": "list", "name": 3}]
)
def test_wrong_inputs_are_refused(fields):
    with pytest.raises(ValidationError):
        MemoryInput(**fields)


def test_the_schema_is_small():
    size = len(Memory.description.encode()) + len(json.dumps(MemoryInput.model_json_schema(), separators=(",", ":")))
    assert size < 1200  # with pydantic's titles; without them under 1,000


LONGEST = 16_000
"""Characters that a memory call may bring into the context without a warning of its own: 20 bounded excerpts."""


@pytest.mark.parametrize("action", ["list", "search", "search_sessions"])
async def test_no_call_brings_more_than_its_bounded_excerpt(tool, layout, action):
    """Transcripts and indexes as large as they come: what reaches the model stays small."""
    line = "needle " + "hay " * 200_000
    for number in range(30):
        log = Log.create(layout.sessions / f"20261129-1200{number:02d}-a.jsonl", lambda: 1.0)
        log.append(Opened("s", "/p", (), (), "m", 1))
        for _ in range(3):
            log.append(UserSaid((Text(line),)))
        log.close()
    layout.memory.mkdir(parents=True)
    layout.index.write_text("".join(f"- [needle {n}](t{n}.md) - {'d' * 100}\n" for n in range(5000))[:60_000])
    for number in range(80):
        (layout.memory / f"t{number}.md").write_text(f"needle {'x' * 5000}\n" * 10)
    _, result = await use(tool, action=action, query="needle" if action != "list" else "")
    bound = 26_000 if action == "list" else LONGEST
    assert 1000 < len(said(result)) <= bound
