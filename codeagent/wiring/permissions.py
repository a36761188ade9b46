"""What the rules of a project say of calls that nobody makes: listed, explained, checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from codeagent.core.explain import settled, told, ways
from codeagent.core.judging import judge
from codeagent.core.modes import MODES, mode_named
from codeagent.core.path_patterns import Anchors
from codeagent.core.rules import Kind, Rule, Rules, never_matches, parse, remark
from codeagent.wiring.sketch import Sketch, worst_place

if TYPE_CHECKING:
    from codeagent.wiring.ground import Ground

KINDS: tuple[Kind, ...] = ("deny", "ask", "allow")
"""The strongest first."""


def in_force(rules: Rules) -> list[tuple[Rule, str]]:
    """Each rule, the strongest kind first, with the reason why it never matches (or is taken otherwise), if so."""
    ordered = sorted(rules.all, key=lambda rule: KINDS.index(rule.kind))
    return [(rule, never_matches(rule) or remark(rule)) for rule in ordered]


def listed(ground: Ground, mode: str = "") -> str:
    """The rules in force, in words; those that cannot work, and what the project's files want and do not get."""
    rows = in_force(ground.rules())
    lines = [
        f"Mode {mode or ground.mode}. Deny beats ask beats allow; a protected place and a deny bind in every mode."
    ]
    width = min(40, max((len(rule.text) for rule, _ in rows), default=0))
    for kind, group in groupby(rows, lambda row: row[0].kind):
        lines += ["", f"{kind}"]
        for rule, flaw in group:
            lines.append(f"  {rule.text:<{width}}  {rule.source}")
            if flaw:
                lines.append(f"      {'never matches: ' if never_matches(rule) else ''}{flaw}")
    if not rows:
        lines += ["", "No rules: the mode decides."]
    claims = ground.rulebook.settings.claims
    if claims and not ground.trusted:
        lines += ["", "Wanted by this project's files, and not given before you trust it (--trust):"]
        lines += [f"  {claim}" for claim in claims]
    if problems := ground.rulebook.problems():
        lines += ["", "Problems", *(f"  {problem}" for problem in problems)]
    return "\n".join(lines)


def why(
    ground: Ground, tool: str, given: Mapping[str, Any], mode: str = "", setting: str = "--permission-mode"
) -> Iterator[str]:
    """The decision about one call, in lines of plain words. `setting` is what a mode's name is written behind."""
    mode = mode or ground.mode
    effect = _sketch(ground).effect(tool, given)
    rules = ground.rules()
    verdict = settled(judge(effect, rules, mode), mode)
    yield from told(effect, replace(verdict, ways=ways(effect, verdict, rules, mode, setting)), mode)
    claimed = any(claim.startswith("allow ") for claim in ground.rulebook.settings.claims)
    if verdict.decision == "ask" and claimed and not ground.trusted:
        yield ""
        yield "Allow rules of this project's own settings do not count before you trust it (--trust)."


def checked(row: Any, ground: Ground, usual: str) -> dict[str, Any]:
    """The answer to one line of `permissions check`. Raises ValueError in words for a line that cannot be used."""
    if not isinstance(row, dict) or not isinstance(row.get("tool"), str) or not isinstance(row.get("input"), dict):
        raise ValueError('an object with "tool" (a text) and "input" (an object) is wanted')
    mode = mode_named(str(row.get("mode") or usual))
    if not mode:
        raise ValueError(f"there is no mode {row['mode']!r}; the modes are {', '.join(MODES)}")
    sketch, rules = _setting(row, ground)
    effect = sketch.effect(row["tool"], row["input"])
    verdict = settled(judge(effect, rules, mode), mode)
    answer: dict[str, Any] = {"id": row.get("id"), "decision": verdict.decision, "by": verdict.by}
    if verdict.rule:
        answer |= {"rule": verdict.rule, "where": verdict.where}
    answer["risk"] = effect.risk.name
    if place := worst_place(effect):
        answer["path"] = place
    if verdict.parts:
        answer["parts"] = [{"text": t, "decision": d, "why": reason} for t, d, reason in verdict.parts]
    return answer | {"why": verdict.why}


def _sketch(ground: Ground) -> Sketch:
    return Sketch(ground.project, ground.home, ground.project, ground.child_env, ground.extra_roots)


def _setting(row: Mapping[str, Any], ground: Ground) -> tuple[Sketch, Rules]:
    """Where a line plays: this project with its rules, or the one that it names with the rules that it brings."""
    root, home = _place(row, "root", ground.project), _place(row, "home", ground.home)
    cwd = _place(row, "cwd", root)
    own = [parse(text, kind, "the line", str(root)) for kind in KINDS for text in _texts(row.get(kind), kind)]
    here = (root, home) == (ground.project, ground.home)
    known: Iterable[Rule] = ground.rules().all if here else ()
    anchors = Anchors(str(root), str(home), str(cwd))
    extra: Sequence[Path] = ground.extra_roots if here else ()
    return Sketch(root, home, cwd, ground.child_env, extra), Rules((*own, *known), anchors)


def _place(row: Mapping[str, Any], name: str, usual: Path) -> Path:
    named = row.get(name) or ""
    if not isinstance(named, str):
        raise ValueError(f"{name}: a path is wanted")
    return Path(named).resolve() if named else usual


def _texts(given: Any, name: str) -> list[str]:
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise ValueError(f"{name}: a list of rules is wanted")
    return given
