"""What commands and edits do to files is known, kept and put back; real files, real git where it matters."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from codeagent.core.effects import Effect, Risk, ShellReading, Touch
from codeagent.core.file_states import FileChange, FileState
from codeagent.core.ports import Conflict, Restoring
from codeagent.core.views import Plain
from codeagent.host.listing import Lister
from codeagent.host.objects import Objects
from codeagent.host.restoring import MANY
from codeagent.host.snapshots import ProjectSnapshots
from codeagent.host.states import LARGE

COMMAND = Effect("bash", "x", "Run x", Risk.HIGH, Plain("x"), shell=ShellReading((), True))
LOOK = Effect("bash", "ls", "Run ls", Risk.LOW, Plain("ls"), shell=ShellReading((), True))


def edit(path: Path) -> Effect:
    touch = Touch(str(path), "write", "inside")
    return Effect("edit", path.name, f"Edit {path.name}", Risk.MEDIUM, Plain(""), (touch,))


class Place:
    """A project with snapshots beside it."""

    def __init__(self, root: Path, store: Path, name: str = "s", **limits: int) -> None:
        self.root, self.store = root, store
        env = {"PATH": os.environ["PATH"], "HOME": str(store)}
        self.shots = ProjectSnapshots(store, name, [root], Lister(root, env), **limits)
        self.kept: tuple[tuple[str, FileState], ...] = ()
        self.words = ""

    def write(self, name: str, text: str, mode: int = 0o644) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    async def before(self, effect: Effect = COMMAND) -> None:
        kept = await self.shots.keep(effect)
        self.kept, self.words = kept.paths, kept.words

    async def after(self, *, scanned: bool = True) -> tuple[FileChange, ...]:
        return await self.shots.changes(self.kept, scanned=scanned)

    async def back(self, changes: tuple[FileChange, ...]) -> tuple[tuple[FileChange, ...], tuple[Conflict, ...]]:
        plan = [Restoring(change.path, change.before, change.after) for change in changes]
        differing, conflicts = await self.shots.compare(plan)
        assert not conflicts
        return await self.shots.restore(differing)

    def picture(self) -> dict[str, object]:
        """Everything below the root: bytes and mode of files, targets of links, modes of folders."""
        found: dict[str, object] = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if name.split("/", maxsplit=1)[0] == ".git":
                continue
            if path.is_symlink():
                found[name] = os.readlink(path)
            else:
                found[name] = (path.stat().st_mode, None if path.is_dir() else path.read_bytes())
        return found


@pytest.fixture(params=["git", "plain"])
def place(request: pytest.FixtureRequest, project: Path, tmp_path: Path) -> Place:
    if request.param == "git":
        subprocess.run(["git", "init", "-q", str(project)], check=True)
    return Place(project, tmp_path / "store")


async def test_what_a_command_did_is_undone_whatever_it_was(place: Place) -> None:
    place.write("keep.txt", "same")
    place.write("change.txt", "old")
    place.write("run.sh", "echo", 0o755)
    place.write("gone/deep/a.txt", "a", 0o600)
    place.write("gone/b.txt", "b")
    (place.root / "gone/deep").chmod(0o700)
    (place.root / "way").symlink_to("keep.txt")
    place.write("turned", "a file that becomes a folder")
    before = place.picture()

    await place.before()
    shutil.rmtree(place.root / "gone")
    place.write("change.txt", "new")
    (place.root / "run.sh").chmod(0o644)
    (place.root / "way").unlink()
    (place.root / "way").symlink_to("/etc/passwd")
    (place.root / "turned").unlink()
    place.write("turned/inside.txt", "x")
    place.write("made/here/c.txt", "c")
    changes = await place.after()
    middle = place.picture()

    done, troubles = await place.back(changes)
    assert not troubles
    assert place.picture() == before
    assert (await place.back(done))[1] == ()
    assert place.picture() == middle
    assert str(place.root / "keep.txt") not in {change.path for change in changes}


async def test_a_look_costs_and_keeps_nothing(place: Place) -> None:
    place.write("a.txt", "a")
    await place.before(LOOK)
    assert place.kept == ()
    assert not place.store.exists()


async def test_an_edit_keeps_the_file_and_the_folders_that_it_makes(place: Place) -> None:
    new = place.root / "new/inner/file.txt"
    await place.before(edit(new))
    place.write("new/inner/file.txt", "x")
    changes = await place.after(scanned=False)
    assert [Path(change.path).name for change in changes] == ["new", "inner", "file.txt"]
    await place.back(changes)
    assert not (place.root / "new").exists()


async def test_what_a_killed_writer_left_does_not_keep_a_folder(place: Place) -> None:
    await place.before(edit(place.root / "new/file.txt"))
    place.write("new/file.txt", "x")
    changes = await place.after(scanned=False)
    gone = subprocess.Popen(["true"])
    gone.wait()
    place.write(f"new/.codeagent-{gone.pid}-aa", "half")
    await place.back(changes)
    assert not (place.root / "new").exists()


async def test_ignored_files_are_left_alone_even_when_they_stop_being_ignored(place: Place) -> None:
    place.write(".gitignore", "secret\n")
    secret = place.write("secret", "mine")
    time.sleep(0.06)  # older than the margin within which stamps prove nothing
    await place.before()
    (place.root / ".gitignore").unlink()
    changes = await place.after()
    assert [Path(change.path).name for change in changes] == [".gitignore"]
    await place.back(changes)
    assert secret.read_text() == "mine"


async def test_a_file_that_becomes_ignored_is_not_taken_for_deleted(place: Place) -> None:
    place.write("notes", "mine")
    await place.before()
    place.write(".gitignore", "notes\n")
    assert [Path(change.path).name for change in await place.after()] == [".gitignore"]


async def test_what_someone_else_changed_since_is_a_conflict(place: Place) -> None:
    path = place.write("a.txt", "old")
    await place.before()
    path.write_text("new")
    changes = await place.after()
    path.write_text("mine")
    plan = [Restoring(change.path, change.before, change.after) for change in changes]
    differing, conflicts = await place.shots.compare(plan)
    assert [(Path(each.path).name, each.why) for each in conflicts] == [("a.txt", "was changed since by someone else")]
    done, _ = await place.shots.restore(differing)
    assert path.read_text() == "old"
    await place.back(done)
    assert path.read_text() == "mine", "what stood there is kept, so that the rewind can be undone"


async def test_a_change_that_is_undone_already_is_no_conflict(place: Place) -> None:
    path = place.write("a.txt", "old")
    await place.before()
    path.write_text("new")
    changes = await place.after()
    path.write_text("old")
    plan = [Restoring(change.path, change.before, change.after) for change in changes]
    assert await place.shots.compare(plan) == ([], [])


async def test_a_folder_that_became_a_link_is_not_followed(place: Place, tmp_path: Path) -> None:
    place.write("in/a.txt", "old")
    await place.before()
    shutil.rmtree(place.root / "in")
    changes = await place.after()
    outside = tmp_path / "outside"
    outside.mkdir()
    (place.root / "in").symlink_to(outside)
    plan = [Restoring(change.path, change.before, change.after) for change in changes if change.before.kind == "file"]
    _, conflicts = await place.shots.compare(plan)
    _, troubles = await place.shots.restore(plan)
    assert "link" in conflicts[0].why
    assert "link" in troubles[0].why
    assert list(outside.iterdir()) == []


async def test_a_folder_that_a_command_made_a_link_comes_back_and_goes_again(place: Place) -> None:
    place.write("in/deep/a.txt", "old")
    place.write("in/b.txt", "old")
    place.write("other/b.txt", "other")
    before = place.picture()
    await place.before()
    shutil.rmtree(place.root / "in")
    (place.root / "in").symlink_to("other")
    after = place.picture()
    changes = await place.after()
    done, troubles = await place.back(changes)
    assert (place.picture(), troubles) == (before, ())
    await place.back(done)
    assert place.picture() == after


async def test_a_renamed_folder_goes_back_to_its_name_with_all_that_is_in_it(place: Place) -> None:
    for name in ("in/deep/a.txt", "in/b.txt", "other/b.txt"):
        place.write(name, name)
    time.sleep(0.06)  # older than the margin within which stamps prove nothing
    before = place.picture()
    await place.before()
    (place.root / "in").rename(place.root / "moved")
    place.write("in/b.txt", "another")
    changes = await place.after()
    assert {change.path.removeprefix(f"{place.root}/") for change in changes} >= {"moved/deep/a.txt", "moved/b.txt"}
    _, troubles = await place.back(changes)
    assert (place.picture(), troubles) == (before, ())


async def test_very_many_files_come_back_without_waiting_for_each(place: Place) -> None:
    for n in range(2 * MANY):
        place.write(f"in/{n}.txt", f"{n}\n")
    changed = place.write("kept.txt", "old")
    before = place.picture()
    await place.before()
    shutil.rmtree(place.root / "in")
    changed.write_text("new")
    done, troubles = await place.back(await place.after())
    assert (place.picture(), troubles) == (before, ())
    assert len(done) == 2 * MANY + 2


async def test_a_folder_with_files_of_others_in_the_place_of_a_link_is_left(place: Place) -> None:
    place.write("other/b.txt", "other")
    (place.root / "in").symlink_to("other")
    await place.before()
    (place.root / "in").unlink()
    place.write("in/b.txt", "new")
    changes = await place.after()
    place.write("in/c.txt", "theirs")
    after = place.picture()
    _, troubles = await place.shots.restore(
        [Restoring(c.path, c.before, c.after) for c in changes if "b" not in c.path]
    )
    assert [trouble.path for trouble in troubles] == [str(place.root / "in")]
    assert place.picture() == after


@pytest.mark.parametrize("name", ["../outside.txt", ".git/hooks/pre-commit", "sub/.git/config", ".agent/settings.json"])
async def test_places_that_a_log_must_not_reach_are_never_written(place: Place, name: str) -> None:
    digest = Objects(place.store).put(b"evil")
    path = str(place.root / name)
    for target in (path, os.path.normpath(path)):
        plan = [Restoring(target, FileState("file", digest, 0o755), FileState())]
        assert await place.shots.compare(plan) == ([], [])
        assert await place.shots.restore(plan) == ((), ())
        assert not os.path.lexists(target)


async def test_a_later_process_knows_what_a_killed_command_did(place: Place) -> None:
    path = place.write("a.txt", "old")
    await place.before()
    path.write_text("new")
    later = Place(place.root, place.store)
    changes = await later.after()
    assert [Path(change.path).name for change in changes] == ["a.txt"]
    await later.back(changes)
    assert path.read_text() == "old"


async def test_a_process_that_knows_no_tree_takes_nothing_for_new(place: Place) -> None:
    place.write("a.txt", "old")
    await place.before()
    fork = Place(place.root, place.store, "fork")
    assert await fork.after() == ()


@pytest.mark.parametrize("where", ["store", "store/{}", "store/trees", "store/trees/s"])
async def test_a_store_that_came_with_the_project_leads_nowhere(project: Path, tmp_path: Path, where: str) -> None:
    place = Place(project, tmp_path / "store")
    path = place.write("a.txt", "a")
    spot = tmp_path / where.format(Objects(tmp_path / "unused").put(b"a")[:2])
    outside = tmp_path / "outside"
    outside.mkdir()
    spot.parent.mkdir(parents=True, exist_ok=True)
    if spot.name == "s":
        os.mkfifo(spot)
    else:
        spot.symlink_to(outside)
    await place.before()
    path.unlink()
    await place.after()
    assert not [found for found in outside.rglob("*") if found.is_file()]


async def test_commands_side_by_side_tell_each_change_once(place: Place) -> None:
    for name in "abc":
        place.write(name, "0")
    shots = place.shots
    await shots.keep(COMMAND)
    place.write("a", "1")
    await shots.keep(COMMAND)
    place.write("b", "1")
    place.write("made", "1")
    kept = await shots.keep(edit(place.root / "c"))
    place.write("c", "1")
    told = [await shots.changes(kept.paths, scanned=False)]
    told.append(await shots.changes((), scanned=True))
    place.write("a", "2")
    told.append(await shots.changes((), scanned=True))
    names = [[Path(change.path).name for change in changes] for changes in told]
    assert names == [["c"], ["a", "b", "made"], ["a"]]
    place.write("b", "mine")
    await shots.keep(COMMAND)
    assert await shots.changes((), scanned=True) == ()
    assert await shots.rest() == (), "what a person does between commands is nobody's"


async def test_a_command_whose_end_nobody_told_is_told_as_the_rest(place: Place) -> None:
    place.write("a", "0")
    await place.shots.keep(COMMAND)
    place.write("a", "1")
    assert [Path(change.path).name for change in await place.shots.rest()] == ["a"]
    assert await place.shots.rest() == ()


async def test_a_same_size_change_within_the_same_tick_is_seen(place: Place) -> None:
    path = place.write("a.txt", "aaaa")
    for round_ in range(20):
        await place.before()
        state = path.stat()
        path.write_text(f"{round_:04}")
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
        assert len(await place.after()) == 1


async def test_hostile_names_come_back(place: Place) -> None:
    names = [b"line\nbreak", b"-rf", b"\xff\xfe", b"esc\x1b[2J", "ü".encode() * 100]
    for name in names:
        (place.root / os.fsdecode(name)).write_bytes(name)
    before = place.picture()
    await place.before()
    for name in names:
        (place.root / os.fsdecode(name)).unlink()
    changes = await place.after()
    await place.back(changes)
    assert place.picture() == before


async def test_too_many_files_are_said_once_and_edits_are_still_kept(project: Path, tmp_path: Path) -> None:
    place = Place(project, tmp_path / "store", most=3)
    for number in range(4):
        place.write(f"{number}.txt", "x")
    await place.before()
    assert "more than" in place.words
    assert not (await place.shots.keep(COMMAND)).words
    await place.before(edit(project / "1.txt"))
    place.write("1.txt", "y")
    await place.back(await place.after(scanned=False))
    assert (project / "1.txt").read_text() == "x"


async def test_a_large_file_is_named_and_not_kept_and_left(project: Path, tmp_path: Path) -> None:
    place = Place(project, tmp_path / "store")
    with (project / "large.bin").open("wb") as file:
        file.truncate((5 << 20) + 1)
    await place.before()
    assert "large.bin" in place.words
    (project / "large.bin").write_bytes(b"small")
    changes = await place.after()
    plan = [Restoring(change.path, change.before, change.after) for change in changes]
    _, conflicts = await place.shots.compare(plan)
    assert "too large" in conflicts[0].why
    assert (await place.shots.restore(plan))[1][0].path.endswith("large.bin")
    assert (project / "large.bin").read_bytes() == b"small"


async def test_a_full_store_drops_the_oldest_and_says_so(project: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    old = Objects(store)
    digests = [old.put(os.urandom(20_000)) for _ in range(4)]
    place = Place(project, store, limit=100_000)
    (project / "a.bin").write_bytes(os.urandom(40_000))
    await place.before()
    assert "oldest were dropped" in place.words
    assert digests[0] not in Objects(store)
    (project / "b.bin").write_bytes(os.urandom(90_000))
    await place.before()
    assert "full" in place.words
    assert sum(path.stat().st_size for path in store.rglob("*") if path.parent.name != "trees") <= 100_000


async def test_a_damaged_object_is_noticed(project: Path, tmp_path: Path) -> None:
    place = Place(project, tmp_path / "store")
    path = place.write("a.txt", "old")
    await place.before()
    path.unlink()
    changes = await place.after()
    digest = changes[0].before.digest
    (tmp_path / "store" / digest[:2] / digest[2:]).write_bytes(b"not what it was")
    plan = [Restoring(change.path, change.before, change.after) for change in changes]
    _, troubles = await place.shots.restore(plan)
    assert "not kept any more" in troubles[0].why
    assert not path.exists()


async def test_everything_kept_is_private(place: Place) -> None:
    place.write("a.txt", "a")
    await place.before()
    for path in (place.store, *place.store.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


def busy() -> float:
    """Seconds of processor time that this process and its ended children took: a busy machine does not change them."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.mark.bench
