"""The Messages API as a Model: one streamed request, deltas as they come, one reply or one typed error."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from codeagent.core.errors import ModelError, ModelUnavailable
from codeagent.core.events import AssistantSaid, CallDelta, Delta, Raw, Retried
from codeagent.core.messages import Request
from codeagent.core.ports import ModelInfo
from codeagent.models import catalog, failures, features, sdk
from codeagent.models.accumulator import Accumulator
from codeagent.models.encoded import Encoder
from codeagent.models.said import to_said

_PUBLIC = "https://api.anthropic.com"

_KEEP_ALIVE = 55.0
"""Seconds that an idle connection is kept, so that a step after a tool needs no new handshake."""

_DRAIN = 0.25
"""Seconds to wait for the end of the body after the end of the message."""

UNREADABLE = (KeyError, TypeError, ValueError, AttributeError)
"""What reading an event of another shape raises."""

_PACE_BYTES = 1024
_PACE_SECONDS = 0.1


class Anthropic:
    """Speaks to one Messages API with one key, which goes to `base_url` and nowhere else.

    `headers` are sent on top (a gateway's `x-api-key`, another `anthropic-version`). `read_timeout`
    is the longest silence on the wire and `quiet` the longest time without any content while
    pings still come, both in seconds. `raw` adds the server's own events. `plain_sdk` imports the
    whole SDK. Belongs to the event loop that first uses it.
    """

    def __init__(
        self,
        *,
        key: str,
        base_url: str = "",
        headers: Mapping[str, str] = {},
        read_timeout: float = 90,
        quiet: float = 300,
        raw: bool = False,
        plain_sdk: bool = False,
    ) -> None:
        self._key = key
        self._base_url = base_url or _PUBLIC
        self._headers = dict(headers)
        self._read_timeout = read_timeout
        self._quiet = quiet
        self._raw = raw
        self._plain_sdk = plain_sdk
        self._encoder = Encoder()
        self._made: tuple[Any, Any] | None = None
        self._answered = False

    def info(self, model: str) -> ModelInfo:
        return catalog.info(model)

    async def warm(self) -> None:
        """Import the SDK and make the client ahead of the first request."""
        await self._connected()

    async def close(self) -> None:
        """Close the kept connections."""
        if self._made:
            await self._made[1].close()
            self._made = None

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Retried | AssistantSaid, None]:
        began = time.monotonic()
        wanted = features.wanted(request.model, request.without)
        body, sent = self._encoder.encode(request, wanted)
        asked = failures.Asked(request.model, _host(self._base_url), sent)
        response = await self._ask(body, asked)
        accumulator = Accumulator()
        pace = _Pace(time.monotonic)
        first = 0.0
        reading = _events(response, asked, quiet=self._quiet, read_timeout=self._read_timeout)
        async with aclosing(reading) as events:
            async for event in events:
                if self._raw:
                    yield Raw(event)
                for delta in _feed(accumulator, event, asked):
                    first = first or time.monotonic()
                    if pace.lets(delta):
                        yield delta
                if accumulator.over:
                    break
        ended = time.monotonic()
        yield self._said(accumulator, asked, response, ((first or ended) - began, ended - began))

    def _said(
        self, accumulator: Accumulator, asked: failures.Asked, response: Any, seconds: tuple[float, float]
    ) -> AssistantSaid:
        outcome = accumulator.finish()
        request_id = response.headers.get("request-id", "")
        if outcome.ended == "stream_error":
            raise failures.refusal(failures.read(200, outcome.error, response.headers, request_id), asked)
        if outcome.ended == "truncated_stream":
            raise failures.truncated(asked)
        first_ms, took_ms = (round(1000 * part) for part in seconds)
        try:
            return to_said(outcome, model=asked.model, request_id=request_id, first_ms=first_ms, took_ms=took_ms)
        except UNREADABLE as error:
            raise failures.garbled(asked, error) from error

    async def _ask(self, body: bytes, asked: failures.Asked) -> Any:
        """Send the request; the response, of which only the head was read."""
        module, client = await self._connected()
        import httpx2  # by now the SDK has imported it

        try:
            # The body goes as bytes: of a dict the SDK makes a deep copy by type (0.1 s for 4 MB) and
            # encodes all of it anew for each step.
            stream = await client.post(
                "/v1/messages",
                content=body,
                cast_to=object,
                options={"headers": features.headers(asked.sent)},
                stream=True,
                stream_cls=module.AsyncStream[object],
            )
        except module.APIStatusError as error:
            self._answered = True
            raise failures.refusal(
                failures.read(error.status_code, error.body, error.response.headers, error.request_id or ""), asked
            ) from error
        except module.APIConnectionError as error:
            raise self._unconnected(asked, error, isinstance(error, module.APITimeoutError)) from error
        except (httpx2.HTTPError, httpx2.StreamError) as error:  # raised raw when the body of a no breaks off
            raise failures.dropped(asked, error) from error
        except (TypeError, ValueError) as error:
            raise failures.unsendable(asked) from error
        self._answered = True
        media_type = stream.response.headers.get("content-type", "")
        if media_type and "event-stream" not in media_type.lower():
            await stream.close()
            raise failures.no_stream(asked, media_type)
        return stream.response

    def _unconnected(self, asked: failures.Asked, error: BaseException, timed_out: bool) -> ModelError:
        import httpx2

        cause = error.__cause__ or error
        if isinstance(cause, httpx2.LocalProtocolError):
            return failures.unsendable(asked)
        connecting = _is_connecting(cause)
        if timed_out and not connecting:
            return failures.stalled(asked, self._read_timeout)
        return failures.unreachable(asked, cause, answered=self._answered or not connecting)

    async def _connected(self) -> tuple[Any, Any]:
        if self._made is None:
            self._check_key()
            module = await asyncio.to_thread(sdk.load, plain=self._plain_sdk)
            self._made = self._made or (module, self._client(module))  # another request may have come first
        return self._made

    def _check_key(self) -> None:
        if not self._key:
            raise ModelUnavailable(failures.NO_KEY, category="authentication_failed")
        if flaw := failures.key_flaw(self._key):
            raise ModelUnavailable(flaw, category="authentication_failed")

    def _client(self, module: Any) -> Any:
        import httpx2

        try:
            return module.AsyncAnthropic(
                api_key=self._key,
                base_url=self._base_url,
                max_retries=0,
                timeout=httpx2.Timeout(self._read_timeout, connect=10.0),
                default_headers=self._headers,
                open_telemetry=False,
                http_client=module.DefaultAsyncHttpxClient(
                    follow_redirects=False,
                    limits=httpx2.Limits(keepalive_expiry=_KEEP_ALIVE),
                    verify=_certificates(self._base_url),
                ),
            )
        except (httpx2.InvalidURL, ValueError, OSError) as error:
            raise ModelUnavailable(
                f"The base URL of {_host(self._base_url)} or a proxy or certificate setting cannot be used: {error}",
                category="connection",
            ) from error


def _certificates(url: str) -> ssl.SSLContext | bool:
    """What TLS trusts: the usual authorities. Plain HTTP on this machine needs none; reading them takes 40 ms."""
    if re.match(r"http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(/|$)", url):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody
    return True


def _host(url: str) -> str:
    """Host and port for messages, also of a URL that nothing can parse, and without a password in it."""
    return url.rpartition("://")[2].partition("/")[0].rpartition("@")[2] or url


async def _events(
    response: Any, asked: failures.Asked, *, quiet: float, read_timeout: float
) -> AsyncGenerator[Mapping[str, Any], None]:
    """The response's events as JSON objects; the connection is closed when this is left early."""
    import httpx2

    decoder = sdk.load().AsyncStream.raw_events(response)
    clock = asyncio.get_running_loop().time
    deadline = clock() + quiet
    try:
        async with aclosing(decoder):
            while True:
                async with asyncio.timeout_at(deadline):
                    sent = await anext(decoder, None)
                if sent is None:
                    return
                event = _parsed(sent.data) if sent.data else {"type": "ping"}
                if event.get("type") == "message_stop":
                    await _drain(decoder)
                came = clock()
                yield event
                # The time that the reader of an event takes is no silence of the server.
                deadline = clock() + quiet if event.get("type") != "ping" else deadline + clock() - came
    except TimeoutError as error:
        raise failures.stalled(asked, quiet) from error
    except httpx2.TimeoutException as error:
        raise failures.stalled(asked, read_timeout) from error
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise failures.dropped(asked, error) from error
    except ValueError as error:
        raise failures.garbled(asked, error) from error
    finally:
        await response.aclose()


async def _drain(decoder: AsyncGenerator[Any, None]) -> None:
    """Read the end of the body, which frees the connection for the next step; it nearly always came already."""
    import httpx2

    try:
        async with asyncio.timeout(_DRAIN):
            async for _ in decoder:
                pass
    except (TimeoutError, ValueError, httpx2.HTTPError, httpx2.StreamError):
        return


def _parsed(data: str) -> Mapping[str, Any]:
    event = json.loads(data)
    if not isinstance(event, dict):
        raise ValueError("an event that is no object")
    return event


def _feed(accumulator: Accumulator, event: Mapping[str, Any], asked: failures.Asked) -> list[Delta]:
    try:
        return accumulator.feed(event)
    except UNREADABLE as error:
        raise failures.garbled(asked, error) from error


def _is_connecting(cause: BaseException) -> bool:
    """Whether the connection was never made (name, refusal, certificate), and not reset after it was."""
    import httpx2

    return isinstance(
        cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol | httpx2.ProxyError
    )


class _Pace:
    """Lets a growing call be told every kilobyte or tenth of a second, not for each of its pieces."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._use = ""
        self._told = 0
        self._at = 0.0

    def lets(self, delta: Delta) -> bool:
        if not isinstance(delta, CallDelta):
            return True
        now = self._clock()
        due = delta.use_id != self._use or delta.received - self._told >= _PACE_BYTES or now - self._at >= _PACE_SECONDS
        if due:
            self._use, self._told, self._at = delta.use_id, delta.received, now
        return due
