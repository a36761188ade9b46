"""The report of an unexpected error: a file that can be sent to us, and the one line that names it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def state_home(environ: Mapping[str, str]) -> Path:
    """Where programs keep state: `$XDG_STATE_HOME`, else `~/.local/state`."""
    named = environ.get("XDG_STATE_HOME", "")
    return Path(named) if named.startswith("/") else Path(environ.get("HOME", "/tmp")) / ".local" / "state"


def report(error: BaseException, place: Path) -> str:
    """Write the traceback to `place` (a directory, made if missing) and say in a line what happened and where it is.

    The file is 0600 and holds the stack and the message only: no variables, no environment.
    """
    import time
    import traceback

    from codeagent import __version__
    from codeagent.core.token_shapes import masked

    name = f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    words = f"codeagent stopped at an unexpected error ({type(error).__name__}); the fault is ours, not yours."
    text = f"codeagent {__version__}\n\n{''.join(traceback.format_exception(error))}"
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(place / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(masked(text))
    except OSError as unwritable:
        return f"{words} The report could not be written to {place}: {unwritable.strerror}."
    return f"{words} Report: {place / name}"
