"""A store of contents by their sha256: compressed, private, bounded, the oldest dropped first."""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from codeagent.host.durable import make_private, read_regular, write_all
from codeagent.host.files import WHOLE

LIMIT = 200 << 20
"""Bytes on the disk, compressed, that a project's snapshots may take."""

_ROOM = 0.8
"""Share of the limit that is left after the oldest were dropped."""

_TEMPORARY = "tmp-"


class Objects:
    """Contents in `folder`, which is made with the first. Two processes may share it.

    `dropped` and `full` say whether anything was dropped, or not taken, because of the limit.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self._folder, self._limit = folder, limit
        self._held: set[str] = set()
        self._made: set[str] = set()
        self._sizes: dict[str, int] | None = None
        self._total = 0
        self.dropped = False
        self.full = False

    def __contains__(self, digest: str) -> bool:
        return digest in self._known()

    def digests(self) -> Collection[str]:
        """Everything that is kept; grows with what is put."""
        return self._known().keys()

    def hold(self, digests: Iterable[str]) -> None:
        """Drop none of these from now on, nor what is put from now on; what was held before may go."""
        self._held = set(digests)

    def put(self, data: bytes) -> str:
        """Keep this; its digest. Raises OSError; a full store sets `full` and keeps nothing."""
        digest = sha256(data).hexdigest()
        self._held.add(digest)
        known = self._known()
        if digest in known:
            return digest
        packed = zlib.compress(data, 1)
        if self._total + len(packed) > self._limit:
            self._drop_oldest(len(packed))
        if self._total + len(packed) > self._limit:
            self.full = True
            return digest
        self._write(digest, packed)
        known[digest] = len(packed)
        self._total += len(packed)
        return digest

    def get(self, digest: str) -> bytes | None:
        """What was kept under this digest, None when it is not there (any more) or damaged."""
        try:
            packed, _ = read_regular(self._path(digest), self._limit, follow=False)
            data = zlib.decompressobj().decompress(packed, WHOLE + 1)
        except (OSError, zlib.error):
            return None
        return data if sha256(data).hexdigest() == digest else None

    def _path(self, digest: str) -> str:
        return f"{self._folder}/{digest[:2]}/{digest[2:]}"

    def _known(self) -> dict[str, int]:
        if self._sizes is None:
            self._sizes = {digest: size for digest, size, _ in self._listed()}
            self._total = sum(self._sizes.values())
        return self._sizes

    def _listed(self) -> list[tuple[str, int, int]]:
        """Digest, bytes and age stamp of everything in the folder."""
        found = []
        with suppress(OSError):
            for inner in os.scandir(self._folder):
                if len(inner.name) == 2 and inner.is_dir(follow_symlinks=False):
                    for entry in os.scandir(inner):
                        if not entry.name.startswith(_TEMPORARY):
                            state = entry.stat(follow_symlinks=False)
                            found.append((inner.name + entry.name, state.st_size, state.st_mtime_ns))
        return found

    def _write(self, digest: str, packed: bytes) -> None:
        """Whole or not at all; not synced: a power cut costs the way back, never the work."""
        if (inner := digest[:2]) not in self._made:
            make_private(self._folder / inner)
            if self._folder.is_symlink() or (self._folder / inner).is_symlink():
                raise OSError(f"{self._folder} is a link or holds one")  # it came with the project, and leads anywhere
            self._made.add(inner)
        path = self._path(digest)
        made = f"{self._folder}/{inner}/{_TEMPORARY}{os.getpid()}"
        fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            write_all(fd, packed)
            os.replace(made, path)  # noqa: PTH105  done for each file of a project: a Path costs more than the call
        except OSError:
            with suppress(OSError):
                Path(made).unlink()
            raise
        finally:
            os.close(fd)

    def _drop_oldest(self, wanted: int) -> None:
        known = self._known()
        for digest, size, _ in sorted(self._listed(), key=lambda each: each[2]):
            if self._total + wanted <= self._limit * _ROOM:
                return
            if digest in self._held:
                continue
            with suppress(OSError):
                Path(self._path(digest)).unlink()
            known.pop(digest, None)
            self._total -= size
            self.dropped = True
