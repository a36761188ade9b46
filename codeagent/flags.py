"""The flags: one table of what the command line takes, turned into Options with words for every mistake."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from codeagent import flag_values
from codeagent.core.modes import MODES
from codeagent.subcommands import COMMANDS

if TYPE_CHECKING:
    from codeagent.options import Options

ABOUT = "A pair programmer in a terminal: say what you want, see every word and change, approve what matters."

AFTER = """\
commands (each has its own --help):
{commands}

examples:
  codeagent                                 open a session here
  codeagent "the cart total is wrong"       the same, with a first message
  codeagent -c                              go on with the last session
  codeagent -p "what does this project do"  answer once, on standard output
  git diff | codeagent -p "review this"     standard input joins the prompt
  codeagent -p --output-format json "..."   one JSON object for a script

exit codes:
  0  done                         1  the run failed
  2  usage or configuration       3  stopped by a limit (steps, tokens, dollars, time, no progress)
  4  finished, but a call was refused because nobody could say yes
  5  the model could not be used (no key, refused, not found, unreachable)
  129, 130, 141, 143              hung up, interrupted, broken pipe, terminated
"""


Kind = str | tuple[str, ...]
"""What a word is: one of these, or of a kind such as `session` (see `completing`)."""


class Mistake(Exception):
    """A command line that cannot be used; `str` is what to tell the person."""


class _Page(argparse.RawDescriptionHelpFormatter):
    """Help in two columns that stay apart."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=34)


