"""The style sheets of all screens, in one place: how they share their space, in the colours of the palette.

That of the dialogs is parsed when the first of them is shown: the start does not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.geometry import Size
    from textual.screen import Screen

CSS = """
Screen { background: $background; color: $foreground; layers: base above; }
#completions { display: none; background: $surface; max-height: 8; border-top: solid $line; }
#entry { height: auto; border-top: solid $line; background: $background; }
#prompt { width: 3; height: 1; color: $accent; text-style: bold; background: $background; }
#composer .text-area--placeholder { color: $muted; }
#composer .text-area--cursor { background: $foreground; color: $background; }
#composer .text-area--selection { background: $chosen; }
Panel { display: none; }
Panel.-shown { display: block; }
Screen.-short #composer { max-height: 1; }
Screen.-short #entry { border-top: none; }
Screen.-short Panel.-shown { display: none; }
#small { display: none; width: 100%; height: 100%; content-align: center middle; color: $warning; layer: above;
         background: $background; }
Screen.-small #small { display: block; }
"""

DIALOGS = """
Dialog { background: transparent; align: center bottom; }
Dialog #frame { width: 100%; height: auto; max-height: 75%; border: round $muted; background: $surface; padding: 0 1;
    border-title-color: $foreground; border-title-style: bold; border-subtitle-color: $muted; }
Dialog.-high #frame { border: round $danger; }
Dialog.-large #frame { height: 100%; max-height: 100%; }
Dialog.-short #frame { max-height: 100%; }
Dialog #body { background: $surface; height: auto; }
Dialog.-large #body { height: 1fr; }
Dialog #answers { background: $surface; margin-top: 1; }
Dialog.-short #answers { margin-top: 0; }
Dialog.-unarmed #answers { opacity: 50%; }
Dialog #said { display: none; height: 1; margin-top: 1; background: $background; }
Dialog.-short #said { margin-top: 0; }
Dialog.-words #said { display: block; }
Dialog #saying { width: 3; color: $accent; text-style: bold; background: $background; }
Dialog #words { border: none; height: 1; width: 1fr; padding: 0 1 0 0; background: $background;
    background-tint: transparent; }
PermissionDialog #editor, SummaryDialog #editor { display: none; height: 1fr; min-height: 4; border: none;
    background: $background; }
PermissionDialog.-edit #editor, SummaryDialog.-edit #editor { display: block; }
PermissionDialog.-edit #body, PermissionDialog.-edit #answers, SummaryDialog.-edit #body,
SummaryDialog.-edit #answers { display: none; }
Pick #answers { margin-top: 0; }
Dialog.-page #answers { display: none; }
Help #frame, Help #body { max-height: 100%; height: 1fr; }
Help #answers { display: none; }
Input { color: $foreground; background: $surface; }
Input > .input--placeholder { color: $muted; }
TextArea .text-area--selection { background: $chosen; }
"""

SMALLEST = (20, 6)
"""Columns and rows under which nothing but a notice is shown."""

SHORT = 14
"""Rows up to which the composer has one row, and panels and spaces go."""


def fit(screen: Screen[Any], size: Size) -> None:
    """Mark a screen that is short or too small. Usual sizes change nothing: each mark styles everything again."""
    screen.set_class(size.height <= SHORT, "-short")
    screen.set_class(size.width < SMALLEST[0] or size.height < SMALLEST[1], "-small")
