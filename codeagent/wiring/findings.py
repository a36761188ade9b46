"""What `codeagent doctor` looks at, one after the other; each gives a finding, and none raises."""

from __future__ import annotations

import platform
import re
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from codeagent.core.listed import Finding

if TYPE_CHECKING:
    from codeagent.host.probing import Probed
    from codeagent.wiring.ground import Ground

PROGRAMS = {
    "git": "branch names and diffs are left out; install git",
    "rg": "searches are slower; install ripgrep, or: pip install 'codeagent[rg]'",
}
"""Program -> what is lost without it, and what to do."""

SLOW = 0.1
"""Seconds of a round to the terminal from which typing feels slow."""


class Doctor:
    """Looks at this machine from a project. `offline` asks nobody; `probed` is what the terminal said of itself."""

    def __init__(self, ground: Ground, probed: Probed | None = None, *, offline: bool = False) -> None:
        self._ground, self._probed, self._offline = ground, probed, offline
        self._environ, self._project, self._home = ground.environ, ground.project, ground.home

    def findings(self) -> Iterator[Finding]:
        """Look at everything once."""
        from codeagent import __version__

        yield Finding("codeagent", "ok", f"{__version__} at {Path(__file__).parents[1]}")
        modern = sys.version_info >= (3, 11)
        yield Finding("python", "ok" if modern else "wrong", f"{platform.python_version()} at {sys.executable}")
        yield self._key()
        yield self._keyring()
        yield self._network()
        yield from self._programs()
        yield self._sandbox()
        yield from self._terminal()
        yield from self._settings()
        yield self._sessions()
        yield self._disk()

    def _key(self) -> Finding:
        from codeagent.models.failures import key_flaw

        key = self._ground.access.key
        if not key:
            words = "no key: export ANTHROPIC_API_KEY=...; without one: codeagent demo, codeagent --model offline"
            return Finding("key", "missing", words)
        if flaw := key_flaw(key):
            return Finding("key", "wrong", flaw)
        names = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
        named = next((name for name in names if self._environ.get(name, "").strip()), "")
        return Finding("key", "ok", f"from {named}" if named else "from the system keyring")

    def _keyring(self) -> Finding:
        from codeagent.host.keys import keyring_works

        if keyring_works():
            return Finding("keyring", "ok", "a key that is typed in is kept there")
        words = "none works here: a key that is typed in holds for one session; to keep one, export ANTHROPIC_API_KEY"
        return Finding("keyring", "missing", words)

    def _network(self) -> Finding:
        from codeagent.models.reach import PUBLIC, reach

        url = self._ground.access.base_url
        place = _without_password(url or PUBLIC)
        source = self._ground.settings.source("baseUrl")
        about = place if source == "default" else f"{place} ({source})"
        if self._offline or not self._ground.access.key:
            why = "--offline" if self._offline else "there is no key"
            return Finding("network", "note", f"{about} was not asked: {why}")
        reached = reach(url)
        if reached.ok:
            return Finding("network", "ok", f"{about} answers in {reached.ms:,} ms")
        how = "check the connection, HTTPS_PROXY and the base URL"
        return Finding("network", "wrong", f"{about} cannot be reached: {reached.words.rstrip('.')}; {how}")

    def _programs(self) -> Iterator[Finding]:
        from codeagent.host.programs import find_program, packaged_program

        for name, loss in PROGRAMS.items():
            place = find_program(name, self._environ, self._project)
            place = place or packaged_program(name, self._environ, self._project)
            yield Finding(name, "ok" if place else "missing", place or loss)

    def _sandbox(self) -> Finding:
        from codeagent.host.sandbox import Sandbox, find

        if self._ground.settings["sandbox"] == "off":
            return Finding("sandbox", "note", f"switched off ({self._ground.settings.source('sandbox')})")
        if problem := Sandbox([self._project], self._home).problem:
            how = "; install bubblewrap" if sys.platform == "linux" and not find() else ""
            state = "wrong" if self._ground.settings["sandbox"] == "on" else "missing"
            return Finding("sandbox", state, f"commands run without one: {problem}{how}")
        return Finding("sandbox", "ok", f"{find()}: commands write in the project alone and have no network")

    def _terminal(self) -> Iterator[Finding]:
        term = self._environ.get("TERM", "")
        if term in ("", "dumb"):
            words = f"TERM is {term or 'not set'}: codeagent runs line by line"
            yield Finding("terminal", "missing", words)
            return
        about = [term, _colours(self._environ)]
        about += ["inside tmux"] if self._environ.get("TMUX") else []
        about += ["over ssh"] if self._environ.get("SSH_CONNECTION") else []
        probed = self._probed
        if probed is None:
            yield Finding("terminal", "ok", ", ".join((*about, "asked no more here")))
            return
        yield Finding("terminal", "ok", ", ".join((*about, f"{probed.columns}x{probed.rows}", *_abilities(probed))))
        yield _echo(probed)

    def _settings(self) -> Iterator[Finding]:
        from codeagent.fronts.present import count
        from codeagent.wiring import preferences

        settings = self._ground.settings
        rows = [each for each in preferences.listed(settings) if each.source != "default"]
        told = [f"{each.name} = {_without_password(each.value)} ({each.source})" for each in rows]
        rules = len(settings.rules)
        told += [f"{count(rules, 'permission rule')} (codeagent permissions)"] if rules else []
        yield Finding(
            "settings", "ok", "; ".join(told) or "all as usual; to change one: codeagent config set KEY VALUE"
        )
        broken = {problem.text for problem in settings.problems if problem.broken}
        for words in self._ground.rulebook.problems():
            yield Finding("settings", "wrong" if words in broken else "note", words)
        if settings.claims and not self._ground.trusted:
            many = "1 setting" if len(settings.claims) == 1 else f"{len(settings.claims)} settings"
            yield Finding("settings", "note", f"{many} of this directory not in force: codeagent trust shows them")

    def _sessions(self) -> Finding:
        from codeagent.fronts.present import size
        from codeagent.sessions import index, upkeep

        place, days = self._ground.sessions, int(self._ground.settings["cleanupPeriodDays"])
        kept = upkeep.kept(place)
        old = upkeep.overdue(kept, time.time() - 86400 * days, -1)
        words = f"{len(kept)} in {place}, {size(sum(each.size for each in kept))}"
        if old:
            taken = size(sum(each.size for each in old))
            words += f"; {len(old):,} of them older than {days} days ({taken}): "
            words += "codeagent sessions prune"
        if not index.writable(self._project):
            words += " (this directory cannot be written)"
        return Finding("sessions", "ok", words)

    def _disk(self) -> Finding:
        """What everything of ours takes: this project's part by part, and what is kept for the user."""
        from codeagent.fronts.present import size
        from codeagent.host.trees import free_space, size_of

        user, layout = self._ground.settings.environment, self._ground.layout
        places = {
            "sessions": self._ground.sessions,
            "snapshots": layout.agent / "snapshots",
            "memory": layout.memory,
            ".agent in all": layout.agent,
            "your settings": user.config_home / "codeagent",
            "your state": user.state_home / "codeagent",
        }
        told = [f"{name} {size(size_of(path))}" for name, path in places.items() if path.exists()]
        free = free_space(self._project)
        state = "wrong" if free < 10_000_000 else "note" if free < 500_000_000 else "ok"
        return Finding("disk", state, f"{', '.join(told) or 'nothing is kept here yet'}; {size(free)} free")


