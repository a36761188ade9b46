"""`codeagent sessions` and its commands, on real logs."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from codeagent.core.events import Asked, AssistantSaid, Opened, ToolFinished, TurnEnded, UserSaid
from codeagent.core.messages import Text
from codeagent.demo.tour import Tour
from codeagent.models.retelling import retell
from codeagent.sessions.comparing import compare
from codeagent.sessions.load import load
from codeagent.sessions.store import Log
from tests.subcommands.conftest import Run, only, play

DAY = 86400.0
NOW = 1_900_000_000.0


@pytest.fixture
def three(project: Path) -> Path:
    """Three sessions of different age; the oldest has an output beside it."""
    directory = project / ".agent" / "sessions"
    for name, days in (("old", 100), ("mid", 40), ("new", 0)):
        at = time.time() - days * DAY
        log = Log.create(directory / f"{name}.jsonl", lambda at=at: at)
        for entry in (
            Opened(name, str(project), ("sys",), (), "m", 100),
            UserSaid((Text(f"please fix {name}"),)),
            AssistantSaid((Text("Done."),), cost=0.01),
            TurnEnded("done"),
        ):
            log.append(entry)
        log.close()
        os.utime(log.path, (at, at))
    (directory / "old").mkdir()
    (directory / "old" / "output.txt").write_text("x" * 5000)
    return directory


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_a_preview_removes_nothing(three: Path, run: Run) -> None:
    before = names(three)
    code, out, _ = run("sessions", "prune", "--older", "30d", "--cwd", str(three.parent.parent))
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[:-1]] == ["old", "mid"]
    assert "2 sessions of 3" in out
    assert "add --yes" in out
    assert names(three) == before


def test_prune_removes_the_old_with_what_belongs_to_them(three: Path, run: Run) -> None:
    code, out, _ = run("sessions", "prune", "--older", "60d", "--yes", "--cwd", str(three.parent.parent))
    assert code == 0
    assert "Removed 1 session of 3" in out
    assert names(three) == {"mid.jsonl", "new.jsonl"}


def test_prune_without_bounds_goes_by_the_setting_and_doctor_tells_the_same(
    three: Path, run: Run, program_env: dict[str, str]
) -> None:
    project = str(three.parent.parent)
    for days, old in (("60", ["old"]), ("1", ["old", "mid"])):
        program_env["CODEAGENT_CLEANUP_PERIOD_DAYS"] = days
        code, out, _ = run("sessions", "prune", "--cwd", project)
        assert code == 0
        assert out.startswith(f"Older than {days} days, as cleanupPeriodDays says:\n")
        assert "Nothing was removed" in out
        rows = json.loads(run("sessions", "prune", "--json", "--cwd", project)[1])
        assert [(row["id"], row["removed"]) for row in rows] == [(name, False) for name in old]
        findings = json.loads(run("doctor", "--json", "--cwd", project)[1])
        [told] = [row["words"] for row in findings if row["name"] == "sessions"]
        assert f"; {len(old)} of them older than {days} days (" in told
    done = json.loads(run("sessions", "prune", "--json", "--yes", "--cwd", project)[1])
    assert all(row["removed"] and row["size"] > 0 for row in done)
    assert names(three) == {"new.jsonl"}


def test_prune_by_size_takes_the_oldest_until_the_rest_fits(three: Path, run: Run) -> None:
    each = (three / "new.jsonl").stat().st_size
    keep = str(2 * each + 10)
    code, _, _ = run("sessions", "prune", "--keep", keep, "--yes", "--cwd", str(three.parent.parent))
    assert code == 0
    assert names(three) == {"mid.jsonl", "new.jsonl"}


def test_an_open_session_stays(three: Path, run: Run) -> None:
    log, _ = Log.open(three / "old.jsonl", lambda: NOW)
    try:
        code, out, _ = run("sessions", "delete", "old", "--yes", "--cwd", str(three.parent.parent))
    finally:
        log.close()
    assert code == 1
    assert "open in another codeagent" in out
    assert "old.jsonl" in names(three)


def test_delete_asks_for_yes(three: Path, run: Run) -> None:
    project = str(three.parent.parent)
    assert "add --yes" in run("sessions", "delete", "mid", "--cwd", project)[1]
    assert "mid.jsonl" in names(three)
    assert run("sessions", "delete", "mid", "--yes", "--cwd", project)[0] == 0
    assert "mid.jsonl" not in names(three)


def test_rename_adds_to_the_log_and_the_name_finds_it(three: Path, run: Run) -> None:
    project = str(three.parent.parent)
    before = (three / "new.jsonl").read_bytes()
    assert run("sessions", "rename", "new", "The", "cart", "--cwd", project)[0] == 0
    assert (three / "new.jsonl").read_bytes().startswith(before)
    [told] = [each for each in json.loads(run("sessions", "--json", "--cwd", project)[1]) if each["id"] == "new"]
    assert told["title"] == "The cart"
    assert "please fix new" in run("sessions", "show", "the cart", "--cwd", project)[1]


def test_a_fork_ends_before_the_step(tour: Tour, run: Run) -> None:
    code, out, _ = run("sessions", "fork", only(tour).stem, "--step", "3", "--cwd", str(tour.root))
    copy = out.split()[2].rstrip(".")
    assert code == 0
    entries = load(tour.root / ".agent" / "sessions" / f"{copy}.jsonl").entries
    assert sum(isinstance(entry, Asked) for entry in entries) == 2
    assert isinstance(entries[-1], ToolFinished)
    assert run("replay", copy, "--cwd", str(tour.root))[0] == 0


def test_search_finds_words_and_says_when_there_are_none(three: Path, run: Run) -> None:
    project = str(three.parent.parent)
    code, out, _ = run("sessions", "search", "fix mid", "--cwd", project)
    assert (code, out.split()[0]) == (0, "mid")
    assert run("sessions", "search", "nowhere", "--cwd", project)[0] == 1
    assert json.loads(run("sessions", "search", "please", "--json", "--cwd", project)[1])[0]["kind"] == "user_said"


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("exprot",), "Did you mean export?"),
        (("prune", "--older", "soon"), "an age such as 30d"),
        (("prune", "--keep", "5x"), "a size such as 500M"),
        (("rename", "a"), "codeagent sessions rename ID NAME"),
        (("export", "--step", "1"), "Which session?"),
        (("delete", "nothing"), "There is no session"),
    ],
)
def test_mistakes_are_told(run: Run, project: Path, argv: tuple[str, ...], words: str) -> None:
    code, _, err = run("sessions", *argv, "--cwd", str(project))
    assert code == 2
    assert words in err


@pytest.mark.parametrize("act", ["list", "show", "search", "export", "rename", "fork", "delete", "prune"])
def test_every_command_has_help_with_an_example(run: Run, act: str) -> None:
    code, out, _ = run("sessions", act, "--help")
    assert code == 0
    assert f"codeagent sessions {'' if act == 'list' else act}" in out.partition("example")[2]


def test_the_trace_is_a_tree_with_figures(tour: Tour, run: Run) -> None:
    code, out, _ = run("sessions", "show", str(only(tour)), "--trace")
    lines = out.splitlines()
    assert code == 0
    assert "1 turn, 6 requests" in lines[0]
    assert lines[1].startswith("  turn 1 “the cart total")
    assert any("edit  Edit shop/cart.py: done, by dialog" in line for line in lines)
    assert any("bash  Run " in line and "failed, by rule" in line for line in lines)


def test_spans_have_the_names_of_the_conventions(tour: Tour, run: Run) -> None:
    run_ = json.loads(run("sessions", "show", str(only(tour)), "--trace", "--json")[1])
    assert run_["attributes"]["gen_ai.conversation.id"] == only(tour).stem
    [turn] = run_["children"]
    steps = turn["children"]
    assert [step["attributes"]["gen_ai.operation.name"] for step in steps] == ["chat"] * 6
    assert (
        sum(step["attributes"]["gen_ai.usage.input_tokens"] for step in steps)
        == (run_["attributes"]["gen_ai.usage.input_tokens"])
    )
    [bash] = steps[1]["children"]
    assert (bash["name"], bash["status"]) == ("execute_tool bash", "error")
    assert "input" not in " ".join(key for key in bash["attributes"])


def test_the_messages_are_those_of_the_wire(tour: Tour, run: Run) -> None:
    code, out, _ = run("sessions", "export", str(only(tour)), "--messages", "--step", "2")
    messages = json.loads(out)
    assert code == 0
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert {block["type"] for block in messages[2]["content"]} == {"tool_result"}


async def test_a_session_as_a_script_is_played_again_alike(
    tour: Tour, run: Run, tmp_path: Path, program_env: dict[str, str]
) -> None:
    script = tmp_path / "again.script"
    code, _, err = run("sessions", "export", str(only(tour)), "--as-script", "-o", str(script))
    assert (code, err) == (0, f"Written to {script}\n")
    again = only(await play(tmp_path / "other", program_env, script))
    ours, theirs = load(only(tour)).entries, load(again).entries
    assert [p for p in compare(ours, theirs) if not p.what.startswith("reply 6")] == []
    assert retell(theirs) == script.read_text()


def test_an_export_never_overwrites(tour: Tour, run: Run, tmp_path: Path) -> None:
    target = tmp_path / "a.html"
    assert run("sessions", "export", str(only(tour)), "-o", str(target))[0] == 0
    assert target.read_text().startswith("<!doctype html>")
    code, _, err = run("sessions", "export", str(only(tour)), "-o", str(target))
    assert code == 2
    assert "exists already" in err
    assert run("sessions", "export", str(only(tour)), "-o", str(tmp_path / "a.pdf"))[0] == 2


def test_doctor_says_what_everything_takes(three: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(three.parent.parent)
    [disk] = [each for each in json.loads(run("doctor", "--json")[1]) if each["name"] == "disk"]
    assert re.match(r"sessions [67]\.\d kB, \.agent in all [67]\.\d kB", disk["words"])
