"""A request as its provider gets it, to look at: body, headers without secrets, and what the API would refuse."""

from __future__ import annotations

from typing import Any

from codeagent.core.messages import Request
from codeagent.models import anthropic_wire, check, features


def body(request: Request) -> dict[str, Any]:
    """The body of the call."""
    made = anthropic_wire.body(request, features.wanted(request.model, request.without))
    return {**made, "stream": True}


def headers(request: Request) -> dict[str, str]:
    """The headers that matter; the key is only named."""
    wanted = features.wanted(request.model, request.without)
    return {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": "(not shown)",
        **features.headers(wanted),
    }


def problems(request: Request) -> list[str]:
    """What the API would refuse about it, in its own words; empty when it is fine."""
    return check.problems(body(request))
