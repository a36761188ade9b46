"""A conversation in which words stand for pictures and documents, for a server that cannot read one of them."""

from __future__ import annotations

from msgspec.structs import replace

from codeagent.core.messages import Block, Document, Image, Message, Text, ToolResult

PICTURES = "pictures"
"""The feature's name in `Request.without`."""

INSTEAD = "[left out: the server could not read a picture or document of this conversation]"


def unpictured(message: Message) -> Message:
    """The same message; it is the same object when there is nothing to leave out."""
    blocks = tuple(_block(block) for block in message.blocks)
    changed = any(new is not old for new, old in zip(blocks, message.blocks, strict=True))
    return Message(message.role, blocks) if changed else message


def _block(block: Block) -> Block:
    if isinstance(block, Image | Document):
        return Text(INSTEAD)
    if isinstance(block, ToolResult) and any(isinstance(part, Image | Document) for part in block.content):
        return replace(
            block, content=tuple(part if isinstance(part, Text) else Text(INSTEAD) for part in block.content)
        )
    return block
