"""Walls around commands: bubblewrap, where it works. The project can be written, the rest only read, no network."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codeagent.host import paths
from codeagent.host.appeared import Appeared
from codeagent.host.temporary import Temporary

PLACES = ("/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap")
"""Where bubblewrap may lie; never looked up on the PATH, on which a project can put something."""

_PATIENCE = 5.0
"""Seconds that the one trial may take."""

_RUNNING = ("/run/systemd/resolve", "/run/current-system", "/run/opengl-driver")
"""What commands need of `/run`, which is hidden otherwise: it holds the sockets of docker, the session bus, agents."""

_GIT_STARTS = ("config", "config.worktree", "hooks", "info/attributes")
"""What of a repository names programs."""

_ROOT_KEEPS = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER")
"""What root may still do inside: use files of other users. Mounting is not among it."""

_DENIED = (
    "Read-only file system",
    "Network is unreachable",
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Name or service not known",
    "No address associated with hostname",
    "EROFS",
    "EAI_AGAIN",
    "ENETUNREACH",
)
"""Words of programs that met a wall."""


class Sandbox:
    """The walls of one session's commands.

    `roots` can be written but for their protected names; credentials below `home` and the directories in `hidden` are
    empty inside. Whether it works is tried once, in a thread that begins at once. `close` removes the private `/tmp`.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        home: Path,
        hidden: Sequence[Path] = (),
        *,
        network: bool = False,
        program: str = "",
    ) -> None:
        self._roots = [root.resolve() for root in roots]
        self._home, self._hidden, self._network = home, hidden, network
        self._program, self._problem = program, ""
        self._granted: set[str] = set()
        self._temporary: Temporary | None = None
        self._trial = threading.Thread(target=self._try, name="sandbox", daemon=True)
        self._trial.start()

    @property
    def problem(self) -> str:
        """Why it cannot be used here, in words; empty when it works."""
        self._trial.join()
        return self._problem

    def prefix(self, cwd: Path, env: Mapping[str, str], *, git: bool = False) -> list[str]:
        """The words to put before a command so that it runs inside, in `cwd`. Raises OSError.

        With `git` the directory `.git` can be written, but for its configuration and its hooks.
        """
        self._trial.join()
        return [*self._walls(env), *self._writable(git=git), "--chdir", str(cwd), "--"]

    def watch(self, *, git: bool = False) -> Appeared:
        """To be made before a command that runs with such a prefix; finds what protected names it made.

        Once a command may make `.git`, another that runs beside it is not taken for its maker.
        """
        if git:
            self._granted.add(".git")
        return Appeared(self._roots, self._granted)

    def denied(self, output: str) -> bool:
        """Whether a failed command seems to have met a wall."""
        return any(words in output for words in _DENIED)

    def close(self) -> None:
        """Remove the private `/tmp`; to be called when no command runs any more."""
        if self._temporary is not None:
            self._temporary.close()
            self._temporary = None

    def _try(self) -> None:
        self._program = self._program or find()
        if not self._program:
            self._problem = "bubblewrap is not installed" if sys.platform == "linux" else "it needs Linux"
            return
        trial = [*self._base(), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--", "/bin/true"]
        try:
            done = subprocess.run(
                trial, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False, env={}
            )
        except (OSError, subprocess.TimeoutExpired) as fault:
            self._problem = f"bubblewrap does not run ({type(fault).__name__})"
            return
        if done.returncode:
            words = done.stderr.decode(errors="replace").strip().splitlines()
            self._problem = words[-1] if words else f"bubblewrap ended with {done.returncode}"

    def _base(self) -> list[str]:
        words = [self._program, "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL"]
        if os.geteuid() == 0:
            for name in _ROOT_KEEPS:
                words += ["--cap-add", name]
        return words if self._network else [*words, "--unshare-net"]

    def _walls(self, env: Mapping[str, str]) -> Iterator[str]:
        """Everything read-only, with private temporary directories, and without credentials."""
        yield from self._base()
        yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run", "--tmpfs", "/var/tmp")
        for place in _RUNNING:
            yield from ("--ro-bind-try", place, place)
        yield from ("--bind", str(self._private()), "/tmp", "--unsetenv", "TMPDIR")
        for needed in (self._home, Path(__file__).parent, Path(sys.prefix), *_environment(env)):
            if _below(needed, ("/tmp", "/var/tmp", "/run")):
                yield from ("--ro-bind-try", str(needed), str(needed))
        yield from self._masks(inside=False)

    def _writable(self, *, git: bool) -> Iterator[str]:
        """The roots, with what is protected in them put back to read-only."""
        for root in self._roots:
            yield from ("--bind", str(root), str(root))
        yield from self._masks(inside=True)
        for root in self._roots:
            for path in paths.protected_names(root):
                if git and path.name == ".git" and path.is_dir():
                    yield from _git(path)
                else:
                    yield from ("--ro-bind", str(path), str(path))

    def _masks(self, *, inside: bool) -> Iterator[str]:
        """Empty things over credentials: those below the roots have to come after them."""
        for path in (*paths.credentials(self._home), *self._hidden):
            real = path.resolve()
            if any(real.is_relative_to(root) for root in self._roots) is not inside:
                continue
            if real.is_dir():
                yield from ("--tmpfs", str(real))
            elif real.exists():
                yield from ("--ro-bind", os.devnull, str(real))

    def _private(self) -> Path:
        if self._temporary is None or not self._temporary.path.is_dir():
            self._temporary = Temporary("walls")
        return self._temporary.path


def find() -> str:
    """A bubblewrap that only root can have put there; empty when there is none."""
    for name in PLACES if sys.platform == "linux" else ():
        path = Path(name)
        try:
            chain = [path, *path.parents, path.resolve(), *path.resolve().parents]
            if path.is_file() and all(_roots_own(place) for place in chain):
                return name
        except OSError:
            continue
    return ""


def _roots_own(path: Path) -> bool:
    found = path.stat()
    return found.st_uid == 0 and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _git(path: Path) -> Iterator[str]:
    """A repository's directory that can be written and not be moved, without what starts programs. Raises OSError.

    A wall needs something to stand on: what is missing is made, empty, and git takes no notice of it.
    """
    yield from ("--bind", str(path), str(path))
    for name in _GIT_STARTS:
        place = path / name
        if not os.path.lexists(place):
            place.parent.mkdir(exist_ok=True)
            place.mkdir() if name == "hooks" else place.touch()
        if place.exists():
            yield from ("--ro-bind", str(place), str(place))


def _environment(env: Mapping[str, str]) -> Iterator[Path]:
    """Directories of programs; a virtual environment as a whole."""
    for name in env.get("PATH", "").split(os.pathsep):
        path = Path(name)
        if path.is_absolute() and len(path.parts) > 2:
            yield path.parent if (path.parent / "pyvenv.cfg").is_file() else path


def _below(path: Path, places: Sequence[str]) -> bool:
    return any(path.is_relative_to(place) and str(path) != place for place in places)
