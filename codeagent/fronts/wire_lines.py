"""Events as lines of the common stream-json schema: pure, one event in, its lines out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import to_builtins

from codeagent import __version__
from codeagent.core.budget import Meter
from codeagent.core.events import (
    AssistantSaid,
    Compacted,
    Decided,
    Event,
    Noted,
    Opened,
    Raw,
    Retried,
    Spent,
    Stop,
    Switched,
    ToolFinished,
    UserSaid,
    ValveClosed,
)
from codeagent.core.messages import Block, Document, Image, Note, Opaque, Text, Thinking, ToolResult, ToolUse, Usage

Line = dict[str, Any]

STOPS: dict[Stop, str | None] = {
    "context_window": "model_context_window_exceeded",
    "interrupted": None,
    "unknown": None,
}
"""Where a stop reason's name in the schema is not ours."""

FIELD_MODES = {"bypass": "bypassPermissions"}
"""Where a mode's name in the schema is not ours."""


def stop_reason(stop: Stop) -> str | None:
    """A stop reason as the API names it; None where there was none."""
    return STOPS.get(stop, stop)


def block(part: Block) -> Line:
    """A block as the API writes it."""
    match part:
        case Text(text=text, extra=extra):
            return {"type": "text", "text": text, **extra}
        case Thinking(text=text, signature=signature, extra=extra):
            return {"type": "thinking", "thinking": text, "signature": signature, **extra}
        case ToolUse(id=id_, name=name, input=input_, extra=extra):
            return {"type": "tool_use", "id": id_, "name": name, "input": dict(input_), **extra}
        case ToolResult(tool_use_id=id_, content=content, is_error=is_error):
            return tool_result(id_, content, is_error)
        case Image() | Document():
            source = {"type": "base64", "media_type": part.media_type, "data": part.data}
            return {"type": "image" if isinstance(part, Image) else "document", "source": source}
        case Note(text=text):
            return {"type": "text", "text": text}
        case Opaque(data=data):
            return dict(data)


def tool_result(use_id: str, content: Iterable[Text | Image | Document], is_error: bool) -> Line:
    """A `tool_result` block."""
    blocks = [block(part) for part in content]
    return {"type": "tool_result", "tool_use_id": use_id, "content": blocks, "is_error": is_error}


def usage(spent: Usage) -> Line:
    """Token counts under the API's names."""
    return {
        "input_tokens": spent.input,
        "output_tokens": spent.output,
        "cache_read_input_tokens": spent.cache_read,
        "cache_creation_input_tokens": spent.cache_write + spent.cache_write_1h,
    }


