"""The log of `--debug-file`: for its owner alone, and without credentials."""

from __future__ import annotations

import logging
import os

from codeagent.core.token_shapes import masked
from codeagent.flags import Mistake


class _Masked(logging.Formatter):
    """A record as text, tracebacks included, with credentials of well-known shapes taken out."""

    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))


def write_to(name: str) -> None:
    """Write what our modules log to this file. Raises Mistake when it cannot be opened."""
    try:
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise Mistake(f"--debug-file {name} cannot be written: {error.strerror}. Name another file.") from None
    writer = logging.StreamHandler(os.fdopen(handle, "w", encoding="utf-8", errors="replace"))
    writer.setFormatter(_Masked("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logger = logging.getLogger("codeagent")
    logger.setLevel(logging.DEBUG)
    logger.addHandler(writer)
    logger.debug("started")
