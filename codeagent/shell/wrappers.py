"""Programs that run another command: how to find the command inside."""

from __future__ import annotations

import re
from typing import NamedTuple

from codeagent.shell.options import listed


class Wrapper(NamedTuple):
    """`values` are options that take the next word; `before` counts operands ahead of the command."""

    values: frozenset[str] = frozenset()
    before: int = 0
    assigns: bool = False


def _wrapper(values: str = "", before: int = 0, assigns: bool = False) -> Wrapper:
    return Wrapper(frozenset(values.split()), before, assigns)


WRAPPERS = {
    "!": _wrapper(),
    "builtin": _wrapper(),
    "busybox": _wrapper(),
    "caffeinate": _wrapper("-t -w"),
    "chroot": _wrapper(before=1),
    "chrt": _wrapper("-T -P -D", before=1),
    "command": _wrapper(),
    "coproc": _wrapper(),
    "dbus-run-session": _wrapper(),
    "doas": _wrapper("-u -C"),
    "env": _wrapper("-u --unset -C --chdir", assigns=True),
    "exec": _wrapper("-a"),
    "firejail": _wrapper(),
    "flock": _wrapper("-w -E --timeout", before=1),
    "ionice": _wrapper("-c -n --class --classdata"),
    "nice": _wrapper("-n --adjustment"),
    "noglob": _wrapper(),
    "nohup": _wrapper(),
    "parallel": _wrapper("-j --jobs -n -N"),
    "pkexec": _wrapper("--user"),
    "script": _wrapper(),
    "setarch": _wrapper(before=1),
    "setsid": _wrapper(),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "strace": _wrapper("-e -o -p -s"),
    "sudo": _wrapper("-u -g -h -p -C -D -R -T -U --user --group --chdir", assigns=True),
    "systemd-run": _wrapper("-p --property -u --unit"),
    "taskset": _wrapper(before=1),
    "time": _wrapper("-f -o --format --output"),
    "timeout": _wrapper("-s -k --signal --kill-after", before=1),
    "toybox": _wrapper(),
    "unshare": _wrapper(),
    "watch": _wrapper("-n --interval"),
    "xargs": _wrapper("-I -L -P -n -s -a -d -E --max-args --max-procs --replace --delimiter --arg-file"),
    "xvfb-run": _wrapper("-n -s"),
}

TRANSPARENT = frozenset({"timeout", "nice", "command", "builtin"})
"""Wrappers that add nothing of their own: what they run may be read-only. Never `time`: bash's keyword
hides from the grammar (measured: every difference of the fuzz run was one of its lines)."""

SHELLS = listed("sh bash dash zsh ksh mksh ash fish rbash su ssh")
_CLUSTERED_C = re.compile(r"-[A-Za-z]*c")


def program(word: str) -> str:
    """The name without its directory: `/bin/rm` is `rm`."""
    return word.rstrip("/").rsplit("/", 1)[-1]


def unwrap(words: tuple[str, ...]) -> tuple[str, ...]:
    """The command that a wrapper runs, or () when this is no wrapper or nothing follows."""
    known = WRAPPERS.get(program(words[0])) if words else None
    if known is None:
        return ()
    at, left = 1, known.before
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            return words[at + left :]
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in known.values else 1
        elif known.assigns and re.match(r"[A-Za-z_]\w*=", word):
            at += 1
        elif left:
            left, at = left - 1, at + 1
        else:
            return words[at:]
    return ()


def suffixes(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Every command that a wrapper might run if its options were misread. For deny rules only."""
    if not words or program(words[0]) not in WRAPPERS:
        return []
    known = WRAPPERS[program(words[0])].values
    return [
        words[at:]
        for at in range(2, min(len(words), 12))
        if words[at - 1].startswith("-") and words[at - 1] not in known
    ]


def scripts(words: tuple[str, ...]) -> list[str]:
    """Texts among the words that a shell would run: `bash -c TEXT`, `eval TEXT`, `env -S TEXT`, `trap TEXT`."""
    if not words:
        return []
    name, rest = program(words[0]), words[1:]
    if name in {"eval", "watch", "trap", "parallel"}:
        return [" ".join(word for word in rest if not word.startswith("-"))] if rest else []
    if name == "env":
        found = [(word[2:] or " ".join(rest[at + 1 :])) for at, word in enumerate(rest) if word.startswith("-S")]
        return found + [word.partition("=")[2] for word in rest if word.startswith("--split-string=")]
    if name in {"script", "flock"} or name in SHELLS:
        found = [
            rest[at + 1] for at, word in enumerate(rest[:-1]) if _CLUSTERED_C.fullmatch(word) or word == "--command"
        ]
        return found + ([" ".join(rest[1:])] if name == "ssh" and len(rest) > 1 else [])
    return []


def hands_on(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Commands behind `find -exec` and its kin."""
    starts = [
        at for at, word in enumerate(words) if word in {"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec"}
    ]
    if not words or program(words[0]) not in {"find", "fd", "fdfind", "gfind"}:
        return []
    return [words[at + 1 :] for at in starts if at + 1 < len(words)]
