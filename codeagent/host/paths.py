"""Where a named path really lies: inside the project, outside of it, or in a protected place."""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

from codeagent.core.effects import Touch

Access = Literal["read", "write"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LONGEST = 4096
"""Bytes; what Linux takes for a path."""

_SYSTEM = ("dev", "proc", "sys")
"""Top directories whose files are devices, descriptors or kernel switches."""

_SECRET_FOLDERS = _names(
    ".ssh .aws .azure .gnupg .kube .docker .gcloud .password-store .terraform.d .keychain keychains"
)
_SECRET_PAIRS = frozenset(
    {(".config", "gcloud"), (".config", "gh"), (".config", "op"), (".local", "keyrings"), ("share", "keyrings")}
)
_SECRET_FILES = _names(
    ".env .envrc .netrc _netrc .pypirc .npmrc .git-credentials .pgpass .my.cnf .htpasswd .vault-token .terraformrc "
    ".s3cfg .boto .dockercfg .bash_history .zsh_history .python_history .psql_history .mysql_history credentials.json "
    "id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk"
)
_STARTING_SECRETS = _names(".envrc .npmrc")
"""Files that may hold credentials, and name programs too."""
_SECRET_ENDS = (".pem", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk")
_ENV_SAMPLES = _names(".env.example .env.sample .env.template .env.dist .env.defaults")

_WRITE_FOLDERS = _names(
    ".git .agent .codeagent .claude .codex .gemini .cursor .vscode .idea .fleet .zed .husky .cargo .devcontainer "
    ".yarn .mvn .githooks .direnv"
)
_WRITE_PAIRS = frozenset(
    {
        (".config", "git"),
        (".config", "codeagent"),
        (".config", "fish"),
        (".config", "autostart"),
        (".config", "systemd"),
        (".config", "nvim"),
        ("library", "launchagents"),
        (".local", "bin"),
    }
)
_WRITE_FILES = _names(
    ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout "
    ".kshrc .cshrc .tcshrc .login .inputrc .vimrc .exrc .nvimrc .emacs .tmux.conf .screenrc .gdbinit .lldbinit "
    ".pythonrc .irbrc .gitconfig .gitmodules .yarnrc .yarnrc.yml .pnp.cjs .pnp.js .pnp.loader.mjs bunfig.toml "
    ".bazelrc .pre-commit-config.yaml .direnvrc .ripgreprc .wgetrc .curlrc .pam_environment .xinitrc .xprofile "
    ".xsessionrc pyrightconfig.json .mcp.json .claude.json sitecustomize.py usercustomize.py .condarc .crontab"
)
_WRITE_ENDS = (".pth",)
_LEFTHOOK = re.compile(r"\.?lefthook(-local)?\.(ya?ml|toml|json)")
_SHORT_NAME = re.compile(
    r"(git|agent|codeag|claude|vscode|idea|husky|env|envrc|ssh|aws|mcp|gitmod|gitcon|bashrc|zshrc|npmrc)~\d+(\..*)?"
)


class Places:
    """Judges paths for one session.

    `root`, `home` and `extra` are directories; `cwd` tells where relative names start, the root
    when it is not given. Nothing is opened and nothing is changed.
    """

    def __init__(
        self, root: Path, home: Path, extra: Sequence[Path] = (), cwd: Callable[[], Path] | None = None
    ) -> None:
        self._home = str(home)
        self._cwd = cwd or (lambda: root)
        self._roots = [os.path.realpath(place) for place in (root, *extra)]
        self._known = {self._identity(place): place for place in self._roots}
        self._vital = self._vital_places(os.path.realpath(home))

    def judge(self, named: str, access: Access) -> Touch:
        """Resolve `named` as the system would, links and all, and place it. Never raises."""
        if flaw := _flaw(named):
            return Touch(named, access, "protected", named, flaw)
        absolute = os.path.join(self._cwd(), self._expand(named))  # noqa: PTH118 - Path would drop a trailing separator
        try:
            path = os.path.realpath(absolute, strict=True)
        except OSError as failure:
            path = os.path.realpath(absolute)
            if failure.errno == errno.ELOOP:
                return Touch(path, access, "protected", named, "is a link that leads to itself")
        within = self._within(path)
        lexical = os.path.normpath(absolute)
        why = _special(path) or next(
            (reason for spot in (path, lexical) if (reason := self._protected(spot, access))), ""
        )
        vital = self._vital.get(path, "")
        if why:
            return Touch(path, access, "protected", named, why, bool(vital))
        if within is None:
            return Touch(path, access, "outside", named, vital or "lies outside the project", bool(vital))
        return Touch(path, access, "inside", named, vital, bool(vital))

    def recheck(self, touch: Touch) -> bool:
        """Does the name still lead to the same place as when it was judged?"""
        now = self.judge(touch.named, touch.access)
        return (now.path, now.place) == (touch.path, touch.place)

    def _expand(self, named: str) -> str:
        """`~` is the session's home, `~name` the home of that user where there is one."""
        if named == "~" or named.startswith("~/"):
            return self._home + named[1:]
        return os.path.expanduser(named) if named.startswith("~") else named  # noqa: PTH111 - Path raises for unknown users

    def _within(self, path: str) -> tuple[str, ...] | None:
        """The parts below the root that holds `path`, or None. By parts, then by identity of directories,
        so that a root spelt in another case or another Unicode form is the same root."""
        parts = _parts(path)
        for root in self._roots:
            above = _parts(root)
            if parts[: len(above)] == above:
                return parts[len(above) :]
        for size in range(len(parts), 0, -1):
            if self._identity("/" + "/".join(parts[:size])) in self._known:
                return parts[size:]
        return None

    def _identity(self, path: str) -> tuple[int, int] | str:
        try:
            found = os.stat(path)  # noqa: PTH116 - called for every parent; a Path each would double the cost
        except OSError:
            return path
        return found.st_dev, found.st_ino

    def _protected(self, path: str, access: Access) -> str:
        """Why this place needs an explicit yes, or "". Inside, only the parts below the root count."""
        if _parts(path)[:1] and _parts(path)[0] in _SYSTEM:
            return "is a device or a view of the running system"
        below = self._within(path)
        parts = [_folded(part) for part in (_parts(path) if below is None else below)]
        if reason := _secret(parts):
            return reason
        return _starts_programs(parts) if access == "write" else ""

    def _vital_places(self, home: str) -> dict[str, str]:
        places = {str(parent): "which holds the home directory" for parent in Path(home).parents}
        for root in self._roots:
            places |= {str(parent): "which holds the project" for parent in Path(root).parents}
        places |= dict.fromkeys(self._roots, "the project itself")
        return places | {home: "the home directory", "/": "the root of the file system"}


def protected_names(root: Path) -> Iterator[Path]:
    """What stands in this directory and must not be written without a yes; links are left out."""
    for path in _standing(root, _SECRET_PAIRS | _WRITE_PAIRS):
        parts = [_folded(part) for part in path.relative_to(root).parts]
        if not path.is_symlink() and (_secret(parts) or _starts_programs(parts)):
            yield path


def starting_names(root: Path) -> Iterator[Path]:
    """What stands in this directory, links too, under a name that can start programs; credentials alone cannot."""
    for path in _standing(root, _WRITE_PAIRS):
        parts = [_folded(part) for part in path.relative_to(root).parts]
        if _starts_programs(parts) or parts[-1] in _STARTING_SECRETS:
            yield path


def _standing(root: Path, pairs: Iterable[tuple[str, str]]) -> Iterator[Path]:
    """The entries of a directory, and those of these `folder/name` that are there."""
    try:
        names = sorted(os.listdir(root))  # noqa: PTH208 - names are wanted, not paths
    except OSError:
        return
    yield from (root / name for name in names)
    here = frozenset(names)
    yield from (
        root / first / second for first, second in sorted(pairs) if first in here and _there(root, first, second)
    )


def _there(*parts: str | Path) -> bool:
    return os.path.lexists(Path(*parts))


def credentials(home: Path) -> Iterator[Path]:
    """Files and directories of this home, as far as they are there, that hold credentials."""
    try:
        names = sorted(os.listdir(home))  # noqa: PTH208 - names are wanted, not paths
    except OSError:
        return
    yield from (home / name for name in names if _secret([_folded(name)]))
    for first, second in _SECRET_PAIRS:
        for place in (home / first / second, home / ".local" / first / second):
            if place.exists():
                yield place


def _flaw(named: str) -> str:
    """Why this cannot be meant as a path, or ""."""
    if not named.strip():
        return "is empty"
    try:
        size = len(named.encode("utf-8"))
    except UnicodeEncodeError:
        return "is not valid Unicode"
    if size > _LONGEST:
        return f"is longer than {_LONGEST:,} bytes"
    if any(unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"} for char in named):
        return "contains invisible or control characters"
    return ""


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)


def _folded(part: str) -> str:
    """The name as the most forgiving file system takes it: no case, no trailing dots or blanks, no stream."""
    return unicodedata.normalize("NFKC", part).casefold().split(":")[0].rstrip(" .")


def _secret(parts: Sequence[str]) -> str:
    if not parts:
        return ""
    last = parts[-1]
    environment = last.startswith(".env.") and last not in _ENV_SAMPLES
    if environment or last in _SECRET_FILES or last.endswith(_SECRET_ENDS):
        return "may hold credentials"
    if _SECRET_FOLDERS & set(parts) or _SECRET_PAIRS & set(pairwise(parts)):
        return "lies in a directory of credentials"
    return ""


def _starts_programs(parts: Sequence[str]) -> str:
    folders = _WRITE_FOLDERS & set(parts)
    if folders or _WRITE_PAIRS & set(pairwise(parts)):
        return f"lies in {next(iter(sorted(folders)), 'a settings directory')}, where files can start programs"
    last = parts[-1] if parts else ""
    if last in _WRITE_FILES or last.endswith(_WRITE_ENDS) or _LEFTHOOK.fullmatch(last):
        return "is a file that can start programs"
    return "may be the short name of a protected file" if any(_SHORT_NAME.fullmatch(part) for part in parts) else ""


def _special(path: str) -> str:
    """Devices, pipes and sockets block or act when they are opened."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - the path may hold any bytes
    except (OSError, ValueError):
        return ""
    regular = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    return "" if regular else "is a device, a pipe or a socket"