class Parser(argparse.ArgumentParser):
    """An argument parser that raises Mistake, names the nearest flag, and never guesses from a prefix."""

    def __init__(self, prog: str, takes: tuple[Kind, ...] = (), **settings: Any) -> None:
        super().__init__(prog=prog, allow_abbrev=False, formatter_class=_Page, **settings)
        self.takes = takes
        """What its words mean, in order: for completion."""

    @property
    def flags(self) -> Mapping[str, argparse.Action]:
        """What it makes of each flag, by every spelling; argparse has no public way to them."""
        return self._option_string_actions

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        raise Mistake(f"{message}. See {self.prog} --help")

    def words(self, argv: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
        """Parse `argv`: what the flags said, and the words that belong to none. Raises Mistake for an unknown flag."""
        end = argv.index("--") if "--" in argv else len(argv)
        found, extra = self.parse_known_args(list(argv[:end]))
        for word in extra:
            if word.startswith("-") and len(word) > 1 and not re.search(r"\s", word.partition("=")[0]):
                flag = word.partition("=")[0]
                near = nearest(flag, self.flags)
                hint = f" Did you mean {near}?" if near else ""
                raise Mistake(f"Unknown flag {flag}.{hint} All flags: {self.prog} --help")
        return found, [*extra, *argv[end + 1 :]]

    def only_flags(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parse `argv`; a word that belongs to no flag is a Mistake."""
        found, words = self.words(argv)
        if words:
            raise Mistake(f"Did not expect {words[0]!r} here. See {self.prog} --help")
        return found


def unknown_act(prog: str, act: str, acts: Collection[str]) -> Mistake:
    """What to tell when a subcommand cannot do this: the act that was meant, or all of them."""
    near = nearest(act, acts)
    hint = f"Did you mean {near}?" if near else f"It knows: {', '.join(acts)}."
    return Mistake(f"{prog} cannot {act!r}. {hint}")


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The known word that is most like this one, or an empty string."""
    import difflib  # only for mistakes

    close = difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return close[0] if close else ""


def parser() -> Parser:
    """The parser of `codeagent [PROMPT]`."""
    made = Parser("codeagent", usage="codeagent [flags] [PROMPT]", description=ABOUT, epilog=_after(), add_help=False)
    for title, rows in FLAGS:
        group = made.add_argument_group(title)
        for names, settings in rows:
            group.add_argument(*names.split(), **settings)
    return made


def _after() -> str:
    return AFTER.format(commands="\n".join(f"  {name:<12} {about}" for name, about in COMMANDS.items()))


Row = tuple[str, dict[str, Any]]
"""The names of a flag, and what argparse is told of it."""


def _on(names: str, about: str) -> Row:
    return names, {"action": "store_true", "help": about}


def _value(names: str, metavar: str, about: str, *, kind: Any = None, default: Any = "") -> Row:
    return names, {"metavar": metavar, "help": about, "type": kind, "default": default}


def _many(names: str, metavar: str, about: str) -> Row:
    return names, {"metavar": metavar, "help": about, "action": "append", "default": []}


def _one_of(names: str, choices: tuple[str, ...], about: str) -> Row:
    return names, {"choices": choices, "help": about, "default": choices[0]}


FLAGS: tuple[tuple[str, tuple[Row, ...]], ...] = (
    (
        "how it runs",
        (
            _on("-p --print", "no screen: answer the prompt and leave; reads standard input too"),
            _one_of("--output-format", ("text", "json", "stream-json"), "with -p: what comes out"),
            _one_of("--input-format", ("text", "stream-json"), "what goes in; stream-json implies -p"),
            _value(
                "--json-schema",
                "FILE|JSON",
                "with -p: the answer is JSON that matches this schema",
                kind=flag_values.schema,
                default=None,
            ),
            _on("--include-partial-messages", "stream-json: also the words as they come"),
            _on("--replay-user-messages", "stream-json: also what was said on standard input"),
            _value("--permission-prompt-tool", "stdio", "stream-json: ask for permission over the streams"),
            _on("--plain", "line by line, without the full-screen interface"),
            _on("--ascii", "no signs beyond ASCII in the interface"),
            _on("--no-mouse", "leave the mouse to the terminal: it selects and copies as everywhere"),
            _on("--quiet", "with -p: no progress on standard error"),
            _on("--verbose", "with -p: also what the model says between steps, and results in full"),
            _value("--cwd", "DIR", "work in this directory"),
            _many("--add-dir", "DIR", "one more directory that belongs to the project"),
            _value("--debug-file", "FILE", "write a log for debugging"),
        ),
    ),
    (
        "model and limits",
        (
            _value("--model", "MODEL", "a name, an alias, offline, or script:FILE"),
            _value("--fallback-model", "MODEL", "when the first cannot be used"),
            _value("--effort", "LEVEL", "how hard it thinks: low to max", kind=flag_values.level),
            _value("--max-turns", "N", "steps a turn may take", kind=flag_values.whole, default=0),
            _value("--max-tokens-total", "N", "tokens in all", kind=flag_values.whole, default=0),
            _value("--max-budget-usd", "X", "dollars in all", kind=flag_values.amount, default=0),
            _value("--max-seconds", "S", "seconds a turn may take", kind=flag_values.amount, default=0),
            _value("--system-prompt", "TEXT", "replaces our instructions to the model"),
            _value("--system-prompt-file", "FILE", "the same, from a file", kind=flag_values.content, default=None),
            _value("--append-system-prompt", "TEXT", "added to our instructions"),
            _value(
                "--append-system-prompt-file", "FILE", "the same, from a file", kind=flag_values.content, default=None
            ),
        ),
    ),
    (
        "permissions",
        (
            _value("--permission-mode", "MODE", ", ".join(MODES), kind=flag_values.mode, default=None),
            _many("--allowed-tools", "LIST", "never ask for these: 'bash(git log *),edit'"),
            _many("--disallowed-tools", "LIST", "never run these"),
            _value("--tools", "LIST", "only these tools exist; '' for none", default=None),
            _on("--trust", "accept this directory's own settings for this run"),
            _on("--require-sandbox", "run no command where the sandbox does not work: leave with code 2"),
            _on("--dangerously-skip-permissions", "mode bypass: everything runs, nothing is asked"),
        ),
    ),
    (
        "sessions and settings",
        (
            (
                "-c --continue",
                {"action": "store_true", "dest": "continue_", "help": "go on with the last session"},
            ),
            ("-r --resume", {"nargs": "?", "const": "", "metavar": "ID", "help": "go on with this one, or choose"}),
            _on("--fork-session", "with -c or -r: go on in a copy"),
            _value("--session-id", "NEW", "the new session's id", kind=flag_values.new_id),
            _value("-n --name", "NAME", "the session's name"),
            _on("--no-session-persistence", "keep nothing on disk"),
            _value("--settings", "FILE|JSON", "settings on top of the files"),
            _value("--setting-sources", "LIST", "of user, project, local", default=None),
            _on("--bare", "look for no project or user file at all"),
            _on("-V -v --version", "the version"),
            ("-h --help", {"action": "help", "help": "this page"}),
        ),
    ),
)


def kebab(argv: Sequence[str], known: Iterable[str]) -> list[str]:
    """`--allowedTools X` as `--allowed-tools X`: camelCase spellings that are common in the field."""
    flags = set(known)
    words: list[str] = []
    for at, word in enumerate(argv):
        if word == "--":
            return [*words, *argv[at:]]
        flag, equals, value = word.partition("=")
        plain = re.sub(r"(?<=[a-z])([A-Z])", lambda m: "-" + m[1].lower(), flag)
        words.append(plain + equals + value if plain in flags else word)
    return words


def split_rules(values: Iterable[str]) -> tuple[str, ...]:
    """Rules out of lists parted by commas or blanks; those inside parentheses part nothing."""
    rules = []
    for value in values:
        rules += re.findall(r"(?:[^\s,(]|\((?:[^()]|\([^()]*\))*\)|\()+", value)
    return tuple(rules)


def parse(argv: Sequence[str]) -> Options:
    """The Options in `argv` (without the program's name). Raises Mistake; `--help` raises SystemExit(0)."""
    made = parser()
    names, words = made.words(kebab(argv, made.flags))
    found = vars(names)
    found["prompt"] = " ".join(words)
    for name in ("allowed_tools", "disallowed_tools"):
        found[name] = split_rules(found[name])
    for name in ("permission_mode", "json_schema"):
        found[name] = found[name] or ""
    found["add_dir"] = tuple(found["add_dir"])
    for name in ("system_prompt", "append_system_prompt"):
        found[name] = "\n\n".join(filter(None, (found[name], found.pop(f"{name}_file"))))
    if found.pop("dangerously_skip_permissions"):
        found["permission_mode"] = "bypass"
    found.pop("version")
    found["print"] = found["print"] or found["input_format"] == "stream-json"
    _check(found)
    from codeagent.options import Options  # after --help, which needs no msgspec

    return Options(**found)


def _check(found: Mapping[str, Any]) -> None:
    """Raise Mistake for flags that exclude or need each other, and for a directory that is not there."""
    _check_streams(found)
    _check_session(found)
    for name in filter(None, (found["cwd"], *found["add_dir"])):
        if not Path(name).is_dir():
            raise Mistake(f"There is no directory {name}. Name one that exists, or make it first.")


def _check_streams(found: Mapping[str, Any]) -> None:
    if found["input_format"] == "stream-json" and found["output_format"] != "stream-json":
        raise Mistake("--input-format stream-json needs --output-format stream-json too.")
    if found["include_partial_messages"] and found["output_format"] != "stream-json":
        raise Mistake("--include-partial-messages needs --output-format stream-json.")
    if found["json_schema"] and not found["print"]:
        raise Mistake("--json-schema shapes the answer of a run without a screen: it needs -p.")
    if found["permission_prompt_tool"] not in ("", "stdio"):
        raise Mistake("--permission-prompt-tool knows only stdio: questions over the JSON streams.")
    for flag in ("permission_prompt_tool", "replay_user_messages"):
        if found[flag] and found["input_format"] != "stream-json":
            raise Mistake(f"--{flag.replace('_', '-')} needs --input-format stream-json: a program at the other end.")


def _check_session(found: Mapping[str, Any]) -> None:
    older = found["continue_"] or found["resume"] is not None
    if found["continue_"] and found["resume"] is not None:
        raise Mistake("--continue and --resume exclude each other: -c takes the last session, -r ID a certain one.")
    if found["print"] and found["resume"] == "":
        raise Mistake("With -p there is no list to choose from: name the session (-r ID) or take the last one (-c).")
    if found["fork_session"] and not older:
        raise Mistake("--fork-session copies a session: say which one with -r ID, or take the last one with -c.")
    if found["session_id"] and older and not found["fork_session"]:
        raise Mistake("--session-id is for a new session. To go on in a copy of that id, add --fork-session.")
