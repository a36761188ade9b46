"""The rules in force, read again as soon as a settings file changed, so that a new deny counts for the next call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path

from codeagent.core.errors import UsageFault
from codeagent.core.path_patterns import Anchors
from codeagent.core.rules import Rule, Rules, never_matches, parse, remark
from codeagent.setting_changes import remember_rule, remember_setting
from codeagent.settings import RuleText, Settings
from codeagent.trust import Trust


class Rulebook:
    """Holds the rules of one run. `load` reads all settings; the first reading is made when this is made.

    `strict` says whether a file that is broken from the start also takes the mode's freedoms: not where the command
    line names the mode. One that breaks later always does.
    `tools` are names beyond our own that rules may speak of.
    """

    def __init__(
        self,
        load: Callable[[], Settings],
        anchors: Anchors,
        project: Path,
        trust: Trust,
        *,
        strict: bool,
        tools: Collection[str] = (),
    ) -> None:
        self._load, self._anchors, self._project, self._trust, self._strict = load, anchors, project, trust, strict
        self._tools = tools
        self._remembered: list[Rule] = []
        self._problems: list[str] = []
        self._texts: list[RuleText] = []
        self.settings = load()
        self._rules = self._read(self.settings)
        self._problems[:0] = [problem.text for problem in self.settings.problems]

    def rules(self) -> Rules:
        """The rules as the files say now. Costs seven `stat` when nothing changed."""
        if self.settings.stale:
            self._again()
        return self._rules

    def remember(self, rule: str) -> str:
        """Store an allow rule in the project's local settings; where it stands. It holds from now on in any case."""
        self.rules()
        try:
            where = remember_rule(self._project, rule, self.wrote)
        except (UsageFault, OSError) as fault:
            where = f"this session only ({fault})"
        self._remembered.append(parse(rule, "allow", where))
        self._rules = Rules((*self._rules.all, self._remembered[-1]), self._anchors, self._rules.strict)
        return where

    def switch(self, name: str, *, on: bool) -> str:
        """Store a switch in the project's local settings; where it stands. Raises UsageFault."""
        return remember_setting(self._project, name, on, self.wrote)

    def wrote(self, path: Path, before: str, after: str) -> None:
        """A settings file of the project was changed for the person: what was believed is believed as it is now."""
        with suppress(OSError):  # a memory that cannot be kept: the person is asked again
            self._trust.wrote(path, before, after)

    def problems(self) -> tuple[str, ...]:
        """What is wrong with files and rules and was not told yet."""
        told, self._problems = tuple(dict.fromkeys(self._problems)), []
        return told

    def complain(self, words: str) -> None:
        """One more thing to tell."""
        self._problems.append(words)

    def _again(self) -> None:
        """Read everything anew. Of a file that cannot be read now, the denies and asks that it had stay."""
        known = {problem.text for problem in self.settings.problems}
        self.settings = self._load()
        bound = [text for text in self._texts if text.kind != "allow"]
        self._rules = self._read(self.settings, bound if self.settings.strict else None)
        self._problems += [problem.text for problem in self.settings.problems if problem.text not in known]

    def _read(self, settings: Settings, bound: Sequence[RuleText] | None = None) -> Rules:
        """The rules of these settings; `bound` are those that hold on because a file broke meanwhile."""
        self._texts = [*settings.rules, *(text for text in bound or () if text not in settings.rules)]
        rules = list(self._remembered)
        for text in self._texts:
            try:
                rule = parse(text.text, text.kind, text.source, text.directory)
            except ValueError as wrong:
                self._problems.append(f"{text.source}: {wrong}.")
                continue
            if useless := never_matches(rule, self._tools) or remark(rule):
                self._problems.append(f"{text.source}: the rule {text.text}: {useless}.")
            rules.append(rule)
        strict = self._strict or bound is not None
        broken = next((problem.text for problem in settings.problems if problem.broken), "") if strict else ""
        return Rules(rules, self._anchors, broken)
