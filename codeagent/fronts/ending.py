"""How a headless run ended: its subtype, its exit code, and the words that go with it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from codeagent.core.errors import CodeagentError, ModelUnavailable, UsageFault
from codeagent.core.events import AssistantSaid, Decided, Event, TurnEnded
from codeagent.core.messages import ToolUse
from codeagent.fronts.wire_lines import Bill, stop_reason, usage

if TYPE_CHECKING:
    from codeagent.answer_schema import AnswerSchema

UNUSABLE = {"authentication_failed", "billing_error", "permission", "model_not_found", "connection"}
"""Failures of the model that no second try of the same run would mend: exit 5."""

VALVES = {
    "steps": ("error_max_turns", "max_turns"),
    "tokens": ("error_max_tokens_total", "budget_exhausted"),
    "dollars": ("error_max_budget_usd", "budget_exhausted"),
    "seconds": ("error_max_seconds", "time_exhausted"),
    "no_progress": ("error_no_progress", "no_progress"),
}
"""Valve -> (subtype, terminal reason)."""

FLAGS = {
    "steps": "--max-turns",
    "tokens": "--max-tokens-total",
    "dollars": "--max-budget-usd",
    "seconds": "--max-seconds",
}
"""Valve -> the flag that sets its limit."""

NOBODY = (
    "{calls} refused because nobody was there to say yes: {names}. "
    "Allow what is wanted with --allowed-tools, or choose a --permission-mode."
)


SIGNALS = {
    1: "The terminal hung up. What was done so far is kept in the session.",
    13: "Nobody reads the output any more, so the run was stopped.",
    15: "Asked to terminate. What was done so far is kept in the session.",
}


class Ending(Struct, frozen=True):
    """The outcome. `words` says what went wrong, empty when all is well; `code` is the exit code."""

    subtype: str
    code: int
    terminal: str
    words: str = ""


class Course:
    """What is remembered of a run for its result; to be shown every event of it.

    With a `schema` the answer is wanted as JSON of that shape, and only then is the run a success.
    """

    def __init__(self, schema: AnswerSchema | None = None) -> None:
        self._schema = schema
        self.bill = Bill()
        self.steps = 0
        self.tool_steps = 0
        self.said: AssistantSaid | None = None
        self.ended: TurnEnded | None = None
        self.category = ""
        self.denials: list[dict[str, Any]] = []
        self.unasked: list[str] = []
        self._uses: dict[str, ToolUse] = {}

    def see(self, event: Event) -> None:
        """Take note of one event."""
        self.bill.see(event)
        match event:
            case AssistantSaid():
                self.said = event
                self.steps += 1
                self.tool_steps += bool(event.uses)
                self._uses.update({use.id: use for use in event.uses})
            case Decided() if event.decision == "deny" or event.nobody:
                self._denied(event)
            case TurnEnded():
                self.ended = event
                self.category = event.category
            case _:
                pass

    def _denied(self, decided: Decided) -> None:
        use = self._uses.get(decided.use_id)
        self.denials.append(
            {
                "tool_name": decided.tool,
                "tool_use_id": decided.use_id,
                "tool_input": dict(use.input) if use else {},
            }
        )
        if decided.nobody:
            self.unasked.append(decided.title or decided.tool)

    @property
    def answer(self) -> str:
        """The last words of the model that were not withdrawn."""
        return self.said.text if self.said and not self.said.void else ""

    def _misshapen(self) -> str:
        """What keeps the answer from matching the schema; empty when it does, or none is wanted."""
        try:
            if self._schema is not None:
                self._schema.read(self.answer)
        except ValueError as fault:
            return str(fault)
        return ""

    def _done(self, mode: str) -> Ending:
        if fault := self._misshapen():
            words = f"The answer does not match the JSON schema, also when asked again: {fault}."
            return Ending("error_max_structured_output_retries", 1, "structured_output_retries", words)
        if self.unasked and mode != "dontAsk":
            calls = "1 call was" if len(self.unasked) == 1 else f"{len(self.unasked)} calls were"
            words = NOBODY.format(calls=calls, names="; ".join(dict.fromkeys(self.unasked)))
            return Ending("error_permission_required", 4, "permission_required", words)
        return Ending("success", 0, "completed")

    def ending(self, mode: str, signal: int = 0) -> Ending:
        """How it ended in permission mode `mode`; `signal` is the number of the signal that ended it, if one did."""
        ended = self.ended
        if signal:
            during = "aborted_tools" if self.said and self.said.uses else "aborted_streaming"
            words = SIGNALS.get(signal, "Interrupted. What was done so far is kept in the session.")
            return Ending("error_during_execution", 128 + signal, during, words)
        if ended is None:
            return Ending("error_during_execution", 1, "model_error", "The run ended before its turn did.")
        match ended.why:
            case "done":
                return self._done(mode)
            case "valve":
                subtype, terminal = VALVES.get(ended.valve, ("error_during_execution", "valve"))
                hint = f" Set another limit with {FLAGS[ended.valve]}." if ended.valve in FLAGS else ""
                return Ending(subtype, 3, terminal, (ended.detail or "Stopped at a limit.") + hint)
            case "interrupted":
                return Ending("error_during_execution", 1, "aborted_streaming", "The run was interrupted.")
            case "refused":
                return Ending("error_during_execution", 1, "refusal", ended.detail or "The model declined to answer.")
            case _:
                code = 5 if ended.category in UNUSABLE else 1
                terminal = "prompt_too_long" if ended.category == "prompt_too_long" else "model_error"
                return Ending("error_during_execution", code, terminal, ended.detail or "The run failed.")

    def result(self, ending: Ending, took_ms: int) -> dict[str, Any]:
        """The fields of the result line, but for session and id."""
        meter = self.bill.meter
        worded: Mapping[str, Any] = {"errors": [ending.words]} if ending.words else {}
        answered: dict[str, Any] = {"result": self.answer} if ending.code in (0, 4) else {}
        if answered and self._schema is not None:
            answered["structured_output"] = self._schema.read(self.answer)
        return {
            "subtype": ending.subtype,
            "is_error": ending.subtype != "success",
            **answered,
            **worded,
            "num_turns": self.steps,
            "duration_ms": took_ms,
            "duration_api_ms": meter.model_ms,
            "total_cost_usd": meter.cost,
            "usage": usage(meter.usage),
            "modelUsage": self.bill.by_model(),
            "permission_denials": self.denials,
            "stop_reason": stop_reason(self.said.stop) if self.said else None,
            "terminal_reason": ending.terminal,
            "api_error_status": (self.ended.status or None) if self.ended else None,
        }


def of_error(error: CodeagentError) -> Ending:
    """The ending of a run that could not even begin."""
    code = 2 if isinstance(error, UsageFault) else 5 if isinstance(error, ModelUnavailable) else 1
    return Ending("error_during_execution", code, "not_started", str(error))
