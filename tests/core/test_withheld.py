"""Our own credentials never get into the journal."""

from __future__ import annotations

from codeagent.core.events import Event, Raw, TextDelta, ToolFinished, ToolProgress, UserSaid
from codeagent.core.journal import Journal
from codeagent.core.messages import Text
from codeagent.core.views import Shell
from codeagent.core.withheld import INSTEAD, Withheld

KEY = 'sk-"quoted"-key'


def told(event: Event, *secrets: str) -> tuple[Event, list[Event]]:
    """What is recorded or shown of an event."""
    written: list[Event] = []
    journal = Journal((), written.append, Withheld(secrets))
    shown: list[Event] = []
    journal.watch(shown.append)
    journal.append(event)
    return shown[0], written


def test_a_result_is_recorded_and_shown_without_the_key() -> None:
    result = ToolFinished(
        "u", "bash", (Text(f"a {KEY} b"), Text("plain")), view=Shell("cat x", "/p", f"a {KEY}"), summary=KEY
    )
    shown, written = told(result, KEY)
    assert written == [shown]
    assert isinstance(shown, ToolFinished)
    assert shown.blocks == (Text(f"a {INSTEAD} b"), Text("plain"))
    assert shown.view == Shell("cat x", "/p", f"a {INSTEAD}")
    assert shown.summary == INSTEAD


def test_signals_and_lone_surrogates_too() -> None:
    assert told(ToolProgress("u", f"x{KEY}"), KEY)[0] == ToolProgress("u", f"x{INSTEAD}")
    assert told(TextDelta(KEY), KEY)[0] == TextDelta(INSTEAD)
    assert told(Raw({"delta": {"text": KEY}}), KEY)[0] == Raw({"delta": {"text": INSTEAD}})
    assert told(UserSaid((Text(f"\ud800 {KEY}"),)), KEY)[0] == UserSaid((Text(f"\ud800 {INSTEAD}"),))


def test_what_holds_no_secret_is_the_same_object() -> None:
    said = UserSaid((Text("hello"),))
    assert told(said, KEY)[0] is said
    assert told(said)[0] is said
    assert told(UserSaid((Text("a short one"),)), "short")[0] == UserSaid((Text("a short one"),))
