"""What child processes get to know: the user's environment without our credentials, and without anything that waits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

OURS = frozenset({"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CODEAGENT_API_KEY", "CODEAGENT_AUTH_TOKEN"})
"""Variables that hold the credentials that we use ourselves."""

_SHORTEST_SECRET = 8
"""A held value shorter than this is not searched for inside others: it would hit by chance."""

_SHORTEST_NAMED = 12

_QUIET = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "EDITOR": "false",
    "VISUAL": "false",
    "GIT_EDITOR": "false",  # `true` would accept whatever a rebase proposes
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
}
"""No pager, editor or password prompt: nobody is there to answer one."""

_ODD = frozenset({"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "BASH_XTRACEFD", "CDPATH", "GLOBIGNORE"})
"""Variables that make bash run or mean something else than the line that was judged says."""


_SECRET_NAME = re.compile(
    r"(?i)(?:^|_)(?:API_?KEY|ACCESS_?KEY|SECRET_?KEY|PRIVATE_?KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE)(?:_|$)"
)


def named_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of variables whose names say that they are credentials.

    Only long ones with a digit, and no paths: a password that is a word would take that word out of every text.
    """
    return tuple(value for name, value in environ.items() if _SECRET_NAME.search(name) and _telling(value))


def _telling(value: str) -> bool:
    return len(value) >= _SHORTEST_NAMED and any(map(str.isdigit, value)) and not value.startswith(("/", "~"))


def child_environment(environ: Mapping[str, str], secrets: Iterable[str] = ()) -> dict[str, str]:
    """A copy of `environ` without our credentials: neither their names nor any variable that holds one of `secrets`."""
    held = [secret for secret in secrets if len(secret) >= _SHORTEST_SECRET]
    return {
        name: value
        for name, value in environ.items()
        if name not in OURS and not any(secret in value for secret in held)
    }


def shell_environment(environ: Mapping[str, str], **more: str) -> dict[str, str]:
    """The environment of a shell call: `environ`, nothing that waits for a person or hides a function, and `more`.

    Relative places of PATH go: a project that lies there could give its own `ls`.
    """
    kept = {n: v for n, v in environ.items() if n not in _ODD and not n.startswith("BASH_FUNC_")}
    if "PATH" in kept:
        kept["PATH"] = ":".join(place for place in kept["PATH"].split(":") if place.startswith("/"))
    return {**kept, **_QUIET, **more}