class WireLines:
    """Turns a session's events into lines. `fresh` gives a new id for each line."""

    def __init__(self, session: str, fresh: Callable[[], str]) -> None:
        self._session = session
        self._fresh = fresh

    def init(self, opened: Opened, *, model: str, mode: str) -> Line:
        """The first line: what this session is."""
        return self._line(
            "system",
            subtype="init",
            cwd=opened.cwd,
            model=model,
            tools=[tool.name for tool in opened.tools],
            mcp_servers=[],
            permissionMode=FIELD_MODES.get(mode, mode),
            slash_commands=[],
            skills=[],
            agents=[],
            plugins=[],
            output_style="default",
            apiKeySource="none",
            codeagent_version=__version__,
        )

    def of(self, event: Event) -> list[Line]:
        """The lines that this event makes; most signals make none."""
        match event:
            case AssistantSaid():
                return [self._assistant(event)]
            case ToolFinished():
                return [self._tool(event)]
            case Raw(event=raw):
                return [self.partial(dict(raw))]
            case Retried() | Compacted() | Decided() | Switched() | Noted() | ValveClosed():
                line = self._system(event)
                return [line] if line else []
            case _:
                return []

    def partial(self, piece: Line) -> Line:
        """An event of the model's stream."""
        return self._line("stream_event", event=piece, parent_tool_use_id=None)

    def replayed(self, said: UserSaid) -> Line:
        """A message that came on standard input, echoed."""
        content = [block(part) for part in said.blocks]
        return self._line("user", message={"role": "user", "content": content}, parent_tool_use_id=None, isReplay=True)

    def failed(self, words: str, category: str) -> Line:
        """An assistant line that tells an error, flagged so that nobody takes it for an answer."""
        message = {"role": "assistant", "model": "<none>", "content": [{"type": "text", "text": words}]}
        return self._line("assistant", message=message, parent_tool_use_id=None, error=category or "unknown")

    def result(self, fields: Line) -> Line:
        """The last line; `fields` come from `ending`."""
        return self._line("result", **fields)

    def _assistant(self, said: AssistantSaid) -> Line:
        message = {
            "id": said.message_id,
            "type": "message",
            "role": "assistant",
            "model": said.model,
            "content": [block(part) for part in said.blocks],
            "stop_reason": stop_reason(said.stop),
            "stop_sequence": None,
            "usage": usage(said.usage),
        }
        flags = {"aborted": True} if said.stop == "interrupted" else {}
        return self._line("assistant", message=message, parent_tool_use_id=None, **flags)

    def _tool(self, done: ToolFinished) -> Line:
        content = [tool_result(done.use_id, done.blocks, done.is_error)]
        details = {
            "tool": done.tool,
            "outcome": done.outcome,
            "summary": done.summary,
            "duration_ms": done.took_ms,
            "view": to_builtins(done.view),
        }
        return self._line(
            "user", message={"role": "user", "content": content}, parent_tool_use_id=None, tool_use_result=details
        )

    def _system(self, event: Event) -> Line | None:
        match event:
            case Retried():
                return self._line(
                    "system",
                    subtype="api_retry",
                    attempt=event.attempt,
                    max_retries=event.of,
                    retry_delay_ms=int(1000 * event.wait),
                    error_status=event.status or None,
                    error=event.category,
                    message=event.why,
                )
            case Compacted():
                about = {"trigger": event.trigger, "pre_tokens": event.before_tokens, "post_tokens": event.after_tokens}
                return self._line("system", subtype="compact_boundary", compact_metadata=about)
            case Decided(decision="deny") | Decided(nobody=True):
                return self._line(
                    "system",
                    subtype="permission_denied",
                    tool_name=event.tool,
                    tool_use_id=event.use_id,
                    decision_reason_type=event.by,
                    decision_reason=event.rule or event.why,
                    message=event.why,
                )
            case Switched(mode=mode) if mode:
                return self._line("system", subtype="status", status=None, permissionMode=FIELD_MODES.get(mode, mode))
            case Switched(by="server", without=without, why=why):
                words = f"Going on without {', '.join(without)}: {why}"
                return self._line("system", subtype="informational", level="info", content=words)
            case Noted(to="person" | "both", text=text, level=level) if text:
                return self._line("system", subtype="informational", level=level, content=text)
            case ValveClosed(words=words):
                return self._line("system", subtype="informational", level="warning", content=words)
            case _:
                return None

    def _line(self, kind: str, **fields: Any) -> Line:
        return {"type": kind, **fields, "session_id": self._session, "uuid": self._fresh()}


class Bill:
    """What a run cost, by model; to be shown every event of it."""

    def __init__(self) -> None:
        self.meter = Meter()
        self._models: dict[str, Meter] = {}

    def see(self, event: Event) -> None:
        """Count one event."""
        self.meter.see(event)
        if isinstance(event, AssistantSaid | Spent):
            self._models.setdefault(event.model, Meter()).see(event)

    def by_model(self) -> Line:
        """`modelUsage` of the result line."""
        return {
            name: {
                "inputTokens": meter.usage.input,
                "outputTokens": meter.usage.output,
                "cacheReadInputTokens": meter.usage.cache_read,
                "cacheCreationInputTokens": meter.usage.cache_write + meter.usage.cache_write_1h,
                "webSearchRequests": 0,
                "costUSD": meter.cost,
            }
            for name, meter in self._models.items()
        }
