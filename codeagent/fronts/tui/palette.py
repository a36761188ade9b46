"""Colours by role and marks by meaning, for dark and light screens.

Every text role has a contrast of at least 4.5:1 on the ground that it is written on; the tests
compute it. Widgets and painters know roles only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

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

    def theme(self) -> Theme:
        """The same colours as a Textual theme; the roles are CSS variables (`$muted`, `$danger` ...)."""
        from textual.theme import Theme

        roles = ("muted", "added", "removed", "danger", "chosen", "line")
        return Theme(
            name=self.name,
            primary=self.accent,
            accent=self.accent,
            foreground=self.text,
            background=self.background,
            surface=self.surface,
            panel=self.surface,
            warning=self.warning,
            error=self.danger,
            success=self.added,
            dark=self.dark,
            variables={role: getattr(self, role) for role in roles}
            | {
                "scrollbar": self.line,
                "scrollbar-hover": self.muted,
                "scrollbar-active": self.accent,
                "scrollbar-background": self.background,
                "scrollbar-background-hover": self.background,
                "scrollbar-background-active": self.background,
            },
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
    line: str = "─"
    spinner: str = "⠋⠙⠸⢰⣠⣄⡆⠇"


UNICODE = Glyphs()
ASCII = Glyphs(
    you=">", folded="+", unfolded="-", done="*", failed="x", more="~", bar="|", pending=".", line="-", spinner="|/-\\"
)

TO_ASCII = str.maketrans("•▌─━│┃╭╮╰╯…", "*|--||++++~")
"""For what others draw: bullets, quote bars, rules of tables."""
