"""A log of 100 MB is opened in the time that a person is ready to wait."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from codeagent.core.conversation import request
from codeagent.core.events import AssistantSaid, Opened, ToolFinished, UserSaid
from codeagent.core.messages import Text, ToolUse
from codeagent.sessions import codec
from codeagent.sessions.load import load

SIZE = 100 << 20


@pytest.mark.slow
def test_a_hundred_megabytes_are_resumed_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    words = "A line of output that a command wrote.\n" * 200
    with path.open("wb") as file:
        file.write(codec.encode(0, 0, Opened("s1", "/p", ("sys",), (), "m", 10)))
        seq = 1
        while file.tell() < SIZE:
            use = ToolUse(f"u{seq}", "bash", {"command": "make"})
            step = (UserSaid((Text("go"),)), AssistantSaid((use,)), ToolFinished(use.id, "bash", (Text(words),)))
            for entry in step:
                file.write(codec.encode(seq, seq, entry))
                seq += 1
    began = time.process_time()
    loaded = load(path)
    read = time.process_time() - began
    made = request(loaded.entries)
    took = time.process_time() - began
    print(f"{seq:,} entries: read in {read:.2f} s, folded in {took - read:.2f} s of processor time")
    assert len(loaded.entries) == seq
    assert len(made.messages) > 1
    assert took < 3
