"""What a tool is about to do to the world, described before it is done, and what was said to it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Literal

from msgspec import Struct

from codeagent.core.views import View


class Risk(IntEnum):
    """How much a wrong yes could cost.

    LOW reads and searches; MEDIUM edits inside the project and runs what only builds or tests;
    HIGH is everything else that runs, leaves the project, deletes or touches the network.
    """

    LOW = 1
    MEDIUM = 2
    HIGH = 3


class Touch(Struct, frozen=True):
    """A path that an effect reaches, judged after links and `..` were resolved.

    `path` is absolute and resolved; `named` is what the call said. `protected` places need an
    explicit yes whatever the rules say. `vital` marks the file system's root, the home, the
    project root and their parents: what the built-in deny keeps from being removed.
    """

    path: str
    access: Literal["read", "write"]
    place: Literal["inside", "outside", "protected"]
    named: str = ""
    why: str = ""
    vital: bool = False


class ShellPart(Struct, frozen=True):
    """One simple command of a shell line.

    `words` are the words after quote removal, or None where they cannot be known before it runs
    (an expansion, a substitution, an assignment prefix, a redirection): no allow rule covers such
    a part. `readonly` says that it provably only reads inside the project. `risk` is its class.
    `covers` lists word lists that deny and ask rules must also see (the command behind a wrapper).
    """

    text: str
    words: tuple[str, ...] | None
    readonly: bool
    risk: Risk
    why: str = ""
    covers: tuple[tuple[str, ...], ...] = ()


class ShellReading(Struct, frozen=True):
    """A shell line, read. `plain` is False when some byte was not understood: then it is asked.

    `forbidden` is the reason of the built-in deny (removing the root, making file systems ...).
    `touches` are the paths that its parts name and that are known before it runs.
    """

    parts: tuple[ShellPart, ...]
    plain: bool
    why: str = ""
    forbidden: str = ""
    touches: tuple[Touch, ...] = ()


class Effect(Struct, frozen=True):
    """What a call would do, as data. The gate judges this and the dialog shows this.

    `label` is the object in the one-line form (`shop/cart.py`); `title` completes "may I ...?"
    (`Edit shop/cart.py`). `free` marks effects that need no permission at all (the todo list).
    `before` and `after` are sha256 hashes of a file's bytes where the effect changes one.
    """

    tool: str
    label: str
    title: str
    risk: Risk
    view: View
    touches: tuple[Touch, ...] = ()
    shell: ShellReading | None = None
    host: str = ""
    cwd: str = ""
    free: bool = False
    before: str = ""
    after: str = ""
    name: str = ""
    """What rules such as `Task(explore)` speak of, where it is not the label."""
    hunkwise: bool = False
    """Whether single hunks of its diff can be made: the tool then heeds `Permit.hunks`."""


Decision = Literal["allow", "ask", "deny"]
By = Literal["builtin", "rule", "mode", "protected", "path", "grant", "dialog", "hook"]


class Verdict(Struct, frozen=True):
    """What the gate thinks of an effect, and why, in words that a person understands.

    `rule` is the rule's text and `where` its origin (`file:line`); `parts` explains each simple
    command of a shell line as (text, decision, reason); `ways` says what would change the decision.
    """

    decision: Decision
    by: By
    why: str
    rule: str = ""
    where: str = ""
    parts: tuple[tuple[str, Decision, str], ...] = ()
    ways: tuple[str, ...] = ()


class AskPermission(Struct, frozen=True):
    """May this happen? `always` is what "don't ask again" would store, in words and as rules.

    `always_rules` empty with `always` set means: accept edits for this session.
    """

    use_id: str
    effect: Effect
    verdict: Verdict
    input: Mapping[str, Any] = {}
    always: str = ""
    always_rules: tuple[str, ...] = ()
    agent: str = ""
    """The sub-agent that wants it; empty for the agent that the person talks to."""


class AskValve(Struct, frozen=True):
    """A valve closed: go on with a new limit, or stop? `words` says it in the user's terms."""

    valve: str
    words: str
    limit: float
    proposed: float


class Choice(Struct, frozen=True):
    """One possible answer of a question."""

    label: str
    description: str = ""


class AskUser(Struct, frozen=True):
    """The model's own question to the person. Free text is always possible."""

    use_id: str
    question: str
    header: str = ""
    choices: tuple[Choice, ...] = ()
    many: bool = False


class AskSummary(Struct, frozen=True):
    """Shall this summary take the place of the older conversation? `words` says what it saves and what it cost."""

    summary: str
    words: str


class AskPlan(Struct, frozen=True):
    """Shall this plan (Markdown) be carried out, and may edits pass without a question meanwhile?"""

    plan: str
    use_id: str = ""


class Brought(Struct, frozen=True):
    """A file that came with a directory and would act if it were trusted.

    `path` is absolute, `kind` a noun (`settings`, `memory` ...), `words` says line by line what it wants, `digest` is
    the sha256 of what counts of it. `before` is what it wanted when it was last accepted, of a `changed` one.
    """

    path: str
    kind: str
    words: tuple[str, ...]
    digest: str
    changed: bool = False
    before: tuple[str, ...] = ()


class AskTrust(Struct, frozen=True):
    """May what this directory brings along act? `others` are files that want nothing yet, accepted with the rest."""

    directory: str
    items: tuple[Brought, ...]
    others: tuple[Brought, ...] = ()


Question = AskPermission | AskValve | AskUser | AskSummary | AskPlan | AskTrust


class Answer(Struct, frozen=True):
    """What the person said.

    Permission: `yes`, `always` (yes, and do not ask again for what was shown) or `no`. Valve:
    `yes` goes on, `no` stops. AskUser: `yes` with `words`. AskSummary: `yes` takes the summary, or
    `words` in its place when there are any; `no` leaves all as it was. AskPlan: `yes` goes ahead and asks on
    edits, `always` goes ahead and accepts edits, `no` keeps planning. AskTrust: `yes` or `no`.
    `words` can go with any verdict.
    `input` replaces the tool's input when the person edited the change before accepting it; for a
    plan it is {"plan": text}.
    `hunks` are the positions of the hunks that a yes is for, of an effect that is `hunkwise`; None
    means all of them, and none of them is a no.
    """

    verdict: Literal["yes", "always", "no"]
    words: str = ""
    input: Mapping[str, Any] | None = None
    hunks: tuple[int, ...] | None = None
    who: str = ""
    """Who answered in the person's place, as "the tour"; empty: the person."""


class Refusal(Struct, frozen=True):
    """The effect does not happen. `reason` is told to the model."""

    reason: str
    nobody: bool = False
    """True when it was refused only because nobody could be asked."""


class Revised(Struct, frozen=True):
    """The person accepted the effect in another form: plan again with this input."""

    input: Mapping[str, Any]
    words: str = ""
    who: str = ""


class Permit(Struct, frozen=True):
    """Proof that the gate let this effect through. Only `core/gate.py` makes one."""

    effect: Effect
    words: str = ""
    use_id: str = ""
    """The call that it was given for."""
    hunks: tuple[int, ...] | None = None
    """Positions of the only hunks of its diff that may be made; None: all of it."""
