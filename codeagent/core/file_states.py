"""What stands at a path, how that changed, and what the model saw of it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class FileState(Struct, frozen=True, omit_defaults=True):
    """Nothing, a file, a link or a folder.

    `digest` is the sha256 of a file's bytes or of a link's target, under which the snapshots keep them. A file that
    was not kept has `~size-mtime` there instead. `mode` are the permission bits.
    """

    kind: Literal["none", "file", "link", "folder"] = "none"
    digest: str = ""
    mode: int = 0


class FileChange(Struct, frozen=True):
    """One path (absolute, links in its folders resolved) before and after."""

    path: str
    before: FileState
    after: FileState


class Saw(Struct, frozen=True, omit_defaults=True):
    """The model has seen these bytes of a file: lines `first` to `last`, 1-based, of the file with this sha256.

    `whole` is True when every line was shown in full. Path is absolute and resolved.
    """

    path: str
    digest: str
    first: int = 1
    last: int = 0
    whole: bool = True
    wrote: bool = False
    """True when the tool itself wrote these bytes."""
