"""The HTML page: whole, escaped, and nothing in it runs or is fetched."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from codeagent.core.diffs import diff
from codeagent.core.errors import UsageFault
from codeagent.core.events import AssistantSaid, Entry, Noted, Opened, ToolFinished, TurnEnded, UserSaid
from codeagent.core.messages import Image, Text, Thinking, ToolUse
from codeagent.core.views import Shell
from codeagent.fronts.exports import format_of, render

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\x1b[31m\u202e"

ENTRIES: list[Entry] = [
    Opened("s1", f"/shop{EVIL}", ("sys",), (), f"m{EVIL}", 100, branch=EVIL),
    UserSaid((Text(EVIL), Image("image/png", "aGk="), Image("image/svg+xml", "aGk="))),
    AssistantSaid(
        (
            Thinking(EVIL),
            Text(f"{EVIL}\n\n[a](javascript:alert(3)) ![b](https://example.com/c.png) [d](https://example.com)\n\n"),
            Text(f"```python\nx = '{EVIL}'\n```\n\n```{EVIL}\n{EVIL}\n```\n\n| a |\n|---|\n| {EVIL} |"),
            ToolUse("1", "read", {"file_path": f"a{EVIL}.py"}),
            ToolUse("2", "bash", {"command": EVIL}),
            ToolUse("3", "edit", {"file_path": "a.py"}),
        )
    ),
    ToolFinished("1", "read", (Text(f"1\tx = 1  # {EVIL}\n2\ty = 2"),), summary=EVIL),
    ToolFinished("2", "bash", (Text(EVIL),), is_error=True, view=Shell(EVIL), summary=EVIL),
    ToolFinished("3", "edit", (Text("ok"),), view=diff("a.py", "x = 1\n", f"x = '{EVIL}'\n")),
    Noted(EVIL),
    TurnEnded("failed", EVIL),
]


class Read(HTMLParser):
    """Collects tags with their attributes, and checks that they nest."""

    VOID = ("meta", "img", "br", "hr", "link", "input")

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Read:
    found = Read()
    found.feed(page)
    found.close()
    assert found.open == []
    return found


def test_nothing_from_outside_becomes_markup() -> None:
    found = read(render(ENTRIES, EVIL, "html"))
    assert not {tag for tag, _ in found.tags} & {"script", "iframe", "object", "form", "svg", "link", "base"}
    assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]
    assert [a["src"] for tag, a in found.tags if tag == "img"] == ["data:image/png;base64,aGk="]
    assert [a["href"] for tag, a in found.tags if tag == "a"] == ["https://example.com/c.png", "https://example.com"]
    assert "\x1b" not in found.text
    assert "\u202e" not in found.text
    assert found.text.count("<script>alert(1)</script>") >= 12


def test_the_page_allows_itself_nothing() -> None:
    found = read(render(ENTRIES, "a", "html"))
    [policy] = [a["content"] for tag, a in found.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_code_is_coloured_and_numbers_stand_apart() -> None:
    page = render(ENTRIES, "a", "html")
    assert '<span class="row "><i>2</i>y' in page
    assert '<span class="c"># ' in page
    assert '<span class="row rem"><i>1</i><b>-</b>x' in page
    assert '<span class="row add"><i>1</i><b>+</b>x' in page
    assert "prefers-color-scheme: dark" in page


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_credentials_are_taken_out_of_every_form(form: str) -> None:
    secret = "ghp_" + "aB3" * 12
    entries: list[Entry] = [
        Opened("s", "/p", ("sys",), (), "m", 100),
        UserSaid((Text(f"use {secret}"),)),
        AssistantSaid((Text("ok"), ToolUse("1", "bash", {"command": f"echo {secret}"}))),
        ToolFinished("1", "bash", (Text(secret),), view=Shell(f"echo {secret}")),
    ]
    told = render(entries, secret, form)
    assert secret not in told
    assert told.count("[withheld]") >= 3


def test_the_form_is_known_by_the_name() -> None:
    assert [format_of(name) for name in ("", "a.md", "a.HTML", "b.json", "noending")] == [
        "md",
        "md",
        "html",
        "json",
        "md",
    ]
    with pytest.raises(UsageFault, match=r"Name the file \.md, \.html or \.json"):
        format_of("a.pdf")
