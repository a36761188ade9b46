"""The style sheet of the main screen, and where its widgets stand."""

from __future__ import annotations

CSS = """
Screen { background: $background; color: $foreground; layers: base above; }
#completions { display: none; background: $surface; max-height: 8; margin: 0 0 0 0; border-top: solid $line; }
#entry { height: auto; border-top: solid $line; background: $background; }
#prompt { width: 3; height: 1; color: $accent; text-style: bold; background: $background; }
#composer .text-area--placeholder { color: $muted; }
#composer .text-area--cursor { background: $foreground; color: $background; }
#composer .text-area--selection { background: $chosen; }
Input { color: $foreground; background: $surface; }
Input > .input--placeholder { color: $muted; }
TextArea .text-area--selection { background: $chosen; }
Screen.-short #composer { max-height: 1; }
Screen.-short #todo, Screen.-short #waiting { display: none; }
#small { display: none; width: 100%; height: 100%; content-align: center middle; color: $warning; layer: above;
         background: $background; }
Screen.-tiny #small, Screen.-thin #small { display: block; }
"""

SMALLEST = (20, 6)
"""Columns and rows under which nothing but a notice is shown."""

WIDTHS = [(0, "-thin"), (SMALLEST[0], "-narrow"), (60, "-wide")]
HEIGHTS = [(0, "-tiny"), (SMALLEST[1], "-short"), (15, "-tall")]
"""At 14 rows and fewer the composer has one row and the panels go."""
