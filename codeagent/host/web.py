"""Fetches one page over HTTP, within bounds, from public addresses only.

The name is resolved once, the addresses are judged, and the connection goes to a judged address by
its number: a name that answers differently the second time (DNS rebinding) gains nothing. No
cookies, no credentials, no proxy.
"""

from __future__ import annotations

import asyncio
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urljoin, urlsplit

from codeagent import __version__
from codeagent.core.errors import ToolFault
from codeagent.host import addresses, programs

if TYPE_CHECKING:
    import httpx2

SECONDS = 30.0
"""For the whole fetch, redirects included."""
BYTES = 5_000_000
"""Of one page, as sent and as unpacked."""
HOPS = 5
"""Redirects followed within one host."""
CONVERTING = 15.0
"""Seconds that one conversion to Markdown may take."""

_PORTS = {"http": 80, "https": 443}
_MOVED = (301, 302, 303, 307, 308)
_HEADERS = {
    "User-Agent": f"codeagent/{__version__}",
    "Accept": "text/html, text/markdown, text/plain, application/json;q=0.9, */*;q=0.1",
    "Accept-Encoding": "gzip",
}


@dataclass(frozen=True, slots=True)
class Page:
    """What a server sent. `url` is the last one asked; `moved` is where it points instead, if elsewhere.

    `cut` says that there is more than `data`.
    """

    url: str
    status: int
    media_type: str
    charset: str
    data: bytes
    cut: bool = False
    moved: str = ""


