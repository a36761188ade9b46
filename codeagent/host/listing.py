"""The files of a folder: as git lists them inside a work tree, else as ripgrep or our own walk does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codeagent.host import git, ignoring
from codeagent.host.programs import find_program, packaged_program, run

NESTED = 20
"""Nested repositories that are listed as well, at most."""


@dataclass(slots=True)
class Listed:
    """Paths relative to the folder, files and links alike, and the folders that could not be read."""

    paths: list[str]
    troubles: list[str] = field(default_factory=list)


class Lister:
    """Lists folders of one project. `root` is the project's root, where ignore rules begin outside of git."""

    def __init__(self, root: Path, env: Mapping[str, str]) -> None:
        self.root = root
        self.env = env

    @property
    def git(self) -> str:
        """The git to use; empty if there is none."""
        return find_program("git", self.env, self.root)

    @property
    def rg(self) -> str:
        """The ripgrep to use; empty if there is none."""
        return find_program("rg", self.env, self.root) or packaged_program("rg", self.env, self.root)

    async def files(
        self, folder: Path, *, rules: bool = True, meanwhile: Callable[[Sequence[str]], None] | None = None
    ) -> Listed:
        """All files below a folder that no ignore rule leaves out; with `rules` off, simply all.

        `meanwhile` gets paths as git finds them, before the answer, which has all of them.
        """
        if not folder.is_dir():  # noqa: ASYNC240  one stat
            return Listed([])
        if rules and self.git and git.work_tree(folder):
            try:
                return await self._by_git(folder, meanwhile)
            except OSError:
                pass  # a repository that git refuses is walked like any folder
        if rules and self.rg and not git.work_tree(folder):
            return await self._by_rg(folder)
        return await asyncio.to_thread(self._walked, folder, rules)

    async def left_out(self, folder: Path) -> list[str]:
        """Files below a folder that ignore rules leave out, relative to it."""
        if self.git and folder.is_dir() and git.work_tree(folder):  # noqa: ASYNC240  one stat
            try:
                return await git.tracked_and_untracked(str(folder), self.git, self.env, ignored=True)
            except OSError:
                pass  # as above
        every, kept = await self.files(folder, rules=False), await self.files(folder)
        return list(set(every.paths) - set(kept.paths))

    async def lifted(self, folder: Path) -> bool:
        """Whether ignore rules leave out this very folder, so that they cannot be meant for a look into it."""
        if folder == self.root or not folder.is_relative_to(self.root):
            return False
        if not folder.is_dir():  # noqa: ASYNC240  one stat
            return False
        if self.git and git.work_tree(folder):
            return await git.is_ignored(str(folder), self.git, self.env)
        return await asyncio.to_thread(ignoring.lifted, folder, self._top(folder))

    def rg_rules(self, folder: Path) -> list[str]:
        """How ripgrep is to choose files as git does: dot files too, by .gitignore alone.

        Where there is no repository the rules begin in the project's root, and the user's own do not count.
        """
        rules = ["--hidden", "--no-ignore-dot", "--glob=!.git"]
        if git.work_tree(folder) is None:
            rules += ["--no-require-git", "--no-ignore-global"]
            rules += ["--no-ignore-parent"] if folder == self.root else []
        return rules

    async def _by_git(self, folder: Path, meanwhile: Callable[[Sequence[str]], None] | None) -> Listed:
        paths = await git.tracked_and_untracked(str(folder), self.git, self.env, meanwhile=meanwhile)
        nested: list[str] = []
        if "/\0" in "\0".join(paths) + "\0":  # rare, and a third of the time of asking each of 50,000 paths
            nested = [path for path in paths if path.endswith("/")]
            paths = [path for path in paths if not path.endswith("/")]
        for inner in nested[:NESTED]:
            listed = await self.files(folder / inner)
            paths += (inner + path for path in listed.paths)
        return Listed(paths)

    async def _by_rg(self, folder: Path) -> Listed:
        """ripgrep's files, and the links that it passes over, in the folders that it looked into."""
        command = [self.rg, "--no-config", "--files", "--null", *self.rg_rules(folder)]
        ended = await run(command, str(folder), self.env)
        paths = [os.fsdecode(name) for name in ended.out.split(b"\0") if name]
        troubles = [line for line in ended.err.decode("utf-8", "replace").splitlines() if "os error" in line]
        return Listed(paths + await asyncio.to_thread(_links, folder, self._top(folder), paths), troubles)

    def _walked(self, folder: Path, rules: bool) -> Listed:
        troubles: list[str] = []
        paths = list(ignoring.walk(str(folder), str(self._top(folder)), rules=rules, troubles=troubles))
        return Listed(paths, troubles)

    def _top(self, folder: Path) -> Path:
        return self.root if folder.is_relative_to(self.root) else folder


def _links(folder: Path, top: Path, paths: list[str]) -> list[str]:
    """Links in the root or beside a listed file that no rule leaves out, relative to the folder."""
    parents = {""}
    for path in paths:
        parent = path.rpartition("/")[0]
        while parent not in parents:
            parents.add(parent)
            parent = parent.rpartition("/")[0]
    found = []
    for parent in parents:
        try:
            with os.scandir(f"{folder}/{parent}") as entries:
                names = [entry.name for entry in entries if entry.is_symlink()]
        except OSError:
            continue
        found += [f"{parent}/{name}" if parent else name for name in names]
    return [link for link in found if not ignoring.leaves_out(folder / link, top)]
