"""The text of a rule, `Tool(specifier)`: its shape, and what is wrong or odd about it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from msgspec import Struct

from codeagent.core import command_patterns

Kind = Literal["allow", "ask", "deny"]

_SHAPE = re.compile(r"\s*([A-Za-z_][\w*-]*)\s*(?:\((.*)\))?\s*", re.DOTALL)
READS = frozenset({"read", "grep", "glob", "ls", "notebookread"})
EDITS = frozenset({"edit", "write", "multiedit", "notebookedit"})
NAMED = frozenset({"agent", "task", "skill", "memory"})
_OTHERS = frozenset({"bash", "webfetch", "websearch", "todo", "todowrite", "askuser", "askuserquestion"})
_KNOWN = READS | EDITS | NAMED | _OTHERS


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
    tool = folded(name)
    everything = specifier is None or (specifier.strip() == "*" and tool not in READS | EDITS)
    wanted = "" if everything or specifier is None else specifier.strip(" \t")
    return Rule(tool, wanted, kind, source, text.strip(), base)


def folded(name: str) -> str:
    """Tool names ignore case and underscores: `web_fetch` is `WebFetch`, and `Agent` means `Task`.

    MCP names keep their shape.
    """
    lowered = name.lower()
    if lowered.startswith("mcp__"):
        return lowered
    return "task" if lowered == "agent" else lowered.replace("_", "")


def names_a_server(tool: str) -> bool:
    """`mcp__srv__*` names a server, `mcp__*` does not: no allow rule may cover servers yet to come."""
    return re.match(r"mcp__[^*]+?(?:__|$)", tool) is not None


def never_matches(rule: Rule, known: Collection[str] = ()) -> str:
    """Why this rule can never match, with the correction, or "". `known` are names of further tools."""
    if rule.tool.startswith("mcp__"):
        wild = rule.kind == "allow" and not names_a_server(rule.tool)
        return "an allow rule has to name the server; write mcp__server or mcp__server__*" if wild else ""
    if rule.tool not in _KNOWN and rule.tool not in {folded(name) for name in known}:
        return f"there is no tool named {rule.tool}; tools are Bash, Read, Edit, WebFetch and so on"
    if rule.tool == "bash" and rule.specifier:
        return _never_a_command(rule)
    if rule.tool in READS | EDITS and rule.specifier.startswith("!"):
        return f"a pattern cannot be negated; write a {rule.kind} rule for what is meant instead"
    if rule.tool == "webfetch" and rule.specifier:
        return _never_a_host(rule)
    if rule.specifier and rule.tool not in READS | EDITS | NAMED:
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
    if not rule.specifier or rule.tool in {"read", "edit"} or rule.tool not in READS | EDITS:
        return ""
    usual = "Read" if rule.tool in READS else "Edit"
    return f"{rule.text} is taken as {usual}({rule.specifier}): path rules are kept for Read and Edit"
