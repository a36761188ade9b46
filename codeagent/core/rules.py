"""Rules of the form `Tool(specifier)`: what they say, what they match, and what "don't ask again" stores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from codeagent.core import command_patterns
from codeagent.core.effects import Effect, ShellPart, Touch
from codeagent.core.path_patterns import Anchors, host_matches, path_matches, spellings

Kind = Literal["allow", "ask", "deny"]

_SHAPE = re.compile(r"\s*([A-Za-z_][\w*-]*|\*)\s*(?:\((.*)\))?\s*", re.DOTALL)
_READS = frozenset({"read", "grep", "glob", "ls", "notebookread"})
_EDITS = frozenset({"edit", "write", "multiedit", "notebookedit"})
_NAMED = frozenset({"agent", "task", "skill", "memory"})
_OTHERS = frozenset({"bash", "webfetch", "websearch", "todo", "todowrite", "askuser", "askuserquestion"})
_KNOWN = _READS | _EDITS | _NAMED | _OTHERS | {"*"}
_MOST_STORED = 5
"""More rules than a person reads in a dialog are not offered."""


class Rule(Struct, frozen=True):
    """One rule. `tool` is folded (`webfetch`), `text` is as written, `source` is `file:line` or `command line`.

    `base` is the directory of the settings file it stands in, for patterns that begin with one `/`.
    """

    tool: str
    specifier: str
    kind: Kind
    source: str
    text: str = ""
    base: str = ""


def parse(text: str, kind: Kind, source: str, base: str = "") -> Rule:
    """Read a rule. Raises ValueError in words when it has not the form `Tool` or `Tool(specifier)`."""
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise ValueError(f"{text!r} is not a rule; write Tool or Tool(specifier), for example Bash(npm test:*)")
    name, specifier = shape.group(1), shape.group(2)
    if specifier is not None and not specifier.strip():
        raise ValueError(f"{text!r} has nothing between its parentheses; write {name} to mean every call")
    tool = _folded(name)
    everything = specifier is None or (specifier.strip() == "*" and tool not in _READS | _EDITS)
    wanted = "" if everything or specifier is None else specifier.strip(" \t")
    return Rule(tool, wanted, kind, source, text.strip(), base)


def _folded(name: str) -> str:
    """Tool names ignore case and underscores: `web_fetch` is `WebFetch`. MCP names keep their shape."""
    lowered = name.lower()
    return lowered if lowered.startswith("mcp__") else lowered.replace("_", "")


def match(rule: Rule, effect: Effect, anchors: Anchors) -> bool:
    """Does this one rule decide the effect: allow all of it, or ask about or deny some of it?"""
    if rule.kind == "allow":
        return allowed_by([rule], effect, anchors)
    tool = _folded(effect.tool)
    if not rule.specifier:
        return _same_tool(rule, tool)
    if rule.tool == "bash":
        return tool == "bash" and effect.shell is not None and any(sees(rule, part) for part in effect.shell.parts)
    if rule.tool in _READS | _EDITS:
        touches = effect.touches + (effect.shell.touches if effect.shell else ())
        return any(_reaches(rule, touch, effect, anchors) for touch in touches)
    return _names(rule, tool, effect)


def allowed_by(rules: Sequence[Rule], effect: Effect, anchors: Anchors) -> bool:
    """Do these allow rules together cover the whole effect?"""
    tool = _folded(effect.tool)
    if any(not rule.specifier and _same_tool(rule, tool) for rule in rules):
        return True
    if tool == "bash":
        shell = effect.shell
        return (
            shell is not None
            and shell.plain
            and not shell.forbidden
            and all(part.readonly or covering(rules, part) for part in shell.parts)
        )
    if effect.touches and (tool in _READS or tool in _EDITS):
        return all(any(_permits(rule, touch, effect, anchors) for rule in rules) for touch in effect.touches)
    return any(rule.specifier and _names(rule, tool, effect) for rule in rules)


def covering(rules: Iterable[Rule], part: ShellPart) -> Rule | None:
    """The allow rule that covers this simple command, if one does."""
    if part.words is None:
        return None
    found = (rule for rule in rules if rule.tool == "bash" and _covers(rule, part.words))
    return next(found, None)


def _covers(rule: Rule, words: tuple[str, ...]) -> bool:
    return not rule.specifier or command_patterns.covers(_pattern(rule.specifier), words)


def sees(rule: Rule, part: ShellPart) -> bool:
    """Does this ask or deny rule see this simple command, or one that it wraps?"""
    forms = part.covers if part.words is None else (part.words, *part.covers)
    return rule.tool == "bash" and (
        not rule.specifier or any(command_patterns.catches(_pattern(rule.specifier), form) for form in forms)
    )


@lru_cache(maxsize=512)
def _pattern(specifier: str) -> re.Pattern[str]:
    return command_patterns.compiled(specifier)


def _same_tool(rule: Rule, tool: str) -> bool:
    """Bare names: `Edit` also means write, `Read` also means search; `mcp__x` means all of that server."""
    if rule.tool == tool or (rule.tool == "edit" and tool in _EDITS) or (rule.tool == "read" and tool in _READS):
        return True
    if not rule.tool.startswith("mcp__"):
        return rule.tool == "*"
    prefix = rule.tool.removesuffix("*")
    return tool.startswith(prefix) if rule.tool.endswith("*") else tool.startswith(rule.tool + "__")


def _reaches(rule: Rule, touch: Touch, effect: Effect, anchors: Anchors) -> bool:
    """Deny and ask: the named or the resolved path is enough. A Read rule also keeps from writing."""
    if rule.tool in _EDITS and touch.access == "read":
        return False
    base = rule.base or anchors.root
    return any(
        path_matches(rule.specifier, path, anchors, base, wide=True) for path in spellings(touch, effect.cwd, anchors)
    )


def _permits(rule: Rule, touch: Touch, effect: Effect, anchors: Anchors) -> bool:
    """Allow: both the named and the resolved path must match. An Edit rule also permits reading."""
    if not rule.specifier or rule.tool not in _READS | _EDITS or (rule.tool in _READS and touch.access == "write"):
        return False
    base = rule.base or anchors.root
    return all(
        path_matches(rule.specifier, path, anchors, base, wide=False) for path in spellings(touch, effect.cwd, anchors)
    )


def _names(rule: Rule, tool: str, effect: Effect) -> bool:
    """Rules over hosts (`WebFetch(domain:x)`) and over names (`Skill(review)`)."""
    if rule.tool != tool:
        return False
    if tool == "webfetch":
        return rule.specifier.startswith("domain:") and host_matches(rule.specifier[7:].strip(), effect.host)
    if tool in _NAMED:
        return command_patterns.catches(_pattern(rule.specifier), tuple(effect.label.split()))
    return False


class Rules:
    """All rules of a session, from every layer. Deny beats ask beats allow; order does not matter.

    `strict` names a settings file that cannot be read, in a sentence: a deny may be lost in it, so
    no mode lets anything pass meanwhile.
    """

    def __init__(self, rules: Iterable[Rule], anchors: Anchors, strict: str = "") -> None:
        self.all = tuple(rules)
        self.strict = strict
        self._anchors = anchors

    def allowing(self, texts: Iterable[str], source: str = "") -> Rules:
        """The same with these allow rules added."""
        return Rules((*self.all, *(parse(text, "allow", source) for text in texts)), self._anchors, self.strict)

    def denied(self, effect: Effect) -> Rule | None:
        """The first deny rule that sees any of the effect."""
        return self._first("deny", effect)

    def asked(self, effect: Effect) -> Rule | None:
        """The first ask rule that sees any of the effect."""
        return self._first("ask", effect)

    def allowed(self, effect: Effect) -> tuple[Rule, ...]:
        """The allow rules that together cover all of the effect; () when they do not, or none is needed."""
        rules = [rule for rule in self.all if rule.kind == "allow"]
        if not allowed_by(rules, effect, self._anchors):
            return ()
        alone = [rule for rule in rules if match(rule, effect, self._anchors)]
        if alone:
            return (alone[0],)
        used = dict.fromkeys(
            rule for part in (effect.shell.parts if effect.shell else ()) if (rule := covering(rules, part))
        )
        return tuple(used) or tuple(rules)

    def for_part(self, part: ShellPart) -> Rule | None:
        """The rule that decides one simple command: deny, then ask, then allow. For explanations."""
        for kind in ("deny", "ask"):
            found = next((rule for rule in self.all if rule.kind == kind and sees(rule, part)), None)
            if found:
                return found
        return covering((rule for rule in self.all if rule.kind == "allow"), part)

    def _first(self, kind: Kind, effect: Effect) -> Rule | None:
        return next((rule for rule in self.all if rule.kind == kind and match(rule, effect, self._anchors)), None)


def never_matches(rule: Rule) -> str:
    """Why this rule can never match, with the correction, or ""."""
    if rule.tool not in _KNOWN and not rule.tool.startswith("mcp__"):
        return f"there is no tool named {rule.tool}; tools are Bash, Read, Edit, WebFetch and so on"
    if rule.tool == "bash" and rule.specifier:
        return _never_a_command(rule)
    if rule.tool in _READS | _EDITS and rule.specifier.startswith("!"):
        return f"a pattern cannot be negated; write a {rule.kind} rule for what is meant instead"
    if rule.tool == "webfetch" and rule.specifier:
        return _never_a_host(rule)
    if rule.specifier and rule.tool not in _READS | _EDITS | _NAMED:
        return f"{rule.tool} takes no specifier; write the bare name"
    return ""


def _never_a_command(rule: Rule) -> str:
    bare = command_patterns.unquoted(rule.specifier)
    if found := command_patterns.operators(rule.specifier):
        shown = "a newline" if found == "\n" else found
        return f"a rule covers one simple command and {shown} parts commands; write one rule for each"
    if bare.startswith(":*"):
        return "no command stands before `:*`; write Bash to mean every command"
    if re.search(r":\*\s*\S", bare):
        return "`:*` means further words only at the end; write ` * ` in the middle"
    if rule.kind == "allow" and re.match(r"[A-Za-z_]\w*=", bare):
        return "a command that sets a variable first is never covered; write the rule for the command alone"
    if rule.kind == "allow" and re.search(r"\$[\w({]", bare):
        return "a command with an expansion is never covered; write the words that it stands for"
    return ""


def _never_a_host(rule: Rule) -> str:
    host = rule.specifier.removeprefix("domain:").strip()
    bare = re.sub(r"^[a-z]+://", "", host).split("/")[0].split(":")[0]
    if rule.specifier.startswith("domain:") and bare == host and host:
        return ""
    return f"hosts are written as WebFetch(domain:{bare or 'example.org'})"


def remark(rule: Rule) -> str:
    """A word on a rule that works, but under another name than it was written; or ""."""
    if not rule.specifier or rule.tool in {"read", "edit"} or rule.tool not in _READS | _EDITS:
        return ""
    usual = "Read" if rule.tool in _READS else "Edit"
    return f"{rule.text} is taken as {usual}({rule.specifier}): path rules are kept for Read and Edit"


def narrow(effect: Effect) -> tuple[str, ...]:
    """The rules that "don't ask again" stores for a command or a host; () when none can be narrow.

    For a command: one exact rule per part that is not read-only, at most five. They allow the same
    words again and no others.
    """
    if effect.host:
        return (
            (f"WebFetch(domain:{effect.host})",)
            if host_matches(effect.host, effect.host) and "*" not in effect.host
            else ()
        )
    shell = effect.shell
    if shell is None or not shell.plain or shell.forbidden:
        return ()
    needed = list(dict.fromkeys(part.words for part in shell.parts if not part.readonly))
    if not needed or len(needed) > _MOST_STORED or None in needed:
        return ()
    texts = tuple(f"Bash({command_patterns.exact(words)})" for words in needed if words)
    rules = [parse(text, "allow", "") for text in texts]
    fits = all(covering(rules, part) for part in shell.parts if not part.readonly)
    return texts if fits and not any(never_matches(rule) for rule in rules) else ()
