"""A picture that the server cannot read leaves the conversation, and everything else stays."""

from __future__ import annotations

from codeagent.core.conversation import request
from codeagent.core.events import AssistantSaid, Entry, Opened, Switched, ToolFinished, UserSaid
from codeagent.core.messages import Document, Image, Text, ToolResult, ToolUse
from codeagent.core.unpictured import INSTEAD

PICTURE = Image("image/png", "AAAA")
ENTRIES: list[Entry] = [
    Opened("s", "/p", ("system",), (), "m", 1000),
    UserSaid((PICTURE, Text("look"))),
    AssistantSaid((ToolUse("1", "read", {}),), "tool_use"),
    ToolFinished("1", "read", (Text("a picture"), PICTURE, Document("application/pdf", "AAAA", "a.pdf"))),
]


def test_words_stand_for_pictures_once_they_were_refused() -> None:
    before = request(ENTRIES)
    after = request([*ENTRIES, Switched(without=("pictures",), by="server")])
    assert before.messages[0].blocks[0] is PICTURE
    assert after.messages[0].blocks == (Text(INSTEAD), Text("look"))
    assert after.messages[1] == before.messages[1]
    (result,) = after.messages[2].blocks
    assert isinstance(result, ToolResult)
    assert result.content == (Text("a picture"), Text(INSTEAD), Text(INSTEAD))
