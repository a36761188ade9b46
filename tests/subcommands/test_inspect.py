"""`codeagent inspect`: requests as they were sent, and one sent again to a real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codeagent.core.events import TurnEnded
from codeagent.demo.tour import Tour
from codeagent.options import Options
from codeagent.wiring.ground import Ground
from codeagent.wiring.house import House
from tests.core.stage import Person
from tests.loopback import KEY, Loopback
from tests.replies import say
from tests.subcommands.conftest import Run, only


def test_the_table_has_a_line_for_each_request(tour: Tour, run: Run) -> None:
    code, out, _ = run("inspect", str(only(tour)))
    head, *rows = out.splitlines()
    assert code == 0
    assert head.split() == ["step", "new", "prompt", "cached", "written", "first", "took", "cost", "stop"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert "2 of 11" in rows[5]
    assert rows[5].endswith("end_turn")


def test_a_step_in_full(tour: Tour, run: Run) -> None:
    code, out, _ = run("inspect", str(only(tour)), "--step", "3")
    assert code == 0
    assert "x-api-key: (not shown)" in out
    assert "messages: 5, of which 3 were sent before" in out
    assert "call bash" not in out.split("reply ")[1]
    assert "There it is: `8100 != 9000`." in out.split("reply ")[1]


def test_a_step_for_a_script(tour: Tour, run: Run) -> None:
    told = json.loads(run("inspect", str(only(tour)), "--step", "6", "--json")[1])
    assert (told["as_recorded"], told["new_messages"], told["stop"], told["problems"]) == (True, 2, "end_turn", [])
    assert len(told["body"]["messages"]) == 11
    assert told["reply"]["blocks"][0]["text"].startswith("Mended")


@pytest.fixture
async def asked(project: Path, program_env: dict[str, str]) -> Path:
    """The log of a session that a server answered once."""
    with Loopback(lambda _: say("A first answer.")) as server:
        env = {**program_env, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        options = Options(cwd=str(project), model="claude-sonnet-5-5")
        house = House(options, Ground(options, env, Path(env["HOME"])), Person())
        house.connect()
        await house.agent.say("What is this?")
        ended = house.agent.journal.entries[-1]
        assert isinstance(ended, TurnEnded)
        assert ended.why == "done", ended.detail
        await house.close()
    [path] = (project / ".agent" / "sessions").glob("*.jsonl")
    return path


def test_the_same_step_with_another_prompt_side_by_side(
    asked: Path, run: Run, program_env: dict[str, str], tmp_path: Path
) -> None:
    other, tools = tmp_path / "other.txt", tmp_path / "tools.json"
    other.write_text("You are brief.")
    tools.write_text('[{"name": "look", "description": "Look.", "input_schema": {"type": "object"}}]')
    before = asked.read_bytes()
    with Loopback(lambda _: say("A second answer.")) as server:
        program_env |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        edits = ("--system", str(other), "--message", "Once more?", "--tools", str(tools))
        code, out, err = run("inspect", str(asked), "--step", "1", "--resend", *edits)
        [body] = server.bodies
    assert (code, err) == (0, "")
    assert any("A first answer." in line and "A second answer." in line for line in out.splitlines())
    assert body["system"][0]["text"] == "You are brief."
    assert "Once more?" in json.dumps(body["messages"][-1])
    assert "What is this?" not in json.dumps(body["messages"])
    assert [tool["name"] for tool in body["tools"]] == ["look"]
    assert asked.read_bytes() == before


def test_what_the_api_would_refuse_is_not_sent(asked: Path, run: Run, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text('[{"name": "no good", "input_schema": {"type": "string"}}]')
    code, _, err = run("inspect", str(asked), "--step", "1", "--resend", "--tools", str(tools))
    assert code == 2
    assert "tools.0.name" in err
    assert "tools.0.input_schema.type" in err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--step", "9"), "There is no step 9. This session has 6: 1 to 6."),
        (("--resend",), "Send which step again?"),
        (("--step", "1", "--resend", "--tools", "none.json"), "cannot be read"),
    ],
)
def test_mistakes_are_told(tour: Tour, run: Run, argv: tuple[str, ...], words: str) -> None:
    code, _, err = run("inspect", str(only(tour)), *argv)
    assert code == 2
    assert words in err
