"""Git, asked so that a repository's own settings cannot make it run programs."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from codeagent.host.programs import CHUNK, child, find_program, head_of, run

_OVERRIDES = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.pager", "cat"),
    ("core.quotePath", "false"),
    ("safe.bareRepository", "explicit"),
    ("log.showSignature", "false"),
    ("protocol.allow", "never"),
)

_INERT = re.compile(
    r"""core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|autocrlf|eol
            |safecrlf|symlinks|quotepath|abbrev|compression|excludesfile|sparsecheckout|sparsecheckoutcone)
      | extensions\.(worktreeconfig|objectformat|partialclone)
      | remote\..+\.(url|pushurl|fetch|push|tagopt|prune|gh-resolved|promisor|partialclonefilter)
      | branch\..+\.(remote|merge|pushremote|rebase|description|base|gh-merge-base|vscode-merge-base)
      | branch\.(autosetupmerge|autosetuprebase|sort) | user\.(name|email) | author\.(name|email)
      | init\.defaultbranch | pull\.(rebase|ff) | push\.(default|autosetupremote|followtags) | fetch\.prune(tags)?
      | rebase\.(autostash|autosquash) | merge\.(ff|conflictstyle) | submodule\.(active|recurse)
      | submodule\..+\.(url|active|branch) | color\..+ | gc\.auto | index\.version | status\..+
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Settings that start nothing and reach no other file. Any other key makes a repository not inert."""


def hardened_env(env: Mapping[str, str]) -> dict[str, str]:
    """The environment for a git that starts no helper, asks nothing and takes no lock; variables of git itself go."""
    clean = {name: value for name, value in env.items() if not name.startswith("GIT_")}
    clean |= {
        "GIT_CONFIG_COUNT": str(len(_OVERRIDES)),
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_PAGER": "cat",
        "PAGER": "cat",
        "LC_ALL": "C.UTF-8",
    }
    for at, (key, value) in enumerate(_OVERRIDES):
        clean[f"GIT_CONFIG_KEY_{at}"] = key
        clean[f"GIT_CONFIG_VALUE_{at}"] = value
    return clean


def work_tree(folder: Path) -> Path | None:
    """The work tree that holds this folder, found without a process; None outside any."""
    for place in (folder, *folder.parents):
        if _git_dir(place) is not None:
            return place
    return None


def branch(root: Path) -> str:
    """The branch checked out in `root`, seven digits of a detached commit, or empty; starts no process."""
    tree = work_tree(root)
    folder = _git_dir(tree) if tree else None
    if folder is None:
        return ""
    head = _first_line(folder / "HEAD")
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else head[:7]


def _git_dir(place: Path) -> Path | None:
    dot = place / ".git"
    if dot.is_dir():
        return dot if (dot / "HEAD").is_file() else None
    pointer = _first_line(dot).removeprefix("gitdir: ")
    return (place / pointer) if pointer and (place / pointer / "HEAD").is_file() else None


def _first_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.readline(4096).decode("utf-8", "replace").strip()
    except OSError:
        return ""


async def tracked_and_untracked(
    folder: str,
    git: str,
    env: Mapping[str, str],
    *,
    ignored: bool = False,
    meanwhile: Callable[[Sequence[str]], None] | None = None,
) -> list[str]:
    """Paths below `folder`, relative to it: tracked and untracked ones, or only the `ignored` ones.

    Paths in a merge conflict come once; a nested repository is one entry that ends in a slash. `meanwhile` gets
    them as they are found, before it is sure that git will not fail. Raises OSError when git fails.
    """
    # Two at once: git tells tracked files only after its walk for untracked ones, which takes twice as long.
    kinds = [("-o", "-i")] if ignored else [("-c",), ("-o",)]
    commands = [[git, "ls-files", "-z", *kind, "--exclude-standard"] for kind in kinds]
    listed = await asyncio.gather(*(_names(command, folder, env, meanwhile) for command in commands))
    return list(dict.fromkeys(chain.from_iterable(listed)))


async def _names(
    command: Sequence[str], folder: str, env: Mapping[str, str], meanwhile: Callable[[Sequence[str]], None] | None
) -> list[str]:
    """The names, each ended by NUL, that one git command tells."""
    paths: list[str] = []
    async with child(command, folder, hardened_env(env)) as process:
        complaining = asyncio.create_task(head_of(process.stderr))
        rest = b""
        while process.stdout is not None and (piece := await process.stdout.read(CHUNK)):
            names, _, rest = (rest + piece).rpartition(b"\0")
            found = os.fsdecode(names).split("\0") if names else []
            paths += found
            if meanwhile:
                meanwhile(found)
        complaint = await complaining
        if code := await process.wait():
            raise OSError(complaint.decode("utf-8", "replace").strip() or f"git ended with {code}")
    return paths


async def is_ignored(folder: str, git: str, env: Mapping[str, str]) -> bool:
    """Whether the ignore rules leave this very folder out."""
    name = os.path.basename(folder)  # noqa: PTH119  the text of the name, byte for byte
    command = [git, "check-ignore", "-q", "--", name + "/"]
    return (await run(command, os.path.dirname(folder), hardened_env(env))).code == 0  # noqa: PTH120  likewise


def _bare_within(folder: Path, tree: Path) -> bool:
    """Whether git would take a directory from `folder` up to the work tree for a bare repository of its own."""
    inner = [place for place in (folder, *folder.parents) if place != tree and place.is_relative_to(tree)]
    return any((place / "HEAD").is_file() and (place / "objects").is_dir() for place in inner)


class Config:
    """A repository's settings, judged once for each state of their files."""

    def __init__(self, root: Path, env: Mapping[str, str]) -> None:
        self._root = root
        self._env = env
        self._judged: dict[tuple[tuple[str, int, int, int], ...], bool] = {}

    def inert(self) -> bool:
        """Whether no setting of this repository can make git run a program. False when that cannot be told."""
        state = self._state()
        if state not in self._judged:
            self._judged = {state: inert_config(self._root, self._env)}
        return self._judged[state]

    def _state(self) -> tuple[tuple[str, int, int, int], ...]:
        tree = work_tree(self._root)
        folder = _git_dir(tree) if tree else None
        if folder is None:
            return ()
        shared = folder / (_first_line(folder / "commondir") or ".")
        states = []
        for path in (folder / "config", folder / "config.worktree", shared / "config"):
            try:
                seen = path.stat()
            except OSError:
                continue
            states.append((str(path), seen.st_ino, seen.st_size, seen.st_mtime_ns))
        return tuple(states)


def inert_config(root: Path, env: Mapping[str, str]) -> bool:
    """Whether every setting of this repository is on the list of those that start nothing; reading them runs nothing.

    Included files make a repository not inert: they may change without its own files changing.
    """
    tree = work_tree(root)
    if tree is None or _bare_within(root, tree):
        return False
    git = find_program("git", env, root)
    if not git:
        return False
    folder = _git_dir(tree)
    own = folder is not None and (folder / "config.worktree").is_file()
    for scope in ("--local", "--worktree") if own else ("--local",):
        command = [git, "config", scope, "--includes", "--list", "-z"]
        try:
            ended = subprocess.run(
                command,
                check=False,
                cwd=root,
                env=hardened_env(env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=5,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        if ended.returncode:
            return False
        keys = (entry.split(b"\n", 1)[0].decode("utf-8", "replace") for entry in ended.stdout.split(b"\0") if entry)
        if not all(_INERT.fullmatch(key) for key in keys):
            return False
    return True
