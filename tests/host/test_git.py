"""Git asked without running what a repository's settings name; the branch without a process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codeagent.host.git import Config, branch, hardened_env, inert_config, tracked_and_untracked
from codeagent.host.programs import find_program

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q", "-b", "trunk")
    (root / "a.txt").write_text("a\n")
    git(root, "add", "a.txt")
    git(root, "-c", "user.name=n", "-c", "user.email=e@example.invalid", "commit", "-qm", "first")
    return root


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, env=hardened_env(ENV), capture_output=True, check=True, text=True)
    return done.stdout.strip()


def test_branch(repository: Path, tmp_path: Path) -> None:
    (repository / "sub").mkdir()
    assert branch(repository) == branch(repository / "sub") == "trunk"
    git(repository, "checkout", "-q", "-b", "feature/x")
    assert branch(repository) == "feature/x"
    git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    assert branch(tmp_path / "tree") == "other"
    git(repository, "checkout", "-q", "--detach")
    assert branch(repository) == git(repository, "rev-parse", "HEAD")[:7]
    assert branch(tmp_path) == ""


def test_a_plain_repository_is_inert(repository: Path, tmp_path: Path) -> None:
    git(repository, "remote", "add", "origin", "https://example.invalid/x.git")
    assert inert_config(repository, ENV)
    git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    assert inert_config(tmp_path / "tree", ENV)
    assert not inert_config(tmp_path, ENV)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.fsmonitor", "./evil"),
        ("filter.x.clean", "./evil"),
        ("diff.external", "./evil"),
        ("diff.x.textconv", "./evil"),
        ("core.pager", "./evil"),
        ("core.sshCommand", "./evil"),
        ("alias.status", "!./evil"),
        ("include.path", "more"),
        ("core.hooksPath", "."),
        ("gpg.program", "./evil"),
    ],
)
def test_a_helper_makes_it_not_inert(repository: Path, key: str, value: str) -> None:
    config = Config(repository, ENV)
    assert config.inert()
    git(repository, "config", key, value)
    assert not config.inert()
    git(repository, "config", "--unset", key)
    assert config.inert()


def test_settings_of_a_work_tree_count(repository: Path) -> None:
    git(repository, "config", "extensions.worktreeConfig", "true")
    git(repository, "config", "--worktree", "core.fsmonitor", "./evil")
    assert not inert_config(repository, ENV)


async def test_listing_runs_no_monitor(repository: Path) -> None:
    script = repository / "evil"
    script.write_text("#!/bin/sh\ntouch ran\n")
    script.chmod(0o755)
    git(repository, "config", "core.fsmonitor", "./evil")
    listed = await tracked_and_untracked(str(repository), find_program("git", ENV, repository), ENV)
    assert sorted(listed) == ["a.txt", "evil"]
    assert not (repository / "ran").exists()


def test_a_git_in_the_project_is_not_used(tmp_path: Path) -> None:
    fake = tmp_path / "project" / "bin" / "git"
    fake.parent.mkdir(parents=True)
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    found = find_program("git", {"PATH": f"{fake.parent}:.:{os.environ['PATH']}"}, tmp_path / "project")
    assert found
    assert not found.startswith(str(tmp_path))


def test_variables_of_git_do_not_get_through() -> None:
    env = hardened_env(ENV | {"GIT_DIR": "/x", "GIT_EXTERNAL_DIFF": "/x", "GIT_CONFIG_PARAMETERS": "'a=b'"})
    assert not {"GIT_DIR", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_PARAMETERS"} & set(env)
