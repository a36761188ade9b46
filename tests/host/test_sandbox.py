"""The walls, tried from inside with real commands."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from codeagent.host.sandbox import Sandbox, find

works = pytest.mark.skipif(not find(), reason="no bubblewrap")
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    for name in (".ssh/id_ed25519", ".aws/credentials", ".config/gh/hosts.yml", ".netrc", ".state/seal.key", "notes"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("secret\n")
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    for name in (
        ".git/config",
        ".git/hooks/pre-commit",
        ".agent/settings.json",
        ".vscode/tasks.json",
        ".mcp.json",
        "a.py",
    ):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("old\n")
    return project


@pytest.fixture
def walls(project: Path, home: Path):
    sandbox = Sandbox([project], home, [home / ".state"])
    yield sandbox
    sandbox.close()


@pytest.fixture
def run(walls: Sandbox, project: Path) -> Run:
    def run(command: str, **how: bool) -> subprocess.CompletedProcess[str]:
        words = [*walls.prefix(project, os.environ, **how), "bash", "-c", command]
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=20)

    return run


@works
def test_it_works_here_or_says_why(walls: Sandbox) -> None:
    assert walls.problem == ""
    assert Sandbox([], Path("/nonexistent"), program="/bin/false").problem
    assert Sandbox([], Path("/nonexistent"), program="/nonexistent").problem


@works
def test_the_project_can_be_written_and_nothing_else(run: Run, project: Path, home: Path) -> None:
    assert run("echo new > a.py && mkdir sub && touch sub/b && rm sub/b").returncode == 0
    assert (project / "a.py").read_text() == "new\n"
    for place in (home / "notes", home / "fresh", Path("/etc/fresh"), Path("/usr/fresh"), project.parent / "fresh"):
        done = run(f"echo new > {place}")
        assert done.returncode != 0 or not place.exists() or place.read_text() == "secret\n", place
    assert (home / "notes").read_text() == "secret\n"
    assert not (project.parent / "fresh").exists()


@works
@pytest.mark.parametrize(
    "act",
    [
        "echo new > .agent/settings.json",
        "touch .agent/settings.local.json",
        "mv .agent gone",
        "rm -rf .agent",
        "echo new > .git/config",
        "touch .git/hooks/post-checkout",
        "mv .git gone",
        "echo new > .vscode/tasks.json",
        "rm .mcp.json",
        "mv .mcp.json gone",
        "ln -sf /etc/passwd .mcp.json",
        "cp a.py .mcp.json",
    ],
)
def test_protected_places_stay_as_they_are(run: Run, project: Path, act: str) -> None:
    before = tree(project)
    assert run(act).returncode != 0
    assert tree(project) == before


@works
def test_git_that_was_allowed_can_commit_and_plant_nothing(run: Run, project: Path) -> None:
    assert run("echo new > .git/HEAD", git=True).returncode == 0
    for act in ("echo x > .git/config", "touch .git/hooks/post-checkout", "mv .git gone", "mv .git/hooks gone"):
        assert run(act, git=True).returncode != 0, act
    assert (project / ".git/config").read_text() == "old\n"


@works
def test_git_that_was_allowed_makes_no_hooks_where_there_are_none(run: Run, project: Path) -> None:
    """The walls over what is missing leave an empty directory and empty files, which git takes no notice of."""
    for name in ("hooks/pre-commit", "config"):
        (project / ".git" / name).unlink()
    (project / ".git/hooks").rmdir()
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(["rm", "-r", ".git/hooks", ".git/info"], cwd=project, check=True)
    for act in (
        "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        "echo '* filter=evil' > .git/info/attributes",
        "echo evil > .git/config.worktree",
        "rm -r .git/hooks",
    ):
        assert run(act, git=True).returncode != 0, act
    commit = "git add a.py && git -c user.name=n -c user.email=e@e commit -qm one"
    assert run(commit, git=True).returncode == 0
    made = {path: path.read_text() for path in (project / ".git/hooks").iterdir()}
    made |= {path: path.read_text() for path in (project / ".git").glob("*/attributes")}
    assert set(made.values()) <= {""}
    assert subprocess.run(["git", "log", "--oneline"], cwd=project, check=True, capture_output=True).stdout


PLANTS = {
    "touch .mcp.json": ".mcp.json",
    "mkdir .vscode; echo evil > .vscode/tasks.json": ".vscode",
    "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit": ".git",
    "mkdir .claude; echo evil > .claude/settings.json": ".claude",
    "ln -s a.py .envrc": ".envrc",
    "ln -sfn /usr .husky": ".husky",
    "echo evil > .bashrc": ".bashrc",
    "echo evil > .MCP.json": ".MCP.json",
    "echo evil > sitecustomize.py": "sitecustomize.py",
    "mkdir -p .config/fish; echo evil > .config/fish/config.fish": ".config/fish",
}


@pytest.fixture
def bare(project: Path) -> Path:
    """The project with nothing protected in it but a link."""
    for name in (".git", ".agent", ".vscode"):
        subprocess.run(["rm", "-r", name], cwd=project, check=True)
    (project / ".mcp.json").unlink()
    (project / ".husky").symlink_to("a.py")
    return project


@works
@pytest.mark.parametrize(("act", "name"), PLANTS.items())
def test_what_comes_under_a_protected_name_is_renamed(
    run: Run, walls: Sandbox, bare: Path, act: str, name: str
) -> None:
    (bare / ".config").mkdir()
    watch = walls.watch()
    assert run(f"{act}; echo fine > made; cp a.py .env").returncode == 0
    assert watch.found() == (str(bare / name),)
    assert watch.renamed() == (str(bare / name),)
    assert not os.path.lexists(bare / name)
    assert os.path.lexists(bare / f"{name}.kept-out")
    assert (bare / "made").exists()
    assert (bare / ".env").exists(), "credentials start nothing, and setting them up is ordinary"
    assert watch.found() == ()


@works
def test_what_may_be_made_stays(run: Run, walls: Sandbox, bare: Path) -> None:
    earlier = walls.watch()
    watch = walls.watch(git=True)
    assert run("git init -q; mkdir .agent", git=True).returncode == 0
    assert watch.renamed() == ()
    assert earlier.renamed() == (), "of a command that ran beside it"
    assert (bare / ".git/HEAD").exists()
    (bare / ".vscode").mkdir()
    assert walls.watch().renamed() == (), "what was there before a command is not of its making"
    assert (bare / ".husky").is_symlink()


@works
def test_credentials_are_not_there(run: Run, home: Path) -> None:
    for name in (".ssh/id_ed25519", ".aws/credentials", ".config/gh/hosts.yml", ".netrc", ".state/seal.key"):
        assert "secret" not in run(f"cat {home / name}").stdout, name
    assert run(f"cat {home / 'notes'}").stdout == "secret\n"


@works
def test_no_network_no_sockets_no_processes_of_others(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert run(f"exec 3<>/dev/tcp/127.0.0.1/{port}").returncode != 0
    assert run(f"kill -0 {os.getpid()}").returncode != 0
    assert run("ls /run/docker.sock /run/user /var/run/docker.sock").returncode != 0


@works
def test_network_where_it_is_allowed(project: Path, home: Path) -> None:
    sandbox = Sandbox([project], home, network=True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [
            *sandbox.prefix(project, os.environ),
            "bash",
            "-c",
            f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}",
        ]
        assert subprocess.run(command, check=False, timeout=20).returncode == 0
    sandbox.close()


@works
def test_tmp_is_the_sessions_own_and_lasts_as_long(run: Run, walls: Sandbox, tmp_path: Path) -> None:
    assert run(f"echo kept > /tmp/{tmp_path.name}.note").returncode == 0
    assert run(f"cat /tmp/{tmp_path.name}.note").stdout == "kept\n"
    assert not Path(f"/tmp/{tmp_path.name}.note").exists()
    walls.close()
    assert run("ls /tmp/*.note").returncode != 0


@works
def test_nothing_can_be_mounted_anew(run: Run, project: Path) -> None:
    assert run("mount -o remount,rw /").returncode != 0
    assert run("mount -o remount,rw,bind .agent").returncode != 0
    assert run("umount .agent; touch .agent/x").returncode != 0
    assert not (project / ".agent/x").exists()


@works
@pytest.mark.bench
def test_what_it_costs(walls: Sandbox, project: Path) -> None:
    """At best 4 ms more for an `echo`; 30 on a machine with six times its load, half of it for the network."""
    assert walls.problem == ""

    def took(words: list[str]) -> float:
        began = time.perf_counter()
        subprocess.run([*words, "bash", "-c", "echo hi"], stdout=subprocess.DEVNULL, check=True)
        return (time.perf_counter() - began) * 1000

    bare, walled = [], []
    for _ in range(15):
        bare.append(took([]))
        walled.append(took(walls.prefix(project, os.environ)))
    assert min(walled) - min(bare) < 20, (median(bare), median(walled))


def test_only_a_program_that_root_put_there_counts() -> None:
    found = find()
    assert not found or os.stat(found).st_uid == 0


def tree(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}
