"""`codeagent inspect`: every request and reply of a session as sent, and one sent again with something changed."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codeagent.core.clean import clean_line
from codeagent.flags import Mistake, Parser
from codeagent.subcommands import place

if TYPE_CHECKING:
    from argparse import Namespace

    from codeagent.core.events import AssistantSaid
    from codeagent.core.messages import Request
    from codeagent.sessions.inspection import Exchange

ABOUT = "Every request of a session as it was sent, what was new in it, the reply, tokens, cache, time and cost."

EXAMPLES = """\
examples:
  codeagent inspect                          the newest session, one line a request
  codeagent inspect ID                       that one (an id, its beginning, or a name)
  codeagent inspect ID --step 3              the third in full
  codeagent inspect ID --step 3 --json       its body, headers and reply for a script
  codeagent inspect ID --step 3 --resend --system other.txt
                                             the same again with another system prompt, both replies side by side
  codeagent inspect ID --step 3 --resend --message "be brief" --tools tools.json

Sending again costs what any request costs. No tool runs, and the session stays as it is.
"""


def parser(_act: str = "") -> Parser:
    """The parser of `codeagent inspect`."""
    usage = "codeagent inspect [SESSION] [flags]"
    made = Parser("codeagent inspect", usage=usage, description=ABOUT, epilog=EXAMPLES, takes=("session",))
    made.add_argument("--step", type=int, default=0, metavar="N", help="this request in full")
    made.add_argument("--json", action="store_true", help="for scripts")
    made.add_argument("--resend", action="store_true", help="send it again (with --step)")
    made.add_argument("--system", default=None, metavar="FILE", help="with --resend: this system prompt")
    made.add_argument("--message", default=None, metavar="TEXT", help="with --resend: these words at the end")
    made.add_argument("--tools", default=None, metavar="FILE", help="with --resend: these tools, a JSON list")
    place.add_place(made)
    return made


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Show the table, one step, or two replies."""
    reading = parser()
    asked, words = reading.words(argv)
    directory = place.directory(asked, environ)
    found, entries = place.opened(directory, place.newest_or(words, reading.prog, directory))
    from codeagent.sessions.inspection import exchange, exchanges

    if asked.resend:
        if asked.step < 1:
            raise Mistake("Send which step again? codeagent inspect ID --step N --resend")
        return _resend(exchange(entries, asked.step), asked, environ, found.cwd)
    if asked.step:
        return _step(exchange(entries, asked.step), as_json=asked.json)
    if asked.json:
        sys.stdout.write(json.dumps([_summary(each) for each in exchanges(entries)], indent=1) + "\n")
        return 0
    from codeagent.fronts.inspecting import table

    sys.stdout.writelines(f"{line}\n" for line in table(exchanges(entries)))
    return 0


def _step(each: Exchange, *, as_json: bool) -> int:
    from codeagent.models import wire_views

    body, headers = wire_views.body(each.request), wire_views.headers(each.request)
    problems = wire_views.problems(each.request)
    if as_json:
        told = {**_summary(each), "headers": headers, "body": body, "problems": problems, "reply": _reply(each.reply)}
        sys.stdout.write(json.dumps(told, indent=1) + "\n")
        return 0
    from codeagent.fronts.inspecting import details

    sys.stdout.writelines(f"{line}\n" for line in details(each, body, headers, problems))
    return 0


def _summary(each: Exchange) -> dict[str, Any]:
    """The figures of one exchange for a script; times in milliseconds, cost in dollars."""
    from codeagent.fronts.inspecting import outcome

    used, cost, stop = outcome(each)
    said = each.reply
    return {
        "step": each.number,
        "entry": each.position,
        "purpose": each.asked.purpose,
        "model": each.asked.model,
        "digest": each.asked.digest,
        "as_recorded": each.same,
        "messages": len(each.request.messages),
        "new_messages": len(each.fresh),
        "changed": list(each.changed),
        "retries": len(each.retries),
        "usage": {
            "input": used.input,
            "output": used.output,
            "cache_read": used.cache_read,
            "cache_write": used.cache_write + used.cache_write_1h,
        },
        "cost_usd": cost,
        "stop": stop,
        "first_ms": said.first_ms if said else 0,
        "took_ms": said.took_ms if said else 0,
        "failed": each.failed,
    }


def _reply(said: AssistantSaid | None) -> Any:
    from msgspec import to_builtins

    return to_builtins(said) if said else None


def _resend(each: Exchange, asked: Namespace, environ: Mapping[str, str], cwd: str) -> int:
    import asyncio

    from codeagent.fronts.inspecting import side_by_side
    from codeagent.models import wire_views
    from codeagent.wiring.resend import resend

    request = _edited(each.request, asked)
    problems = wire_views.problems(request)
    if problems:
        raise Mistake("The API would refuse this request: " + clean_line("; ".join(problems[:5])))
    project = cwd if Path(cwd).is_dir() else asked.cwd
    now = asyncio.run(resend(request, project, environ, Path.home()))
    if asked.json:
        sys.stdout.write(json.dumps({"recorded": _reply(each.reply), "again": _reply(now)}, indent=1) + "\n")
        return 0
    if each.reply is None:
        raise Mistake(f"Step {each.number} has no reply on record to compare with; --json shows the new one.")
    width = shutil.get_terminal_size((120, 24)).columns
    sys.stdout.writelines(f"{line}\n" for line in side_by_side(each.reply, now, width))
    return 0


def _edited(request: Request, asked: Namespace) -> Request:
    from codeagent.sessions.resending import edited, tools_of

    system = _text(asked.system, "--system")
    tools = _text(asked.tools, "--tools")
    return edited(request, system=system, message=asked.message, tools=None if tools is None else tools_of(tools))


def _text(name: str | None, flag: str) -> str | None:
    if name is None:
        return None
    try:
        return Path(name).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise Mistake(f"{flag} {name} cannot be read: {fault}.") from None