async def test_five_thousand_files_are_looked_at_in_under_fifty_milliseconds(project: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    place = Place(project, tmp_path / "store")
    for number in range(5000):
        place.write(f"d{number % 100}/f{number}.py", f"x = {number}\n" * 40)
    began = busy()
    await place.before()
    first = busy() - began
    time.sleep(0.1)  # older than the margin within which stamps prove nothing
    await place.before()
    looks = []
    for _ in range(10):
        began = busy()
        await place.before()
        looks.append(busy() - began)
    print(f"first {first * 1000:.0f} ms, then {sorted(looks)[5] * 1000:.1f} ms of processor time")
    assert sorted(looks)[5] < 0.05


async def test_the_true_reason_is_told_for_what_cannot_be_kept(project: Path, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where the folder should be")
    place = Place(project, tmp_path / "store")
    place.write("small.txt", "x")
    place.write("huge.bin", "x" * (LARGE + 1))
    await place.before()
    assert "Too large to keep for /rewind: huge.bin." in place.words
    assert "Cannot be kept for /rewind (Not a directory): small.txt." in place.words
    await place.before()
    assert place.words == ""


async def test_an_edit_tells_too_that_there_is_no_way_back(project: Path, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    place = Place(project, tmp_path / "store")
    await place.before(edit(place.write("a.txt", "x")))
    assert place.words == "Cannot be kept for /rewind (Not a directory): a.txt."
