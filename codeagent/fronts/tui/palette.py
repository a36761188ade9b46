"""Colours by role and marks by meaning, for dark and light screens.

Every text role has a contrast of at least 4.5:1 on the ground that it is written on; the tests
compute it. Widgets and painters know roles only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from textual.theme import Theme


class Palette(Struct, frozen=True):
    """One theme: grounds first, then what is written on them, as `#rrggbb`.

    `surface` is the ground of dialogs and menus, `chosen` that of the highlighted row;
    `added_ground` and `removed_ground` tint changed lines, the `_word` grounds changed words.
    """

    name: str
    dark: bool
    background: str
    surface: str
    chosen: str
    line: str
    text: str
    muted: str
    accent: str
    added: str
    removed: str
    warning: str
    danger: str
    added_ground: str
    removed_ground: str
    added_word: str
    removed_word: str
    keyword: str
    string: str
    number: str
    name_: str

    def css(self, role: str) -> str:
        """The colour of a role as Textual writes it."""
        colour: str = getattr(self, role)
        return colour if colour.startswith("#") else f"ansi_{colour}"

    def theme(self) -> Theme:
        """The same colours as a Textual theme; the roles are CSS variables (`$muted`, `$danger` ...)."""
        from textual.theme import BUILTIN_THEMES, Theme

        ansi = not self.background.startswith("#")
        needed = BUILTIN_THEMES["ansi-dark"].variables if ansi else {}
        css = self.css
        roles = {role: css(role) for role in ("muted", "added", "removed", "danger", "chosen", "line")}
        bars = {
            "scrollbar": css("line"),
            "scrollbar-hover": css("muted"),
            "scrollbar-active": css("accent"),
            "scrollbar-background": css("background"),
            "scrollbar-background-hover": css("background"),
            "scrollbar-background-active": css("background"),
        }
        return Theme(
            name=self.name,
            primary=css("accent"),
            accent=css("accent"),
            foreground=css("text"),
            background=css("background"),
            surface=css("surface"),
            panel=css("surface"),
            warning=css("warning"),
            error=css("danger"),
            success=css("added"),
            dark=self.dark,
            ansi=ansi,
            variables=needed | roles | bars,
        )


DARK = Palette(
    name="codeagent-dark",
    dark=True,
    background="#15171c",
    surface="#1c1f26",
    chosen="#272e3b",
    line="#3a404c",
    text="#d9dce3",
    muted="#8f97a6",
    accent="#82aaff",
    added="#8fd18b",
    removed="#f2949c",
    warning="#e6c07a",
    danger="#ff8087",
    added_ground="#17271c",
    removed_ground="#2c1a1e",
    added_word="#24482d",
    removed_word="#552a31",
    keyword="#c3a6ff",
    string="#a9d39b",
    number="#efb08a",
    name_="#8cc8ea",
)

LIGHT = Palette(
    name="codeagent-light",
    dark=False,
    background="#fbfaf7",
    surface="#f2f0ea",
    chosen="#dfe6f5",
    line="#c9c6bc",
    text="#23262d",
    muted="#5f6572",
    accent="#2a52b8",
    added="#1d6433",
    removed="#a3242c",
    warning="#7a4f00",
    danger="#b3122a",
    added_ground="#e6f4e6",
    removed_ground="#fbe9e8",
    added_word="#c3e6c5",
    removed_word="#f6cfcd",
    keyword="#6a37b0",
    string="#1f5f33",
    number="#87420b",
    name_="#1b5580",
)


DARK_SAFE = replace(
    DARK,
    name="codeagent-dark-safe",
    added="#6fc3ff",
    removed="#ffb454",
    danger="#ff9a62",
    warning="#f0d264",
    added_ground="#12273a",
    removed_ground="#33260f",
    added_word="#1c4564",
    removed_word="#5a4016",
)
LIGHT_SAFE = replace(
    LIGHT,
    name="codeagent-light-safe",
    added="#0a5a9c",
    removed="#8f4700",
    danger="#a33a00",
    added_ground="#e2f0fb",
    removed_ground="#fbeedd",
    added_word="#bcdcf5",
    removed_word="#f5d9b0",
)

TERMINAL = Palette(
    name="codeagent-terminal",
    dark=True,
    background="default",
    surface="default",
    chosen="bright_black",
    line="bright_black",
    text="default",
    muted="default",
    accent="blue",
    added="green",
    removed="red",
    warning="yellow",
    danger="red",
    added_ground="default",
    removed_ground="default",
    added_word="default",
    removed_word="default",
    keyword="magenta",
    string="green",
    number="yellow",
    name_="cyan",
)
"""The sixteen colours of the terminal itself, whatever they are; what must stand out is bold or reversed."""

PALETTES: dict[str, tuple[Palette, str]] = {
    "dark": (DARK, "for dark screens"),
    "light": (LIGHT, "for light screens"),
    "dark-safe": (DARK_SAFE, "dark; blue and orange in place of green and red"),
    "light-safe": (LIGHT_SAFE, "light; blue and orange in place of green and red"),
    "terminal": (TERMINAL, "the terminal's own sixteen colours"),
}
"""Themes by their names in the settings, and one line about each."""


class Glyphs(Struct, frozen=True):
    """Marks of one cell, each with one meaning."""

    you: str = "›"
    folded: str = "▸"
    unfolded: str = "▾"
    done: str = "✓"
    failed: str = "✗"
    more: str = "…"
    bar: str = "│"
    pending: str = "·"
    current: str = "»"
    line: str = "─"
    spinner: str = "⠋⠙⠸⢰⣠⣄⡆⠇"


UNICODE = Glyphs()
ASCII = Glyphs(
    you=">",
    folded="+",
    unfolded="-",
    done="*",
    failed="x",
    more="~",
    bar="|",
    pending=".",
    current="=",
    line="-",
    spinner="|/-\\",
)

TO_ASCII = str.maketrans("•▌─━│┃╭╮╰╯…", "*|--||++++~")
"""For what others draw: bullets, quote bars, rules of tables."""
