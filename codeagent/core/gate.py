"""The one door: an effect passes here or does not happen.

What rules and mode say comes from `judging`; here the person is asked, every decision is recorded
as `Decided`, and only this file makes a `Permit`.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable

from msgspec.structs import replace

from codeagent.core.effects import Answer, AskPermission, Effect, Permit, Refusal, Revised, Verdict
from codeagent.core.events import Decided, Entry, Switched
from codeagent.core.explain import ways
from codeagent.core.judging import EDITS, judge
from codeagent.core.messages import ToolUse
from codeagent.core.ports import Approver
from codeagent.core.rules import Rules, narrow
from codeagent.core.views import Diff


class Gate:
    """Judges effects. `rules` gives the rules in force now; `remember` stores a rule and says where."""

    def __init__(
        self,
        approver: Approver,
        record: Callable[[Entry], None],
        rules: Callable[[], Rules],
        remember: Callable[[str], str],
        mode: str = "default",
    ) -> None:
        self._standing = [mode]
        """The mode, in one place for this gate and those that it lent out."""
        self._agent = ""
        self._approver, self._record, self._session = approver, record, record
        self._rules, self._remember = rules, remember
        self._one_question = asyncio.Lock()

    @property
    def mode(self) -> str:
        """The permission mode."""
        return self._standing[0]

    @mode.setter
    def mode(self, mode: str) -> None:
        self._standing[0] = mode

    def lend(self, agent: str, record: Callable[[Entry], None]) -> Gate:
        """The same door for a sub-agent of this name: same rules, mode and person, who is asked one thing at a time.

        Its decisions go to `record`; a change of mode that the person makes there is the session's.
        """
        lent = copy.copy(self)
        lent._agent, lent._record = agent, record
        return lent

    def judge(self, effect: Effect) -> Verdict:
        """What would happen to this effect, and why. Asks nobody, changes nothing."""
        return judge(effect, self._rules(), self.mode)

    async def permit(
        self, use: ToolUse, effect: Effect, consent: Revised | None = None, *, own: bool = False
    ) -> Permit | Refusal | Revised:
        """Let it through, refuse it, or hand back the input as the person changed it.

        `own` is a call that the person wrote: what passes is on record as theirs.

        `consent` is that changed input coming again: the person wrote it, and only a deny stops it.
        """
        verdict = self.judge(effect)
        if consent is not None and verdict.decision != "deny":
            yes = Verdict("allow", "dialog", _sentence(consent, "changed it and accepted it."))
            self._decided(use, effect, yes, consent)
            return Permit(effect, consent.words, use.id)
        if verdict.decision == "ask":
            if self.mode == "dontAsk":
                return self._refuse(use, effect, verdict, "The mode dontAsk refuses what would be asked. ")
            if not self._approver.attended:
                return self._refuse(use, effect, verdict, "Nobody is here to allow it. ", nobody=True)
            async with self._one_question:
                # The answer to the question before may have settled this one.
                verdict = self.judge(effect)
                if verdict.decision == "ask":
                    return await self._ask(use, effect, verdict)
        if verdict.decision == "deny":
            return self._refuse(use, effect, verdict, "")
        if own:
            verdict = Verdict("allow", "dialog", "You typed this command.")
        self._decided(use, effect, verdict)
        return Permit(effect, use_id=use.id)

    async def _ask(self, use: ToolUse, effect: Effect, verdict: Verdict) -> Permit | Refusal | Revised:
        words, rules = self._always(effect, verdict)
        verdict = replace(verdict, ways=ways(effect, verdict, self._rules(), self.mode))
        question = AskPermission(use.id, effect, verdict, use.input, words, rules, self._agent)
        answer = await self._approver.ask(question)
        hunks = _taken(effect, answer)
        if answer.verdict == "no" or hunks == ():
            no = Verdict("deny", "dialog", _sentence(answer, "said no."))
            self._decided(use, effect, no, answer)
            said = f" They say: {answer.words}" if answer.words else " Ask what they want instead, or take another way."
            return Refusal(f"The user said no to this; it was not run.{said}")
        if answer.input is not None:
            return Revised(answer.input, answer.words, answer.who)
        always = answer.verdict == "always" and bool(words)
        where = self._store(rules) if always else ""
        said = "said yes." if hunks is None else "said yes to a part of it."
        yes = Verdict("allow", "dialog", _sentence(answer, said), where=where)
        self._decided(use, effect, yes, answer, rules if always else (), hunks=hunks)
        return Permit(effect, answer.words, use.id, hunks)

    def _always(self, effect: Effect, verdict: Verdict) -> tuple[str, tuple[str, ...]]:
        """What "don't ask again" would mean: words, and the rules it would store. Empty: not offered."""
        if verdict.by in ("protected", "rule") or any(touch.place == "protected" for touch in effect.touches):
            return "", ()
        if effect.tool in EDITS and all(touch.place == "inside" for touch in effect.touches):
            return "accept edits in this session", ()
        rules = narrow(effect)
        return (f"don't ask again in this project for {', '.join(rules)}", rules) if rules else ("", ())

    def _store(self, rules: tuple[str, ...]) -> str:
        """Store rules, or accept edits where there are none; the places where they stand."""
        if not rules:
            self.mode = "acceptEdits"
            self._session(Switched(mode="acceptEdits", why="you accept edits in this session"))
        return ", ".join([self._remember(rule) for rule in rules])

    def _refuse(self, use: ToolUse, effect: Effect, verdict: Verdict, lead: str, *, nobody: bool = False) -> Refusal:
        denied = Verdict("deny", verdict.by, verdict.why, verdict.rule, verdict.where, verdict.parts)
        self._decided(use, effect, denied, nobody=nobody)
        if nobody or lead:
            return Refusal(
                f"{lead}Not run: {effect.title}. {verdict.why} Go on without it, or say what you need.", nobody
            )
        rule = f" (rule {verdict.rule})" if verdict.rule else ""
        return Refusal(f"Policy forbids this{rule}; it was not run. {verdict.why} Do not try it in another form.")

    def _decided(
        self,
        use: ToolUse,
        effect: Effect,
        verdict: Verdict,
        said: Answer | Revised | None = None,
        stored: tuple[str, ...] = (),
        *,
        nobody: bool = False,
        hunks: tuple[int, ...] | None = None,
    ) -> None:
        self._record(
            Decided(
                use.id,
                effect.tool,
                effect.title,
                verdict.decision,
                verdict.by,
                verdict.why,
                verdict.rule,
                verdict.where,
                int(effect.risk),
                said.words if said else "",
                stored,
                nobody,
                said.input if isinstance(said, Revised) else None,
                hunks=hunks,
                who=said.who if said else "",
            )
        )


def _sentence(said: Answer | Revised, predicate: str) -> str:
    return f"{said.who[:1].upper()}{said.who[1:]} {predicate}" if said.who else f"You {predicate}"


def _taken(effect: Effect, answer: Answer) -> tuple[int, ...] | None:
    """The hunks that a yes is for, in order; None for the whole effect. What cannot be done in parts is not done."""
    if answer.hunks is None:
        return None
    offered = range(len(effect.view.hunks)) if effect.hunkwise and isinstance(effect.view, Diff) else range(0)
    taken = tuple(at for at in offered if at in answer.hunks)
    return None if taken and len(taken) == len(offered) else taken
