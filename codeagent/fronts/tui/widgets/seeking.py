"""Finding one's way in the conversation: the chosen block, search, jumps from message to message."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.strip import Strip

from codeagent.fronts.tui import sources
from codeagent.fronts.tui.page import Page
from codeagent.fronts.tui.pieces import Block
from codeagent.fronts.tui.story import Story


class Seeking(ScrollView):
    """What a view of a story needs for it; the view draws, and says how it gets to a block (`_reach`).

    What the view has to give raises here: Textual's metaclass does not combine with ABC's.
    """

    story: Story
    page: Page
    _chosen: int | None = None
    _words: str = ""

    def flush(self) -> None:
        """Show what changed."""
        raise NotImplementedError

    def action_tail(self) -> None:
        """Go to the newest row."""
        raise NotImplementedError

    def _reach(self, index: int) -> None:
        """Draw up to this block."""
        raise NotImplementedError

    def action_step(self, by: int) -> None:
        """Choose the next call in this direction."""
        blocks = self.story.blocks
        at = len(blocks) if self._chosen is None else self._chosen
        at += by
        while 0 <= at < len(blocks) and blocks[at].kind not in ("call", "thinking"):
            at += by
        if 0 <= at < len(blocks):
            self._chosen = at
            self._reach(at)
            self.scroll_to_region(Region(0, self.page.start(at), self.size.width, 2), animate=False)
            self.refresh()

    def search(self, words: str) -> bool:
        """Mark these words and choose the newest block that has them; whether there is one."""
        self._words, self._chosen = words.lower(), None
        self.refresh()
        return bool(words) and self.action_found(-1)

    def action_found(self, by: int) -> bool:
        """Choose the next block with what is searched for; folded ones open. Whether there was one."""
        has = [
            i for i, block in enumerate(self.story.blocks) if self._words and self._words in sources.of(block).lower()
        ]
        at = len(self.story.blocks) if self._chosen is None else self._chosen
        further = [i for i in has if (i < at if by < 0 else i > at)]
        if not further:
            return False
        index = further[-1] if by < 0 else further[0]
        block = self.story.blocks[index]
        if block.fold != "open" and block.kind in ("call", "thinking", "said"):
            self.story.toggle(index)
            self.flush()
        self._show(index, self._row_of_find(index))
        return True

    def _row_of_find(self, index: int) -> int:
        """How far below a block's first row the words stand."""
        self._reach(index)
        strips = [self.page.row(row) for row in range(self.page.start(index), self.page.end(index))]
        return next((n for n, strip in enumerate(strips) if self._words in strip.text.lower()), 0)

    def jump(self, by: int) -> None:
        """Choose the message before or after this one."""
        said = [i for i, block in enumerate(self.story.blocks) if block.kind == "said"]
        at = len(self.story.blocks) if self._chosen is None else self._chosen
        further = [i for i in said if (i < at if by < 0 else i > at)]
        if further:
            self._show(further[-1] if by < 0 else further[0])
        elif by > 0:
            self._chosen = None
            self.action_tail()

    def unmark(self) -> None:
        """Nothing is chosen or searched for any more."""
        if self._words or self._chosen is not None:
            self._words, self._chosen = "", None
            self.refresh()

    def chosen_blocks(self) -> list[Block]:
        """All blocks, or those up to the chosen one when one is chosen."""
        return self.story.blocks[: len(self.story.blocks) if self._chosen is None else self._chosen + 1]

    def _show(self, index: int, below: int = 0) -> None:
        """Choose a block, draw up to it, and bring it to a third of the screen."""
        self._chosen = index
        self._reach(index)
        self.scroll_to(y=max(0, self.page.start(index) + below - self.size.height // 3), animate=False)
        self.refresh()

    def _found_in(self, strip: Strip) -> Strip:
        """The strip with what is searched for on the colour of a find."""
        text, at = strip.text.lower(), 0
        while (at := text.find(self._words, at)) >= 0:
            start, end = cell_len(text[:at]), cell_len(text[: at + len(self._words)])
            before, found, after = strip.divide([start, end, strip.cell_length])
            shown = Segment.apply_style(found, post_style=self.page.painter.style("warning reverse"))
            strip = Strip.join([before, Strip(shown, found.cell_length), after])
            at += len(self._words)
        return strip
