"""What stands at a path, and how that changed: what a rewind is made of."""

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
