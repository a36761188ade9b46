"""One entry of every kind, with every field set: what the golden log holds."""

from codeagent.core.events import (
    Asked,
    AssistantSaid,
    Changed,
    Compacted,
    Decided,
    Entry,
    Heard,
    Noted,
    Opened,
    Prepared,
    Queued,
    Retried,
    Rewound,
    Saw,
    Spent,
    Switched,
    Titled,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserSaid,
    ValveClosed,
)
from codeagent.core.file_states import FileChange, FileState
from codeagent.core.messages import Document, Image, Opaque, Text, Thinking, ToolSchema, ToolUse, Usage
from codeagent.core.views import Diff, Hunk, Listing, Plain, Shell, Todo, TodoItem

OLD = FileState("file", "a" * 64, 0o755)
USAGE = Usage(input=10, output=20, cache_read=3000, cache_write=400, cache_write_1h=5)
DIFF = Diff("shop/cart.py", (Hunk(3, 3, (" def total(self):", "-    return 0", "+    return 1")),), 1, 1, omitted=2)

ENTRIES: tuple[Entry, ...] = (
    Opened(
        session="s1",
        cwd="/home/ada/shop",
        system=("You are codeagent.", "Guidelines: naïve café ☕"),
        tools=(ToolSchema("read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),),
        model="model-a",
        max_tokens=32000,
        effort="high",
        mode="acceptEdits",
        cache="1h",
        branch="main",
        headless=True,
        forked_from="s0",
        codeagent="0.1.0",
    ),
    Titled("The cart", by="user"),
    Switched(mode="plan", model="model-b", effort="low", max_tokens=1000, without=("effort",), by="server", why="400"),
    Queued("q1", "and the tests", when="turn", withdrawn=True),
    UserSaid((Text("What is wrong?"), Image("image/png", "aGk="), Document("application/pdf", "aGk=", "a.pdf")), "q1"),
    Asked(1, "model-a", "d" * 64, "s" * 64, "t" * 64, 3, 32000, "high", "compaction"),
    Retried(1, 3, 0.5, "overloaded", "overloaded", 529),
    Heard("I loo", thinking=True),
    AssistantSaid(
        blocks=(
            Thinking("Let me see.", "c2ln", {"x": 1}),
            Text("I look.", {"citations": []}),
            ToolUse("t1", "edit", {"path": "shop/cart.py", "n": 1.5, "deep": [None, True, {"a": "b"}]}, extra={"y": 2}),
            ToolUse("t2", "edit", {}, malformed='{"path":'),
            Opaque({"type": "server_thing", "id": "z"}),
        ),
        stop="tool_use",
        usage=USAGE,
        model="model-a",
        cost=0.0123,
        message_id="m1",
        request_id="r1",
        first_ms=300,
        took_ms=900,
        detail="none",
        cut=("bash",),
        void=True,
    ),
    Decided(
        use_id="t1",
        tool="edit",
        title="Edit shop/cart.py",
        decision="allow",
        by="rule",
        why="an allow rule",
        rule="Edit(shop/**)",
        where=".agent/settings.json:4",
        risk=2,
        words="go on",
        stored=("Edit(shop/**)",),
        nobody=True,
        revised={"path": "shop/cart.py"},
    ),
    ToolStarted("t1", "edit", "shop/cart.py", "Edit shop/cart.py", DIFF, 2, "k1"),
    ToolFinished(
        use_id="t1",
        tool="edit",
        blocks=(Text("done"), Image("image/png", "aGk=")),
        is_error=True,
        outcome="timeout",
        summary="+1 -1",
        view=Shell("pytest -q", "/home/ada/shop", "1 passed", 0),
        took_ms=12,
        saw=(Saw("/home/ada/shop/cart.py", "e" * 64, 2, 9, whole=False, wrote=True),),
        before="b" * 64,
        after="a" * 64,
        cwd="/home/ada/shop/tests",
    ),
    ToolStarted("t3", "todo", "", "Update the list", Todo((TodoItem("fix", "in_progress"), TodoItem("test")))),
    ToolFinished("t3", "grep", (), view=Listing(("a.py:1:x",), 4)),
    ToolFinished("t4", "memory", (), view=Plain("noted")),
    Compacted("They fixed the cart.", 4, ("cart.py was read",), "overflow", 90000, 9000, USAGE, 0.04),
    Rewound(5, files=True),
    Noted("CLAUDE.md changed", "model", "guidelines", "warning", "f" * 64),
    ValveClosed("dollars", "the budget is used up", 1.0, 1.01, 2.0, warning=True),
    TurnEnded("valve", "dollars", "overloaded", 529, "dollars", 7, 1234),
    ToolStarted("t5", "bash", "make", "Run make", Plain("make"), 3, "call_5", (("/p/a", OLD),), scanned=True),
    Changed("t5", (FileChange("/p/a", OLD, FileState("link", "b" * 64)), FileChange("/p/b", FileState(), OLD))),
    Rewound(3, files=True, conversation=False),
)

AGENTS: tuple[Entry, ...] = (
    ToolStarted("t6", "task", "Look", "Hand to a sub-agent: Look", Plain("explore")),
    Spent("t6", USAGE, 0.01, "model-b"),
    Decided("t7", "bash", "Run make", "allow", "dialog", "You said yes.", agent="Look"),
    ToolFinished("t6", "task", (Text("It is there."),), summary="5 steps, 12k tokens"),
)
"""What sub-agents leave in the log of their session."""

CUT: tuple[Entry, ...] = (
    Prepared("t6", "t8", (("/p/a", OLD), ("/p/b", FileState())), scanned=True),
    Changed("t6", (FileChange("/p/a", OLD, FileState()),), "t8"),
)
"""What is known of a sub-agent's call that a kill may cut off."""
