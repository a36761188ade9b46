"""Whether the model's address answers at all: one request without a key, for `codeagent doctor`."""

from __future__ import annotations

import http.client
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, NamedTuple

PUBLIC = "https://api.anthropic.com"
"""The address where none is configured."""

PATIENCE = 3.0
"""Seconds for the connection; one more for a name that nobody resolves."""


class Reached(NamedTuple):
    """Whether anything answered, and how: words for a person, milliseconds."""

    ok: bool
    words: str
    ms: int = 0


class _NoDetour(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer: nothing else is asked."""

    def redirect_request(self, *_: Any) -> None:
        return None


def reach(url: str) -> Reached:
    """Ask `url` (empty: the public address) once, through the proxy that the environment names. Never raises."""
    found: list[Reached] = []
    asking = threading.Thread(target=lambda: found.append(_ask(url or PUBLIC)), name="reach", daemon=True)
    asking.start()
    asking.join(PATIENCE + 1)
    return found[0] if found else Reached(False, f"no answer within {PATIENCE:.0f} s")


def _ask(url: str) -> Reached:
    began = time.monotonic()
    try:
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            return Reached(False, "no http or https address")
        with urllib.request.build_opener(_NoDetour).open(url, timeout=PATIENCE):
            pass
    except urllib.error.HTTPError as said:
        said.close()  # any status is an answer: without a key it is mostly 404
    except urllib.error.URLError as fault:
        return Reached(False, str(getattr(fault.reason, "strerror", None) or fault.reason))
    except (OSError, ValueError, http.client.HTTPException) as fault:
        return Reached(False, str(getattr(fault, "strerror", None) or fault) or type(fault).__name__)
    return Reached(True, "answers", int(1000 * (time.monotonic() - began)))
