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
    "tee cp mv install shred wipefs blkdiscard badblocks fdisk sfdisk cfdisk gdisk sgdisk parted "
    "truncate rm zerofree ddrescue "
    "hdparm cryptsetup pvcreate zpool"
)
_REMOVERS = frozenset({"rm", "rmdir", "unlink", "shred", "trash", "srm", "rimraf", "del-cli"})
_EVERYTHING = re.compile(r"\.?[*?]+|\*\*|\.\[!?\^?\.\]\*|\*\.\*")
"""A last path part that names all there is: `*`, `?*`, `.*`, `**`."""

_NARROWS = listed(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -newer -size -mtime -mmin -atime "
    "-amin -ctime -cmin -perm "
    "-user -group -empty -nouser -nogroup -samefile -inum -links -lname -ilname"
)
"""Tests that make `find DIR -delete` something other than the removal of DIR."""


def writes_device(op: str, target: str) -> str:
    """The reason when a redirection writes to a block device, or ""."""
    return f"it writes to the block device {target}" if ">" in op and _DEVICE.match(posixpath.normpath(target)) else ""


def forbidden(words: tuple[str, ...], judge: Judge) -> str:
    """The reason why this command may never run, or "". `words` are values or the best guess at them."""
    if not words:
        return ""
    name, rest = program(words[0]), words[1:]
    if _MAKES_FILE_SYSTEMS.fullmatch(name):
        return f"{name} makes a file system"
    if name == "diskutil" and any("erase" in word.lower() for word in rest):
        return "diskutil erases a disk"
    devices = [
        word
        for word in (part.removeprefix("of=") for part in rest)
        if _DEVICE.match(posixpath.normpath(word) if word else "")
    ]
    if devices and (name in _WRITES_DEVICES or (name == "dd" and any(word.startswith("of=") for word in rest))):
        wrote = [word for word in devices if name != "dd" or f"of={word}" in rest]
        if wrote and (name not in {"cp", "mv", "install"} or wrote[-1] == rest[-1]):
            return f"it writes to the block device {wrote[-1]}"
    if name in _REMOVERS:
        return _removal(rest, judge)
    return _find_removal(rest, judge) if name in {"find", "gfind", "fd", "fdfind"} else ""


def _removal(rest: tuple[str, ...], judge: Judge) -> str:
    ended = False
    for word in rest:
        if word == "--" and not ended:
            ended = True
        elif (ended or not word.startswith("-")) and (reason := _vital(word, judge)):
            return reason
    return ""


def _vital(word: str, judge: Judge) -> str:
    """The reason when removing this operand removes a vital directory or all that is in it."""
    bare = word.rstrip("/") or ("/" if word else "")
    place, _, last = bare.rpartition("/")
    if _EVERYTHING.fullmatch(last):
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
