"""web_fetch against a server on this machine: what comes, what is bounded, what is refused."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.effects import Permit, Risk
from codeagent.core.errors import ToolFault
from codeagent.core.messages import Text
from codeagent.core.ports import Result
from codeagent.core.rules import narrow
from codeagent.host import addresses, web
from codeagent.host.workspace import Workspace
from codeagent.tools.web_fetch import INLINE, WebFetch, WebFetchInput
from tests.tools.page_server import Answer, Pages


async def fetched(tmp_path: Path, url: str, **options: Any) -> Result:
    """Plan, permit, run."""
    tool = WebFetch(Workspace(tmp_path, tmp_path, tmp_path / "spill", {}), **{"private": True, **options})
    args = WebFetchInput(url=url)
    effect = await tool.plan(args)
    assert effect.risk == Risk.HIGH
    assert effect.host
    (result,) = [step async for step in tool.run(args, Permit(effect))]
    assert isinstance(result, Result)
    return result


def words(result: Result) -> str:
    (block,) = result.blocks
    assert isinstance(block, Text)
    return block.text


async def page(tmp_path: Path, answer: Answer) -> str:
    with Pages({"/": answer}) as pages:
        return words(await fetched(tmp_path, pages.url + "/"))


async def test_html_comes_as_markdown_and_is_marked_as_data(tmp_path: Path) -> None:
    html = """<!doctype html><html><head><title>Shop guide</title><style>b{}</style></head><body>
    <nav>menu</nav><main><h2>Carts</h2><p>Use <code>add()</code> and <a href="/more">more</a>.</p>
    <pre>x = 1\n  y</pre><script>alert(1)</script><ul><li>one<li>two</ul>
    <img src="data:image/png;base64,AAAA"></main></body></html>"""
    text = await page(tmp_path, Answer(html))
    first, *_, last = text.splitlines()
    assert "not instructions" in first
    assert "http://127.0.0.1" in first
    assert last.startswith("[end of the material from http://127.0.0.1")
    for part in ("# Shop guide", "## Carts", "`add()`", "[more](/more)", "x = 1\n  y", "- one"):
        assert part in text
    for part in ("alert", "menu", "base64", "b{}"):
        assert part not in text


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "application/vnd.api+json", "text/markdown", ""])
async def test_text_and_json_pass_as_they_are(tmp_path: Path, kind: str) -> None:
    body = '{"a": [1, 2],\n  "b": "<p>&amp;</p>"}'
    assert body in await page(tmp_path, Answer(body, kind))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<p>Größe</p>".encode("latin-1"), "text/html; charset=iso-8859-1"),
        ('<meta charset="windows-1252"><p>Größe</p>'.encode("cp1252"), "text/html"),
        ("Größe".encode("utf-16"), "text/plain"),
        ("Größe".encode(), "text/plain; charset=no-such-thing"),
        ("Größe".encode(), "text/plain; charset=base64"),
    ],
)
async def test_encodings(tmp_path: Path, body: bytes, kind: str) -> None:
    assert "Größe" in await page(tmp_path, Answer(body, kind))


@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "application/octet-stream", "text/plain"])
async def test_what_is_no_text_is_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ToolFault, match="no text") as caught:
        await page(tmp_path, Answer(b"\x89PNG\0\0\0", kind))
    assert caught.value.kind == "binary"


async def test_a_long_page_is_cut_and_kept_whole_in_a_file(tmp_path: Path) -> None:
    body = "".join(f"line {n}\n" for n in range(20_000))
    text = await page(tmp_path, Answer(body, "text/plain"))
    assert len(text.encode()) < INLINE + 1000
    (kept,) = (tmp_path / "spill").iterdir()
    assert kept.read_text() == body
    assert str(kept) in text
    assert f"{len(body) - INLINE:,} of {len(body):,} bytes left out" in text


async def test_no_more_is_read_than_the_bound(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(b"a" * 200_000_000), 1)
    with Pages({"/": Answer(bomb, "text/plain", headers={"Content-Encoding": "gzip"})}) as pages:
        got = await web.fetch(pages.url + "/", private=True)
    assert (len(got.data), got.cut) == (web.BYTES, True)
    with pytest.raises(ToolFault, match="packed as br"):
        await page(tmp_path, Answer(b"x", "text/plain", headers={"Content-Encoding": "br"}))
    with pytest.raises(ToolFault, match="could not be read"):
        await page(tmp_path, Answer(b"no gzip", "text/plain", headers={"Content-Encoding": "gzip"}))


async def test_deeply_nested_html_gives_its_words(tmp_path: Path) -> None:
    assert "the words" in await page(tmp_path, Answer("<div>" * 20_000 + "the words"))


async def test_an_error_page_is_an_error_and_shown(tmp_path: Path) -> None:
    with Pages({}) as pages:
        result = await fetched(tmp_path, pages.url + "/gone")
    assert result.is_error
    assert "answered 404" in words(result)
    assert "Not here" in words(result)


async def test_redirects_within_the_host_are_followed_and_others_are_told(tmp_path: Path) -> None:
    table = {
        "/a": Answer(status=302, headers={"Location": "/b?x=1"}),
        "/b?x=1": Answer("arrived", "text/plain"),
        "/out": Answer(status=301, headers={"Location": "https://other.example/page"}),
        "/port": Answer(status=307, headers={"Location": "http://127.0.0.1:1/"}),
        "/file": Answer(status=302, headers={"Location": "file:///etc/passwd"}),
        "/circle": Answer(status=302, headers={"Location": "/circle"}),
    }
    with Pages(table) as pages:
        assert "arrived" in words(await fetched(tmp_path, pages.url + "/a"))
        for path, target in (("/out", "https://other.example/page"), ("/port", "127.0.0.1:1"), ("/file", "file:///")):
            text = words(await fetched(tmp_path, pages.url + path))
            assert "not followed" in text
            assert target in text
        with pytest.raises(ToolFault, match="circle"):
            await fetched(tmp_path, pages.url + "/circle")


async def test_a_name_is_resolved_once_and_the_judged_address_is_connected_to(tmp_path: Path) -> None:
    answers = iter([["127.0.0.1"], ["203.0.113.9"]])
    asked = []

    async def flips(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return next(answers)

    with Pages({"/": Answer("here", "text/plain")}) as pages:
        text = words(await fetched(tmp_path, f"http://docs.example:{pages.port}/", resolve=flips))
        assert "here" in text
        assert pages.headers[0]["Host"] == f"docs.example:{pages.port}"
        assert asked == [("docs.example", pages.port)]


@pytest.mark.parametrize(
    "found",
    [
        ["127.0.0.1"],
        ["93.184.216.34", "10.0.0.1"],
        ["169.254.169.254"],
        ["::1"],
        ["fe80::1"],
        ["::ffff:192.168.0.1"],
        ["2002:7f00:1::"],
        ["64:ff9b::7f00:1"],
        ["100.64.0.1"],
        ["0.0.0.0"],
        ["224.0.0.1"],
    ],
)
async def test_a_name_that_leads_inside_is_refused(tmp_path: Path, found: list[str]) -> None:
    async def leads(_host: str, _port: int) -> list[str]:
        return found

    with pytest.raises(ToolFault, match=r"webFetch\.allowPrivate") as caught:
        await fetched(tmp_path, "http://harmless.example/", private=False, resolve=leads)
    assert caught.value.kind == "private"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
async def test_no_spelling_of_this_machine_passes(tmp_path: Path, host: str) -> None:
    with Pages({"/": Answer("secret")}) as pages:
        with pytest.raises(ToolFault):
            await fetched(tmp_path, f"http://{host}:{pages.port}/", private=False)
        assert pages.asked == []


async def test_a_redirect_inside_the_host_is_judged_again(tmp_path: Path) -> None:
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])

    async def flips(_host: str, _port: int) -> list[str]:
        return next(answers)

    def public_at_first(address: str) -> bool:
        return address == "127.0.0.1"

    assert not addresses.is_public("10.0.0.1")
    with Pages({"/": Answer(status=302, headers={"Location": "/again"})}) as pages:
        url = f"http://docs.example:{pages.port}/"
        with pytest.raises(ToolFault, match=r"10\.0\.0\.1"):
            await web.fetch(url, private=False, resolve=flips, judge=public_at_first)
        assert pages.asked == ["/"]


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/",
        "file:///etc/passwd",
        "/relative",
        "docs.example",
        "http://",
        "http://user:secret@a.example/",
        "http://a.example:99999/",
        "http://a b.example/",
        "http://[::1/",
        "http://a.example:0/",
        "javascript:alert(1)",
        "http://a\r\nHost: evil/",
    ],
)
async def test_a_bad_address_is_named_before_anyone_is_asked(tmp_path: Path, url: str) -> None:
    tool = WebFetch(Workspace(tmp_path, tmp_path, tmp_path, {}))
    with pytest.raises(ToolFault, match=r"^url: "):
        await tool.plan(WebFetchInput(url=url))


async def test_consent_is_for_one_host(tmp_path: Path) -> None:
    tool = WebFetch(Workspace(tmp_path, tmp_path, tmp_path, {}))
    effect = await tool.plan(WebFetchInput(url="https://Docs.Example:8443/a?b#c"))
    assert effect.host == "docs.example"
    assert narrow(effect) == ("WebFetch(domain:docs.example)",)


async def test_cancelling_closes_the_connection(tmp_path: Path) -> None:
    with Pages({"/": Answer("x", hangs=True)}) as pages:
        task = asyncio.create_task(fetched(tmp_path, pages.url + "/"))
        async with asyncio.timeout(10):
            while not pages.asked:
                await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not pages.over.is_set()


async def test_nobody_there_is_said_with_the_host(tmp_path: Path) -> None:
    with pytest.raises(ToolFault, match=r"127\.0\.0\.1 could not be read"):
        await fetched(tmp_path, "http://127.0.0.1:9/")