def read_url(url: str) -> SplitResult:
    """The parts of a URL that can be fetched. Raises ToolFault that says what is wrong with it."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _bad(f"{url[:200]!r} is no URL ({error})") from None
    if parts.scheme not in _PORTS:
        raise _bad(f"{url[:200]!r} came, a whole http:// or https:// address is wanted")
    if not host or any(not (char.isalnum() or char in "-._:") for char in host) or port == 0:
        raise _bad(f"{url[:200]!r} names no host that can be reached")
    if parts.username is not None or parts.password is not None:
        raise _bad("a name or password in the address is not sent; leave it out")
    return parts


async def fetch(
    url: str,
    *,
    private: bool,
    resolve: addresses.Resolve = addresses.resolve,
    judge: Callable[[str], bool] = addresses.is_public,
) -> Page:
    """Get a page. `private` allows every address; else `judge` says which ones are public.

    Follows redirects within the host. Raises ToolFault: url, unreachable, private, timeout.
    """

    async def addressed(host: str, port: int) -> list[str]:
        return await _judged(host, port, (lambda _: True) if private else judge, resolve)

    try:
        async with asyncio.timeout(SECONDS):
            for _ in range(HOPS + 1):
                page = await _one(url, addressed)
                target = urljoin(page.url, page.moved) if page.moved else ""
                if not target or not _same_site(page.url, target):
                    return Page(page.url, page.status, page.media_type, page.charset, page.data, page.cut, target)
                url = target
    except TimeoutError:
        raise ToolFault(
            f"{urlsplit(url).hostname} did not answer within {SECONDS:.0f} seconds. Try again later, or another page.",
            summary="too slow",
            kind="timeout",
        ) from None
    raise ToolFault(f"{url} redirects in a circle ({HOPS} times followed).", summary="redirects", kind="unreachable")


async def _one(url: str, addressed: addresses.Resolve) -> Page:
    """One request to an address that was judged, without following anything."""
    import httpx2  # comes with the SDK; 60 ms

    read_url(url)
    try:
        asked = httpx2.URL(url).copy_with(fragment=None)
    except httpx2.InvalidURL as error:
        raise _bad(f"{url[:200]!r} is no URL ({error})") from None
    host = asked.raw_host.decode("ascii")
    headers = {**_HEADERS, "Host": asked.netloc.decode("ascii")}
    failure = ""
    for address in await addressed(host, asked.port or _PORTS[asked.scheme]):
        target = asked.copy_with(host=address)
        try:
            async with (
                httpx2.AsyncHTTPTransport(trust_env=False) as transport,
                httpx2.AsyncClient(transport=transport, timeout=SECONDS, follow_redirects=False) as client,
                client.stream("GET", target, headers=headers, extensions={"sni_hostname": host}) as response,
            ):
                return await _page(url, response)
        except httpx2.ConnectError as error:
            failure = str(error)  # the next address of the same name may answer
        except (httpx2.HTTPError, httpx2.InvalidURL, zlib.error) as error:
            failure = str(error) or type(error).__name__
            break
    raise ToolFault(f"{host} could not be read: {failure}.", summary="unreachable", kind="unreachable")


async def _judged(host: str, port: int, judge: Callable[[str], bool], resolve: addresses.Resolve) -> list[str]:
    try:
        found = await resolve(host, port)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", "") or error
        raise ToolFault(f"url: {host} is not known ({why}).", summary="unknown host", kind="unreachable") from None
    hidden = [each for each in found if not judge(each)]
    if hidden:
        raise ToolFault(
            f"{host} is {hidden[0]}, an address of this machine or of a private network, which web_fetch does not "
            "reach. The user can allow it (webFetch.allowPrivate); for a local server use curl in bash.",
            summary="private address",
            kind="private",
        )
    return found


async def _page(url: str, response: httpx2.Response) -> Page:
    kind, charset = _content_type(response.headers.get("content-type", ""))
    moved = response.headers.get("location", "") if response.status_code in _MOVED else ""
    if moved:
        return Page(url, response.status_code, kind, charset, b"", moved=moved)
    data, cut = await _body(response)
    return Page(url, response.status_code, kind, charset, data, cut)


async def _body(response: Any) -> tuple[bytes, bool]:
    """At most BYTES of the body; unpacked step by step, since a small one may unpack to gigabytes."""
    packing = response.headers.get("content-encoding", "").strip().lower()
    if packing not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise ToolFault(f"The page is packed as {packing[:40]}, which was not asked for.", kind="binary")
    unpack = _as_it_is if packing in ("", "identity") else zlib.decompressobj(47).decompress
    data = bytearray()
    async for chunk in response.aiter_raw():
        data += unpack(chunk, BYTES + 1 - len(data))
        if len(data) > BYTES:
            return bytes(data[:BYTES]), True
    return bytes(data), False


def _as_it_is(data: bytes, room: int) -> bytes:
    return data[:room]


def _content_type(header: str) -> tuple[str, str]:
    kind, _, rest = header.partition(";")
    charset = next((part.strip()[8:] for part in rest.split(";") if part.strip().lower().startswith("charset=")), "")
    return kind.strip().lower(), charset.strip("\"' ")


def _same_site(one: str, other: str) -> bool:
    """Whether a redirect stays with the host that was allowed; from http to https it may go, not back."""
    try:
        here, there = read_url(one), read_url(other)
    except ToolFault:
        return False
    if here.hostname != there.hostname or (here.scheme, there.scheme) == ("https", "http"):
        return False
    ports = [each.port or _PORTS[each.scheme] for each in (here, there)]
    return ports[0] == ports[1] or ports == [80, 443]


async def markdown(html: str) -> str:
    """A page as Markdown, converted in a process of its own: a hostile page may take for ever. Raises ToolFault."""
    worker = Path(__file__).with_name("web_worker.py")
    command = [sys.executable, "-I", str(worker)]
    try:
        async with asyncio.timeout(CONVERTING):
            ended = await programs.run(command, "/", {"PATH": ""}, html.encode("utf-8", "replace"))
    except TimeoutError:
        raise ToolFault(
            f"The page could not be turned into text within {CONVERTING:.0f} seconds.",
            summary="too slow",
            kind="timeout",
        ) from None
    if ended.code:
        raise ToolFault("The page could not be turned into text: its HTML is too broken.", kind="broken")
    return ended.out.decode("utf-8", "replace")


def _bad(why: str) -> ToolFault:
    return ToolFault(f"url: {why}.", summary="bad input", kind="url")
