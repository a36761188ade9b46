"""The slash commands by name: help, completion, which are ours and which wait for a turn."""

from __future__ import annotations

from msgspec import Struct


class Command(Struct, frozen=True):
    """A command: its name with the slash, one line of help, and how its words are written."""

    name: str
    help: str
    usage: str = ""


COMMANDS: tuple[Command, ...] = (
    Command("/help", "commands and keys"),
    Command("/clear", "a new session; the old one is kept (also /new)"),
    Command("/resume", "go on with another session", "[number, id or name]"),
    Command("/fork", "go on in a copy; this session stays as it is"),
    Command("/rename", "name this session", "NAME"),
    Command("/rewind", "go back to an earlier message: files, conversation or both", "[number] [files ...]"),
    Command("/compact", "sum up the conversation to make room", "[what to keep in mind]"),
    Command("/context", "what fills the model's window"),
    Command("/cost", "tokens, cached share, dollars and time so far"),
    Command("/model", "the model, or another one", "[name]"),
    Command("/effort", "how hard the model thinks", "[low to max]"),
    Command("/mode", "what runs without asking", "[default, acceptEdits, plan, auto, dontAsk, bypass]"),
    Command("/plan", "plan mode: explore, change nothing, end with a plan"),
    Command("/later", "say this at the end of the turn", "TEXT"),
    Command("/status", "where things stand"),
    Command("/jobs", "commands in the background: list, read, stop", "[id or stop id]"),
    Command("/agents", "sub-agents: list, and what one did", "[number]"),
    Command("/todo", "the todo list"),
    Command("/memory", "what outlives sessions: list, read, edit, switch", "[topic, edit [topic], on or off]"),
    Command("/init", "look at the project and write or improve its guidelines", "[what to mind]"),
    Command("/diff", "what this session changed"),
    Command("/permissions", "the rules in force; or why a call would be asked", "[TOOL INPUT]"),
    Command("/audit", "who allowed what, and by which rule"),
    Command("/inspect", "every request to the model, and each in full"),
    Command("/config", "all settings and where they come from; set one", "[KEY [VALUE]]"),
    Command("/vim", "vim's keys while you write, on or off"),
    Command("/doctor", "check this machine: key, network, tools, disk"),
    Command("/theme", "other colours"),
    Command("/export", "write the conversation as Markdown, HTML or JSON", "[file.md, .html or .json]"),
    Command("/copy", "copy the last answer"),
    Command("/exit", "leave (also /quit, exit, quit)"),
)

ALIASES = {
    "/new": "/clear",
    "/quit": "/exit",
    "/continue": "/resume",
    "/title": "/rename",
    "/usage": "/cost",
    "/undo": "/rewind",
    "?": "/help",
}

LEAVING = ("exit", "quit", ":q")
"""Bare words that leave."""

ALONE = ("/clear", "/resume", "/fork", "/compact", "/rewind")
"""Commands that cannot run beside a turn."""


def is_command(line: str) -> bool:
    """Whether a typed line is for us: `/word`, not a path such as /usr/bin, `?`, or a bare word that leaves."""
    first = line.strip().split(maxsplit=1)[0] if line.strip() else ""
    return line.strip() in (*LEAVING, "?") or (first.startswith("/") and first[1:].replace("-", "").isalpha())


def own_command(line: str) -> str:
    """The shell command of a `!` line, empty for any other line."""
    return line.strip()[1:].strip() if line.lstrip().startswith("!") else ""


def must_wait(line: str) -> bool:
    """Whether this line cannot be obeyed beside a turn."""
    return bool(own_command(line)) or parted(line)[0] in ALONE


def parted(line: str) -> tuple[str, str]:
    """The command's own name, and what follows it."""
    name, _, words = line.strip().partition(" ")
    return ALIASES.get(name.lower(), name.lower()), words.strip()


def complete(text: str) -> list[tuple[str, str]]:
    """The command of this name, those that begin with `text`, then those that contain it, as (name, help)."""
    typed = text.lower()
    begin = sorted((c for c in COMMANDS if c.name.startswith(typed)), key=lambda c: c.name != typed)
    inside = [c for c in COMMANDS if c not in begin and len(typed) > 1 and typed.lstrip("/") in c.name]
    return [(c.name, c.help) for c in (*begin, *inside)]
