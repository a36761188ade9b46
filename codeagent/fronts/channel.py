"""The control channel: requests and answers between us and a program, both ways, over JSON lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from codeagent.core.effects import Answer, Question
from codeagent.core.errors import CodeagentError, UsageFault
from codeagent.core.messages import Image
from codeagent.fronts.json_lines import fresh_id
from codeagent.fronts.streams import Typed
from codeagent.fronts.wire_lines import Line
from codeagent.fronts.wire_questions import answer_of, request_of

Said = Callable[[str, tuple[Image, ...]], None]
"""A message came: its words and pictures."""

Command = Callable[[str, Mapping[str, Any]], Line]
"""A request came: its subtype and fields. Gives the answer, or raises CodeagentError with words."""


class Channel:
    """Reads lines from `typed`, writes lines with `send`."""

    def __init__(self, typed: Typed, send: Callable[[Line], None]) -> None:
        self._typed, self._send = typed, send
        self._open: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self._ended = False

    async def listen(self, said: Said, command: Command) -> None:
        """Serve lines until there are no more. Raises UsageFault for a line that is none of the schema's."""
        number = 0
        try:
            while (text := await self._typed.line()) is not None:
                number += 1
                if text.strip():
                    self._take(_object(text, number), said, command, number)
        finally:
            self._ended = True
            for waiting in self._open.values():
                if not waiting.done():
                    waiting.set_result({"behavior": "deny", "message": "Nobody is there any more."})

    @property
    def open(self) -> bool:
        """Whether the program can still answer."""
        return not self._ended

    async def ask(self, question: Question, stop: Callable[[], None]) -> Answer:
        """Put a question to the program. `stop` is called when it wants the turn to end. One that is gone says no."""
        request = request_of(question)
        if self._ended or request is None:
            return Answer("no")
        id_ = fresh_id()
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._open[id_] = answer
        self._send({"type": "control_request", "request_id": id_, "request": request})
        try:
            given = await answer
        except asyncio.CancelledError:
            self._send({"type": "control_cancel_request", "request_id": id_})
            raise
        finally:
            del self._open[id_]
        if given.get("interrupt") is True:
            asyncio.get_running_loop().call_soon(stop)  # after the no is on record
        return answer_of(question, request, given)

    def _take(self, line: Line, said: Said, command: Command, number: int) -> None:
        match line:
            case {"type": "user", "message": {"content": content}}:
                said(*_message(content, number))
            case {"type": "control_request", "request_id": str(id_), "request": {"subtype": str(subtype)}}:
                answer = _outcome(id_, subtype, line["request"], command)
                self._send({"type": "control_response", "response": answer})
            case {"type": "control_response", "response": {"request_id": str(id_)}}:
                waiting = self._open.get(id_)
                if waiting is not None and not waiting.done():
                    waiting.set_result(_response(line["response"]))
            case {"type": "keep_alive" | "control_cancel_request" | "update_environment_variables"}:
                pass
            case _:
                kind = line.get("type")
                raise UsageFault(
                    f"Line {number} of standard input has the type {kind!r} in a form that is not known here. "
                    'A message is {"type": "user", "message": {"role": "user", "content": "..."}}.'
                )


def _object(text: str, number: int) -> Line:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise UsageFault(
            f"Line {number} of standard input is no JSON ({wrong}). One object a line is wanted."
        ) from None
    if not isinstance(line, dict):
        raise UsageFault(f"Line {number} of standard input is no JSON object; one object a line is wanted.")
    return line


def _message(content: object, number: int) -> tuple[str, tuple[Image, ...]]:
    """Words and pictures of a message; its content is a text or a list of blocks."""
    words: list[str] = []
    pictures: list[Image] = []
    for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        match part:
            case {"type": "text", "text": str(text)}:
                words.append(text)
            case {"type": "image", "source": {"type": "base64", "media_type": str(media), "data": str(data)}}:
                pictures.append(Image(media, data))
            case _:
                raise UsageFault(f"Line {number} of standard input has content that is neither text nor base64 image.")
    return "\n".join(words), tuple(pictures)


def _outcome(id_: str, subtype: str, fields: Mapping[str, Any], command: Command) -> Line:
    try:
        return {"subtype": "success", "request_id": id_, "response": command(subtype, fields)}
    except CodeagentError as fault:
        return {"subtype": "error", "request_id": id_, "error": str(fault)}


def _response(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    response = fields.get("response")
    if fields.get("subtype") == "success" and isinstance(response, dict):
        return response
    return {"behavior": "deny", "message": str(fields.get("error", ""))}