def _without_password(text: str) -> str:
    """An address without the name and password in it: what doctor prints is often shown to others."""
    return re.sub(r"//[^/\s]*@", "//", text)


def _colours(environ: Mapping[str, str]) -> str:
    if environ.get("NO_COLOR"):
        return "no colour wanted (NO_COLOR)"
    if environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        return "16 million colours"
    return "256 colours" if "256" in environ.get("TERM", "") else "16 colours"


def _abilities(probed: Probed) -> Iterator[str]:
    yield "Shift+Enter is told from Enter" if probed.keys else "Shift+Enter may come as Enter: Ctrl+J makes a new line"
    if probed.whole_frames:
        yield "shows whole frames"
    if probed.light is not None:
        yield "light background" if probed.light else "dark background"


def _echo(probed: Probed) -> Finding:
    """How long a key takes to the program and back to the screen, measured with questions that the terminal answers."""
    if not probed.echoes:
        return Finding("keys", "note", "the terminal answers no questions, so its speed is unknown")
    usual, worst = statistics.median(probed.echoes), max(probed.echoes)
    words = f"a key's way to the program and back takes {1000 * usual:.1f} ms (longest of {len(probed.echoes)}: "
    words += f"{1000 * worst:.1f})"
    return Finding(
        "keys", "note" if usual > SLOW else "ok", words + (": typing will feel slow" if usual > SLOW else "")
    )
