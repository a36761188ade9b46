"""The command line: which front or subcommand runs, and the outermost boundary of all errors."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from codeagent.subcommands import COMMANDS

if TYPE_CHECKING:
    from codeagent.options import Options

SUBCOMMANDS = {name: f"codeagent.subcommands.{name}:run" for name in COMMANDS}
"""Name -> `run(argv, environ) -> int`, imported only when it is called for."""


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do what `argv` (without the program's name) says. Returns the exit code; never raises."""
    try:
        return _dispatch(argv, environ)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _gone()
    except SystemExit as leaving:  # argparse, after --help
        return leaving.code if isinstance(leaving.code, int) else 0
    except Exception as error:  # noqa: BLE001 - the outermost boundary: a person gets words, never a traceback
        return _told(error, environ)


def _dispatch(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    if argv and argv[0] in SUBCOMMANDS:
        return _load(SUBCOMMANDS[argv[0]])(list(argv[1:]), environ)
    if argv and argv[0] in ("-v", "-V", "--version"):
        from codeagent import __version__

        sys.stdout.write(f"codeagent {__version__}\n")
        return 0
    from codeagent import flags

    if argv and argv[0] == "help" and (len(argv) == 1 or (len(argv) == 2 and argv[1] in SUBCOMMANDS)):
        return _dispatch([*argv[1:], "--help"], environ)
    if argv and argv[0].isalpha():
        _maybe_meant(argv, flags.nearest(argv[0], (*SUBCOMMANDS, "help"), cutoff=0.75))
    options = flags.parse(argv)
    if not options.print:
        _maybe_misplaced(argv, options.prompt)
    if options.debug_file:
        from codeagent import debug_log

        debug_log.write_to(options.debug_file)
    front = choose(options, environ)
    run = cast("Callable[[Options, str], int]", _load("codeagent.wiring:run"))
    return run(options, front)


def _maybe_meant(argv: Sequence[str], near: str) -> None:
    """What looks like a mistyped subcommand, alone or with a word that this one knows, is no message worth money."""
    from codeagent.flags import Mistake

    word, *more = argv
    if near and near != word and (not more or _knows(near, more[0])):
        raise Mistake(
            f"There is no command {word!r}. Did you mean: codeagent {' '.join([near, *more])}? "
            f"To send it as a message: codeagent -- {' '.join(argv)}"
        )


def _knows(command: str, word: str) -> bool:
    """Whether `codeagent COMMAND WORD` means something: a flag, or one of its acts."""
    if command not in SUBCOMMANDS:
        return False
    module = importlib.import_module(SUBCOMMANDS[command].partition(":")[0])
    first = (*module.parser().takes, ())[0]
    return word.startswith("--") or (isinstance(first, tuple) and word in first)


def _maybe_misplaced(argv: Sequence[str], prompt: str) -> None:
    """A subcommand behind flags would be sent as a message: what is meant is asked first."""
    from codeagent.flags import Mistake

    name, *more = prompt.split() or [""]
    if name in SUBCOMMANDS and name in argv and len(more) < 2 and "--" not in argv:
        raise Mistake(
            f"{name!r} after a flag is a message. Did you mean the command? It comes first: "
            f"codeagent {prompt} [flags]. To send it as a message: codeagent [flags] -- {prompt}"
        )


def choose(options: Options, environ: Mapping[str, str]) -> str:
    """The front that fits: `headless`, `tui` or `repl`."""
    if options.print or options.output_format != "text" or options.input_format != "text":
        return "headless"
    typed, shown = _terminal(0), _terminal(1)
    if typed and shown and not options.plain and environ.get("TERM", "dumb") not in ("", "dumb"):
        return "tui"
    return "repl" if typed or options.plain else "headless"


def _terminal(fd: int) -> bool:
    import os

    try:
        return os.isatty(fd)
    except OSError:
        return False


def _load(target: str) -> Callable[..., int]:
    """`package.module:name`, imported now."""
    module, _, name = target.partition(":")
    return cast("Callable[..., int]", getattr(importlib.import_module(module), name))


def _told(error: Exception, environ: Mapping[str, str]) -> int:
    """Say on standard error what went wrong and what to do; the exit code that belongs to it."""
    from codeagent import crash
    from codeagent.core.clean import clean
    from codeagent.core.errors import CodeagentError, ModelUnavailable, UsageFault
    from codeagent.flags import Mistake

    match error:
        case Mistake() | UsageFault():
            words, code = str(error), 2
        case ModelUnavailable():
            words, code = str(error), 5
        case CodeagentError():
            words, code = str(error), 1
        case _:
            words, code = crash.report(error, crash.state_home(environ) / "codeagent"), 1
    try:
        sys.stderr.write(f"codeagent: {clean(words)}\n")
    except (OSError, ValueError):
        return code  # nobody can be told: the code has to say it
    return code


def _gone() -> int:
    """Whoever read our output has left: keep the interpreter from complaining about it again."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 141
