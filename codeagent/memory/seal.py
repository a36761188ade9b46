"""A keyed checksum on what codeagent wrote, so that what others wrote or changed is known for that."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from codeagent.host.durable import make_private, write_all


def key(state_home: Path) -> bytes:
    """This user's key, 32 random bytes, made on first use in the state directory (0600). Raises OSError."""
    path = state_home / "codeagent" / "seal.key"
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        make_private(path.parent)
        fresh = path.with_name(f"seal.{os.getpid()}.{os.urandom(4).hex()}.tmp")
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            write_all(fd, os.urandom(32))
        finally:
            os.close(fd)
        try:
            path.hardlink_to(fresh)  # unlike a rename, this never replaces the key that another process just made
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
        found = path.read_bytes()
    if len(found) != 32:
        raise OSError(f"{path} is no key; remove it to get a new one")
    return found


def seal(key: bytes, name: str, text: str) -> str:
    """The checksum of a named text, 32 hex digits."""
    data = f"{name}\n{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, key=key, digest_size=16).hexdigest()
