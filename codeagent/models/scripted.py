"""A recorded model: says a script, step by step, and finds its place in it from the request alone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

from msgspec.structs import replace

from codeagent.core.errors import (
    Category,
    ContextOverflow,
    ModelBusy,
    ModelError,
    ModelUnavailable,
    RequestRejected,
)
from codeagent.core.events import AssistantSaid, Delta, Retried
from codeagent.core.messages import Block, Request, Text, Thinking, ToolUse
from codeagent.core.ports import ModelInfo, Price
from codeagent.models.script_format import Fail, Script, Step
from codeagent.models.script_place import fill, find
from codeagent.models.script_reader import parse
from codeagent.models.speech import deltas, estimate, rest, wants_summary

_FAULTS: dict[Category, type[ModelError]] = {
    "authentication_failed": ModelUnavailable,
    "billing_error": ModelUnavailable,
    "permission": ModelUnavailable,
    "model_not_found": ModelUnavailable,
    "rate_limit": ModelBusy,
    "overloaded": ModelBusy,
    "server_error": ModelBusy,
    "connection": ModelBusy,
    "timeout": ModelBusy,
    "truncated": ModelBusy,
    "malformed": ModelBusy,
    "invalid_request": RequestRejected,
    "feature_refused": RequestRejected,
    "prompt_too_long": ContextOverflow,
}


class Scripted:
    """Implements ports.Model: the same script and the same requests give the same replies, byte for byte.

    `source` is a file, or the text of a script. `pace` is in characters a second, 0 for at once;
    `wait` lines count only when there is a pace. Raises ModelError of category `script` for a
    script that cannot be read.
    """

    def __init__(self, source: Path | str, *, pace: float = 0) -> None:
        self._script = _load(source) if isinstance(source, Path) else parse(source, "script")
        self._pace = pace

    def info(self, model: str) -> ModelInfo:
        """A window like that of a real model, or as the script sets it; nothing is paid."""
        window = self._script.window or 200_000
        return ModelInfo(model, "recorded", window, 32_000, Price(0, 0, 0, 0, 0), chars_per_token=4)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Retried | AssistantSaid, None]:
        """Say the step that comes next. Raises ModelError where the script says so or has no step left."""
        step, reply = find(self._script, request.messages, summary=wants_summary(request))
        current = self._script.steps[step]
        if self._pace and current.wait:
            await rest(current.wait)
        said = self._reply(request, current, f"step{step + 1}_{reply}")
        async for delta in deltas(said, self._pace):
            yield delta
        if current.fail:
            raise _failure(current.fail)
        yield said

    def _reply(self, request: Request, step: Step, name: str) -> AssistantSaid:
        said = AssistantSaid(
            tuple(self._blocks(request, step, name)),
            stop=step.stop or ("tool_use" if step.calls else "end_turn"),
            model=request.model,
            cost=step.cost,
            message_id=name,
            detail=step.detail,
            cut=step.cut,
        )
        return replace(said, usage=step.usage or estimate(request, said))

    def _blocks(self, request: Request, step: Step, name: str) -> Iterator[Block]:
        """The step's blocks with their placeholders filled; a call without an id gets one that tells its place."""
        calls = 0
        for part in step.parts:
            block = part.block
            if part.verbatim:
                yield block
            elif isinstance(block, ToolUse):
                calls += 1
                given = fill(self._script, part.line, block.input, request.messages)
                yield ToolUse(block.id or f"{name}_{calls}", block.name, given)
            elif isinstance(block, Text | Thinking):
                yield replace(block, text=fill(self._script, part.line, block.text, request.messages))


def _load(path: Path) -> Script:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return parse(file.read(), path.name)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(f"The script {path} cannot be read: {reason}.", category="script") from error
    except UnicodeDecodeError as error:
        raise ModelError(f"The script {path} is not UTF-8: see byte {error.start}.", category="script") from error


def _failure(fail: Fail) -> ModelError:
    kind = _FAULTS.get(fail.category, ModelError)
    return kind(
        fail.message,
        category=fail.category,
        status=fail.status,
        retry_after=fail.retry_after,
        feature=fail.feature,
    )
