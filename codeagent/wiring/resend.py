"""Sends one request outside any session, and gives back the reply."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path

from codeagent.core.errors import ModelError, ModelUnavailable
from codeagent.core.events import AssistantSaid
from codeagent.core.messages import Request
from codeagent.models.choice import NO_KEY, Choice, is_local
from codeagent.options import Options
from codeagent.wiring.ground import Ground


async def resend(request: Request, cwd: str, environ: Mapping[str, str], home: Path) -> AssistantSaid:
    """The reply to this request from its own model, priced like any other. Nothing is recorded, no tool runs.

    Raises ModelError; ModelUnavailable when there is no key for the model.
    """
    ground = Ground(Options(cwd=cwd), environ, home)
    if not is_local(request.model) and not ground.access.key:
        raise ModelUnavailable(NO_KEY, category="authentication_failed")
    choice = Choice(lambda: ground.access)
    try:
        async with aclosing(choice.stream(request)) as parts:
            async for part in parts:
                if isinstance(part, AssistantSaid):
                    return part
    finally:
        await choice.close()
    raise ModelError("The model ended without a reply. Try again.", category="malformed")
