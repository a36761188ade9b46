"""One question on paper, from its first line to the answer: asked again, explained, rewritten, taken in parts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

from codeagent.core.effects import Answer, AskPermission, AskSummary, Question
from codeagent.core.errors import CodeagentError
from codeagent.fronts.repl import questions
from codeagent.fronts.repl.paper import Paper
from codeagent.fronts.repl.rewording import reworded, settled, wording

END = "."
"""A line that ends a text which is typed anew."""


class Asking:
    """Reads lines through `reply`, None at the end of input. `environ` names the editor, where one can be opened."""

    def __init__(
        self, paper: Paper, reply: Callable[[], Awaitable[str | None]], environ: Mapping[str, str], *, typed: bool
    ) -> None:
        self._paper, self._reply, self._environ = paper, reply, environ
        self._editor = typed and bool(environ.get("VISUAL") or environ.get("EDITOR"))

    async def ask(self, first: Question) -> Answer:
        """Print the question and read lines until one answers it. The end of input means no."""
        question = first
        self._print(questions.asked(question))
        while (line := await self._line("answer: ")) is not None:
            answer = questions.answer(question, line)
            if isinstance(question, AskSummary) and answer is not None and answer.verdict == "always":
                words = self._edited(question.summary)
                answer = None if words is None else Answer("yes", words)
            if answer is not None:
                return settled(question, first, answer)
            match questions.wish(question, line):
                case "hunks" if isinstance(question, AskPermission):
                    if (part := await self._part(question)) is not None:
                        return part
                    self._paper.line(questions.how(question), "muted")
                case "edit" if (old := wording(question)) is not None:
                    text = self._edited(old) if self._editor else await self._retyped(old)
                    question = question if text is None else reworded(question, text)
                    self._print(questions.asked(question))
                case "why" if isinstance(question, AskPermission):
                    self._print(("muted", words) for words in questions.explained(question))
                case _:
                    self._paper.line(questions.how(question), "muted")
        self._paper.line()
        return Answer("no")

    async def _part(self, question: AskPermission) -> Answer | None:
        """Which hunks to make; None for a line that goes back."""
        self._print(questions.hunks(question))
        while (line := await self._line("hunks: ")) is not None:
            if not line.strip():
                return None
            if (answer := questions.picked(question, line)) is not None:
                return answer
            self._paper.line(questions.HOW_TO_PICK, "muted")
        self._paper.line()
        return Answer("no")

    def _edited(self, text: str) -> str | None:
        """The text as it comes back from the editor, which has the terminal meanwhile; None when that failed."""
        from codeagent.host.editor import edited

        try:
            return edited(text, self._environ)
        except CodeagentError as error:
            self._paper.line(str(error), "error")
            return None

    async def _retyped(self, old: str) -> str | None:
        """The text as it is typed anew; None for none, which leaves the old one."""
        self._paper.line(
            f"Type it anew; a line with only {END!r} ends it. Nothing before that leaves it as it was.", "muted"
        )
        lines: list[str] = []
        while (line := await self._line("new: ")) is not None and line.strip() != END:
            lines.append(line)
        if not lines:
            return None
        return "\n".join(lines) + ("\n" if old.endswith("\n") else "")

    async def _line(self, prompt: str) -> str | None:
        self._paper.prompt(prompt)
        return await self._reply()

    def _print(self, lines: Iterable[tuple[str, str]]) -> None:
        self._paper.gap()
        for role, text in lines:
            self._paper.line(text, role)
