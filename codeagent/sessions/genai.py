"""The tree of a session as spans with the GenAI names of OpenTelemetry. The names stand here and nowhere else.

Semantic conventions for generative AI, 0.1.0 (in development). What they do not name is under `codeagent.`. Texts of
prompts, inputs and outputs are not in it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from codeagent.sessions import trace
from codeagent.sessions.trace import Call, Run, Step, Turn

Span = dict[str, Any]
"""`name`, `duration_ms`, `status` (`ok` or `error`), `attributes`, `children`."""

PROVIDER = "anthropic"

_FINE = ("done", "end_turn", "tool_use", "stop_sequence", "pause_turn")


def spans(run: Run) -> Span:
    """The whole session as one span with its turns below; every request is in exactly one span."""
    of_all = trace.steps(run)
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.agent.name": "codeagent",
        "gen_ai.conversation.id": run.session,
        "gen_ai.request.model": run.model,
        "codeagent.title": run.title,
        **_tokens(of_all),
    }
    took = sum(turn.took_ms for turn in run.turns)
    return _span("invoke_agent codeagent", took, "done", attributes, [_turn(turn) for turn in run.turns])


def _turn(turn: Turn) -> Span:
    attributes = {"codeagent.turn": turn.number, "codeagent.outcome": turn.outcome, **_tokens(turn.steps)}
    return _span(f"turn {turn.number}", turn.took_ms, turn.outcome, attributes, [_step(step) for step in turn.steps])


def _step(step: Step) -> Span:
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.request.model": step.asked.model,
        "gen_ai.request.max_tokens": step.asked.max_tokens,
        "gen_ai.response.id": step.response,
        "gen_ai.response.finish_reasons": [step.outcome],
        "gen_ai.response.time_to_first_chunk": step.first_ms / 1000,
        "codeagent.step": step.number,
        "codeagent.purpose": step.asked.purpose,
        "codeagent.retries": len(step.retries),
        "codeagent.request.digest": step.asked.digest,
        **_tokens([replace(step, calls=[])]),
    }
    return _span(
        f"chat {step.asked.model}", step.took_ms, step.outcome, attributes, [_call(call) for call in step.calls]
    )


def _call(call: Call) -> Span:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.use.name,
        "gen_ai.tool.call.id": call.use.id,
        "codeagent.outcome": call.outcome,
        "codeagent.decided_by": call.by,
        "codeagent.risk": call.risk,
    }
    return _span(f"execute_tool {call.use.name}", call.took_ms, call.outcome, attributes, [])


def _tokens(steps: list[Step]) -> dict[str, Any]:
    """Usage of these steps; input tokens include cached ones, as the conventions want it."""
    used = trace.usage(steps)
    return {
        "gen_ai.usage.input_tokens": used.prompt,
        "gen_ai.usage.output_tokens": used.output,
        "gen_ai.usage.cache_read.input_tokens": used.cache_read,
        "gen_ai.usage.cache_write.input_tokens": used.cache_write + used.cache_write_1h,
        "codeagent.cache_share": round(trace.cached(used), 4),
        "codeagent.cost_usd": trace.cost(steps),
    }


def _span(name: str, took_ms: int, outcome: str, attributes: dict[str, Any], children: list[Span]) -> Span:
    return {
        "name": name,
        "duration_ms": took_ms,
        "status": "ok" if outcome in _FINE else "error",
        "attributes": attributes,
        "children": children,
    }
