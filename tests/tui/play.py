"""The real front as a process of its own, over the loop's test stage: `python -m tests.tui.play [what]`.

`what` is a word: `ask` (an edit that is asked for), `stream` (a long paced reply), `keyless`, `crash`,
`fault`, `hostile` (a story of text that would control a terminal).
Further words: `history=N` old messages, `tokens=N`, `rate=N` a second, `rest=N` seconds after each fifth,
`log=FILE` for the composer's history, `until=FILE` (an old session, drawn at once, ready when the file is there),
`wet` (an old session, drawn at once, that cannot be opened).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from codeagent.core.errors import ModelUnavailable
from codeagent.core.ports import Front
from codeagent.fronts.tui.app import run
from codeagent.options import Options

if TYPE_CHECKING:
    from codeagent.fronts.tui.bridge import Bridge
    from tests.tui.desk import TestDesk


def fault() -> None:
    raise RuntimeError("the roof is gone")


def main(words: list[str]) -> int:
    given = dict(word.partition("=")[::2] for word in words)

    def connect(front: Front, key: str, model: str, keep_key: bool) -> TestDesk:
        if "keyless" in given and not key and not model:
            raise ModelUnavailable("There is no API key.", category="authentication_failed")
        if "crash" in given:
            raise RuntimeError("the floor is gone")
        if "fault" in given:
            cast("Bridge", front)._app.call_later(fault)
        from tests.tui.played import desk, recalled  # after the first paint, as the real one

        if "until" in given or "wet" in given:
            recalled(front, given)
        return desk(front, given)

    return run(Options(prompt=given.get("prompt", ""), no_mouse="no-mouse" in given), connect)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
