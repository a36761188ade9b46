"""The built-in deny: what no mode and no rule lets through, as far as a line can be read."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from codeagent.core.effects import Touch
from codeagent.shell.options import listed
from codeagent.shell.wrappers import program

Judge = Callable[[str], Touch]

_DEVICE = re.compile(
    r"/dev/(?:[shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|r?disk\d|dm-\d|md\d|loop\d|ram\d|zram\d|mapper/|disk/|nbd\d)"
)
_MAKES_FILE_SYSTEMS = re.compile(r"(?:mkfs|newfs|mke2fs|mkswap|mkdosfs|mkntfs)(?:[._].*)?")
_WRITES_DEVICES = listed(
    "tee shred wipefs blkdiscard badblocks fdisk sfdisk cfdisk gdisk sgdisk parted truncate rm zerofree ddrescue "
    "pvcreate"
)
_ONLY_LISTS = listed("-l --list print -p --print -d --dump")
_REMOVERS = frozenset({"rm", "rmdir", "unlink", "shred", "trash", "srm", "rimraf", "del-cli"})
_EVERYTHING = re.compile(r"\.?[*?]+|\*\*|\.\[!?\^?\.\]\*|\*\.\*")
"""A last path part that names all there is: `*`, `?*`, `.*`, `**`."""

_NARROWS = listed(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -newer -size -mtime -mmin -atime -amin -ctime "
    "-cmin -perm -user -group -empty -nouser -nogroup -samefile -inum -links -lname -ilname"
)
"""Tests that make `find DIR -delete` something other than the removal of DIR."""


def writes_device(op: str, target: str) -> str:
    """The reason when a redirection writes to a block device, or ""."""
    return f"it writes to the block device {target}" if ">" in op and _is_device(target) else ""


def forbidden(words: tuple[str, ...], judge: Judge) -> str:
    """The reason why this command may never run, or "". `words` are values or the best guess at them."""
    if not words:
        return ""
    name, rest = program(words[0]), words[1:]
    if _MAKES_FILE_SYSTEMS.fullmatch(name):
        return f"{name} makes a file system"
    if name == "diskutil" and any("erase" in word.lower() for word in rest):
        return "diskutil erases a disk"
    if device := _device_written(name, rest):
        return f"it writes to the block device {device}"
    if name in _REMOVERS:
        return _removal(name, rest, judge)
    return _find_removal(rest, judge) if name in {"find", "gfind", "fd", "fdfind"} else ""


def _device_written(name: str, rest: tuple[str, ...]) -> str:
    if name == "dd":
        targets = [word.removeprefix("of=") for word in rest if word.startswith("of=")]
    elif name in {"cp", "mv", "install"}:
        targets = list(rest[-1:])
    else:
        targets = list(rest) if name in _WRITES_DEVICES and not _ONLY_LISTS & set(rest) else []
    return next((target for target in targets if _is_device(target)), "")


def _is_device(path: str) -> bool:
    return bool(path) and _DEVICE.match(posixpath.normpath(path)) is not None


def _removal(name: str, rest: tuple[str, ...], judge: Judge) -> str:
    """The reason for `rm DIR`; `rm DIR/*` counts only where it goes into directories."""
    deep = name != "rm" or any(re.match(r"-[A-Za-z]*[rR]|--r", word) for word in rest)
    ended = False
    for word in rest:
        if word == "--" and not ended:
            ended = True
        elif (ended or not word.startswith("-")) and (reason := _vital(word, judge, contents=deep)):
            return reason
    return ""


def _vital(word: str, judge: Judge, *, contents: bool = True) -> str:
    """The reason when removing this operand removes a vital directory or, with `contents`, all that is in it."""
    bare = word.rstrip("/") or ("/" if word else "")
    place, _, last = bare.rpartition("/")
    if contents and _EVERYTHING.fullmatch(last):
        bare = place or ("/" if "/" in bare else ".")
    if not bare:
        return ""
    touch = judge(bare)
    return f"it removes {touch.path}, {touch.why}" if touch.vital else ""


def _find_removal(rest: tuple[str, ...], judge: Judge) -> str:
    removes = "-delete" in rest or any(program(word) in _REMOVERS for word in rest)
    if not removes or _NARROWS & set(rest):
        return ""
    starts: list[str] = []
    for word in rest:
        if (word.startswith("-") and word not in {"-L", "-H", "-P"}) or word in {"(", "!"}:
            break
        if not word.startswith("-"):
            starts.append(word)
    return next((reason for start in starts or ["."] if (reason := _vital(start, judge))), "")
