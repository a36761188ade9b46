"""The capability table: which optional request features a model takes, and how a server says no to one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from codeagent.core.unpictured import PICTURES
from codeagent.models.catalog import Family, family

_NO = (
    r"(?:not (?:permitted|supported|allowed|available)|unsupported|unexpected|unknown|unrecogni[sz]ed|invalid"
    r"|does(?: not|n't) support|should be|does not match|not a valid|no such)"
)
"""How servers phrase that they do not take something."""


_THINKING = r"^thinking(?:\.\w+)*:|thinking\.type|\bthinking\b[^.]{0,30} not |not support[^.]{0,30}\bthinking\b"
"""How they name the parameter, and not a block of that name in the history."""


class Feature(NamedTuple):
    """One optional feature.

    `models` says which models take it; `header` is its value of `anthropic-beta`, if it needs one;
    `named` is how an error message names it (a pattern).
    """

    name: str
    models: Callable[[Family | None], bool]
    named: str
    header: str = ""


def _claude(kind: Family | None) -> bool:
    return kind is not None


def _since(*first: int) -> Callable[[Family | None], bool]:
    return lambda kind: kind is not None and kind.version >= first


def _before(*first: int) -> Callable[[Family | None], bool]:
    return lambda kind: kind is not None and (4, 5) <= kind.version < first


def _takes_system_messages(kind: Family | None) -> bool:
    """Opus since 4.8 and everything from 5 on; for Sonnet 5 the sources differ, so it is left out."""
    if kind is None or kind == ("sonnet", (5, 0)):
        return False
    return kind.version >= ((4, 8) if kind.kind == "opus" else (5, 0))


def _takes_effort(kind: Family | None) -> bool:
    return kind is not None and (kind.version >= (4, 6) or kind == ("opus", (4, 5)))


FEATURES = (
    # The order is the order of asking: the narrower name before the wider one that contains it.
    Feature("mid_system", _takes_system_messages, r"\brole\b.*system|system.*\brole\b|\.role\b"),
    Feature("effort", _takes_effort, r"effort|output_config"),
    Feature("thinking_display", _since(4, 7), r"thinking\S*\.display|\bdisplay\b"),
    Feature("interleaved_thinking", _before(4, 6), r"interleaved-thinking", "interleaved-thinking-2025-05-14"),
    Feature("adaptive_thinking", _since(4, 6), r"adaptive|" + _THINKING),
    Feature("budget_thinking", _before(4, 6), r"budget_tokens|" + _THINKING),
    Feature("diagnostics", _claude, r"diagnostics|previous_message_id"),
    Feature("cache_1h", lambda _: True, r"\bttl\b|extended-cache"),
    Feature("cache", lambda _: True, r"cache_control"),
)

NAMES = frozenset(feature.name for feature in FEATURES)

_HISTORY = re.compile(r"blocks? (?:in|within) the (?:latest|last) assistant|cannot be modified|signature", re.I)
"""A 400 about thinking in the history is a fault of the request, and no feature to leave out."""

_PICTURE = re.compile(
    r"could not process (?:the )?(?:image|pdf|document)|\b(?:image|document)\.source\b"
    r"|\bimage (?:exceeds|dimensions|size|format)|\bimages?\b[^.]{0,60}\bexceed"
    r"|\bpdf\b[^.]{0,60}(?:not valid|pages|password)",
    re.I,
)
"""How servers say that a picture or document in the history is one that they cannot read."""


def wanted(model: str, without: Iterable[str] = ()) -> frozenset[str]:
    """Names of the features to send to this model, less those that the server refused before."""
    kind = family(model)
    return frozenset(feature.name for feature in FEATURES if feature.models(kind)) - frozenset(without)


def headers(features: Collection[str]) -> dict[str, str]:
    """The beta header that these features need, or nothing."""
    values = [feature.header for feature in FEATURES if feature.header and feature.name in features]
    return {"anthropic-beta": ",".join(values)} if values else {}


def refused(status: int, message: str, sent: Collection[str] = NAMES) -> str:
    """The feature, among those sent, that this error says no to; "" when it is about something else.

    A picture that cannot be read would stay in the history, and every later request would fail: the
    answer is then `pictures`, which the conversation leaves out.
    """
    if status in (400, 413, 422) and _PICTURE.search(message):
        return PICTURES
    if status not in (400, 422) or not re.search(_NO, message, re.I) or _HISTORY.search(message):
        return ""
    for feature in FEATURES:
        if feature.name in sent and re.search(feature.named, message, re.I):
            return feature.name
    return ""
