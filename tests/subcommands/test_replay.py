"""`codeagent replay` on the tour: offline proof, frames, tools run again, two runs compared."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from codeagent.core.effects import Answer
from codeagent.demo.tour import Tour
from codeagent.sessions import codec
from tests.core.stage import Person
from tests.demo.visit import visit
from tests.subcommands.conftest import Run, only, play


def test_the_tour_replays_byte_for_byte(tour: Tour, run: Run) -> None:
    code, out, err = run("replay", str(only(tour)))
    assert (code, err) == (0, "")
    assert "6 requests rebuilt from the log, each equal to what was sent." in out
    code, out, _ = run("replay", only(tour).stem, "--cwd", str(tour.root), "--json")
    assert json.loads(out) == {"requests": 6, "differences": []}


def test_without_a_session_the_newest_is_taken_and_named(tour: Tour, run: Run) -> None:
    for command in ("replay", "inspect"):
        code, out, err = run(command, "--cwd", str(tour.root))
        assert code == 0
        assert out
        assert err.startswith(f"The newest session: {only(tour).stem}")


def test_a_changed_result_is_named_with_its_block(tour: Tour, run: Run) -> None:
    path = only(tour)
    lines = path.read_bytes().splitlines(keepends=True)
    changed = [_other_total(line) for line in lines]
    assert changed != lines
    path.write_bytes(b"".join(changed))
    code, out, _ = run("replay", str(path))
    assert code == 1
    assert "4 of 6 requests are not what was sent" in out
    assert "request 3" in out
    assert "messages.4.content.0" in out
    assert "FAIL: test_total_with_discount" in out


def _other_total(line: bytes) -> bytes:
    read = codec.decode(line)
    body = codec.body(line.rstrip(b"\n"))
    if b'"kind":"tool_finished"' not in body or b"8100 != 9000" not in body:
        return line
    entry = msgspec.json.decode(body.replace(b"8100 != 9000", b"8100 != 9001"), type=type(read.entry))
    return codec.encode(read.seq, read.at, entry)


async def test_frames_are_the_same_for_two_runs(
    tour: Tour, run: Run, tmp_path: Path, program_env: dict[str, str]
) -> None:
    again = await play(tmp_path / "other", program_env)
    code, frames, _ = run("replay", str(only(tour)), "--frames")
    assert code == 0
    assert run("replay", str(only(tour)), "--frames")[1] == frames
    ours, theirs = _without_digests(frames), _without_digests(run("replay", str(only(again)), "--frames")[1])
    assert ours == [line.replace("/other/tour.script", "/first/tour.script") for line in theirs]
    assert "tool_finished    edit: +1 -1" in frames


def _without_digests(frames: str) -> list[str]:
    """The system prompt names the project's directory, so the requests of two projects differ."""
    return [line.partition(", sha256")[0] for line in frames.splitlines()]


async def test_two_runs_of_one_script_are_equal_call_by_call(
    tour: Tour, run: Run, tmp_path: Path, program_env: dict[str, str]
) -> None:
    again = only(await play(tmp_path / "other", program_env))
    code, out, _ = run("replay", str(only(tour)), "--against", str(again))
    assert (code, out) == (0, "No difference.\n")


async def test_where_two_runs_part_is_shown(tour: Tour, run: Run, tmp_path: Path, program_env: dict[str, str]) -> None:
    other = tmp_path / "other.script"
    told = tour.script.read_text().replace(str(tour.root), str(tmp_path / "other" / "shop"))
    other.write_text(told.replace('"pattern": "discount"', '"pattern": "subtotal"', 1))
    again = only(await play(tmp_path / "other", program_env, other))
    code, out, _ = run("replay", str(only(tour)), "--against", str(again))
    assert code == 1
    assert "call 2, grep: what was asked" in out
    assert "-pattern: discount" in out
    assert "+pattern: subtotal" in out


def test_the_tools_run_again_in_a_copy(tour: Tour, run: Run) -> None:
    before = {path: path.read_bytes() for path in tour.root.rglob("*") if path.is_file()}
    code, out, _ = run("replay", str(only(tour)), "--run-tools")
    assert "Taken back in the copy first: 1 change of this session." in out
    assert "8 of 8 calls run again; another result: 0." in out
    assert code == 0
    assert {path: path.read_bytes() for path in tour.root.rglob("*") if path.is_file()} == before


@pytest.fixture
async def rewritten(tmp_path: Path, program_env: dict[str, str]) -> Tour:
    """The tour with another edit than the recorded one: the person wrote it, with the whole path."""

    def person(tour: Tour) -> Person:
        cart = tour.root / "shop" / "cart.py"
        cart.write_text(cart.read_text() + "# subtotal\n")
        mine = {"file_path": str(cart), "old_string": "# subtotal", "new_string": "# sub-total"}
        return Person(Answer("yes", "", mine))

    return await play(tmp_path / "first", program_env, person=person)


def test_a_call_that_the_person_changed_runs_again_as_changed_and_in_the_copy(rewritten: Tour, run: Run) -> None:
    cart = rewritten.root / "shop" / "cart.py"
    before = cart.read_text()
    assert before.endswith("# sub-total\n")
    _, out, _ = run("replay", str(only(rewritten)), "--run-tools")
    assert "another result: 0." in out, out
    assert cart.read_text() == before


async def test_the_way_back_names_the_project_from_elsewhere(tour: Tour, program_env: dict[str, str]) -> None:
    house = visit(tour.root, tour.script, tour.rules, Person(), program_env, again=True)
    try:
        assert house.resume_command == f"codeagent -r {only(tour).stem} --cwd {tour.root}"
    finally:
        await house.close()


def test_a_result_that_came_out_differently_is_shown(tour: Tour, run: Run) -> None:
    receipt = tour.root / "shop" / "receipt.py"
    receipt.write_text(receipt.read_text() + "# about the discount\n")
    code, out, _ = run("replay", str(only(tour)), "--run-tools")
    assert code == 1
    assert "call 2, grep" in out
    assert "# about the discount" in out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("a", "b"), "One session at a time."),
        (("none.jsonl",), "There is no session log"),
    ],
)
def test_mistakes_are_told(run: Run, argv: tuple[str, ...], words: str) -> None:
    code, _, err = run("replay", *argv)
    assert code == 2
    assert words in err
