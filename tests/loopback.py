"""A strict Messages API server on the loopback, for tests and by hand: scripted replies, faults, figures of a cache.

In a test: `with Loopback([say("hello"), call("read", path="a.py")]) as server: ... server.url ...`.
By hand: `python tests/loopback.py --script FILE [--log FILE]` prints its URL and serves until it is ended;
the script is a JSON list of objects such as `{"say": "hello"}`, `{"calls": [{"name": "read", "input": {}}]}`,
`{"status": 529, "type": "overloaded_error", "message": "..."}`. Standard library only; an answer takes about 1 ms.
"""

from __future__ import annotations

import argparse
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codeagent.models import catalog
from codeagent.models.check import problems
from tests.prefix_cache import PrefixCache
from tests.replies import Reply, call, events, fail, frame, from_json, raw_call, say, stream, think

__all__ = ["KEY", "Loopback", "Reply", "Seen", "call", "fail", "from_json", "raw_call", "say", "stream", "think"]

KEY = "test-key"


@dataclass(frozen=True)
class Seen:
    """A request as it arrived: monotonic time, path, lower-case headers, body, and the prompt's figures."""

    at: float
    path: str
    headers: Mapping[str, str]
    body: Any
    usage: Mapping[str, Any]
    problems: Sequence[str] = ()


Script = Iterable[Reply | Callable[[Any], Reply]] | Callable[[Any], Reply]


class Loopback:
    """The server; a context manager. `requests` are what arrived, `left` is set when a client leaves a stream early."""

    def __init__(
        self, replies: Script = (), *, key: str = KEY, models: Sequence[str] = (), strict: bool = True, delay: float = 0
    ) -> None:
        self.requests: list[Seen] = []
        self.answered: list[float] = []
        """Monotonic time after the last byte of each answered stream."""
        self.connections = 0
        self.left = threading.Event()
        self._script = replies if callable(replies) else iter(replies)
        self._key = key
        self._models = {id_ for id_, _ in catalog.listed()} | set(models)
        self._strict = strict
        self._delay = delay
        self._cache = PrefixCache()
        self._calls = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Loopback:
        threading.Thread(target=self._accept, name="loopback", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        _shut(self._listener)  # wakes the thread in accept, which a close alone does not
        self._listener.close()
        with self._lock:
            for connection in self._open:
                _shut(connection)

    @property
    def bodies(self) -> list[Any]:
        """The bodies of the requests that arrived."""
        return [seen.body for seen in self.requests]

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self.connections += 1
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as reader:
                while head := _head(reader):
                    path, headers = head
                    data = reader.read(int(headers.get("content-length", 0)))
                    if not self._answer(connection, path, headers, data):
                        return
        except OSError:
            self.left.set()
        finally:
            with self._lock:
                self._open.discard(connection)

    def _answer(self, connection: socket.socket, path: str, headers: Mapping[str, str], data: bytes) -> bool:
        """Answer one request; False when the connection is of no further use."""
        at = time.monotonic()
        try:
            body = json.loads(data)
        except ValueError:
            body = {}
        reply, found = self._refuse(path, headers, body)
        with self._lock:
            usage = self._cache.figures(body) if reply is None else {}
            self.requests.append(Seen(at, path, headers, body, usage, found))
            if reply is None:
                reply = self._next(body)
                reply = replace(reply, blocks=tuple(self._numbered(block) for block in reply.blocks))
            number = len(self.requests)
        if reply.status != 200:
            connection.sendall(_error(reply, number))
            return not reply.fault
        return self._send(connection, reply, body, usage, number)

    def _refuse(self, path: str, headers: Mapping[str, str], body: Any) -> tuple[Reply | None, Sequence[str]]:
        """The server's own no, before the script is asked."""
        if not self._strict:
            return None, ()
        sent = headers.get("authorization", "").removeprefix("Bearer ") or headers.get("x-api-key", "")
        if path != "/v1/messages":
            return fail(404, "not_found_error", f"no such path: {path}"), ()
        if sent != self._key:
            return fail(401, "authentication_error", "invalid x-api-key"), ()
        if "anthropic-version" not in headers:
            return fail(400, "invalid_request_error", "anthropic-version: header is required"), ()
        if body.get("model") not in self._models:
            return fail(404, "not_found_error", f"model: {body.get('model')}"), ()
        found = problems(body)
        return (fail(400, "invalid_request_error", found[0]) if found else None), found

    def _next(self, body: Any) -> Reply:
        if callable(self._script):
            return self._script(body)
        reply = next(self._script, None)
        if reply is None:
            return fail(400, "invalid_request_error", "the script of this server has no further reply")
        return reply(body) if callable(reply) else reply

    def _numbered(self, block: Mapping[str, Any]) -> Mapping[str, Any]:
        if block["type"] != "tool_use" or "id" in block:
            return block
        self._calls += 1
        return {"id": f"toolu_{self._calls:04d}", **block}

    def _send(self, connection: socket.socket, reply: Reply, body: Any, usage: Any, number: int) -> bool:
        extra = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        kind = "" if "content-type" in reply.headers else "content-type: text/event-stream\r\n"
        head = f"HTTP/1.1 200 OK\r\n{kind}request-id: req_{number:04d}\r\n{extra}transfer-encoding: chunked\r\n\r\n"
        connection.sendall(head.encode())
        if reply.body is not None:
            step = reply.pieces or len(reply.body) or 1
            parts: Iterable[bytes] = (reply.body[i : i + step] for i in range(0, len(reply.body), step))
            for part in parts if reply.pieces else [reply.body]:
                _chunk(connection, part)
        elif not self._events(connection, reply, body, usage, number):
            return False
        connection.sendall(b"0\r\n\r\n")
        self.answered.append(time.monotonic())
        return True

    def _events(self, connection: socket.socket, reply: Reply, body: Any, usage: Any, number: int) -> bool:
        """Send the events; False when the connection shall close without an end of the body."""
        pause = reply.delay or self._delay
        waiting = bytearray()
        for position, event in enumerate(events(reply, str(body.get("model")), usage, number)):
            if reply.fault and position == reply.at:
                _chunk(connection, waiting)
                return self._fault(connection, reply)
            waiting += frame(event)
            if pause or len(waiting) > 65536:
                _chunk(connection, waiting)
                waiting.clear()
                if pause and self._ended.wait(pause):
                    return False
        _chunk(connection, waiting)
        return True

    def _fault(self, connection: socket.socket, reply: Reply) -> bool:
        match reply.fault:
            case "cut":
                return True
            case "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            case "error":
                _chunk(connection, frame({"type": "error", "error": {"type": reply.type, "message": reply.message}}))
                return True
            case "garble":
                _chunk(connection, b'event: content_block_delta\ndata: {"type": "content_blo\n\n')
                return True
            case "pings" | "comments":
                beat = b": still here\n\n" if reply.fault == "comments" else frame({"type": "ping"})
                while not self._ended.wait(reply.delay or 0.02):
                    _chunk(connection, beat)
            case _:
                self._await_leaving(connection)
        return False

    def _await_leaving(self, connection: socket.socket) -> None:
        if not connection.recv(1):
            self.left.set()
        _shut(connection)


# --- the wire --------------------------------------------------------------------------------


def _head(reader: Any) -> tuple[str, dict[str, str]] | None:
    line = reader.readline()
    if not line:
        return None
    headers: dict[str, str] = {}
    while (header := reader.readline()) not in (b"\r\n", b""):
        name, _, value = header.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return line.split()[1].decode(), headers


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def _chunk(connection: socket.socket, data: bytes | bytearray) -> None:
    if data:
        connection.sendall(b"%x\r\n%b\r\n" % (len(data), data))


def _error(reply: Reply, number: int) -> bytes:
    body = reply.body
    if body is None:
        error = {"type": reply.type, "message": reply.message, **reply.extra}
        body = json.dumps({"type": "error", "error": error, "request_id": f"req_{number:04d}"}).encode()
    own = {"content-type": "application/json", "request-id": f"req_{number:04d}", "content-length": str(len(body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**own, **reply.headers}.items())
    return f"HTTP/1.1 {reply.status} No\r\n{lines}\r\n".encode() + body


def main() -> None:
    """Serve a script file until ended."""
    parser = argparse.ArgumentParser(description="A scripted Messages API server on the loopback.")
    parser.add_argument("--script", type=Path, required=True, help="JSON list of replies")
    parser.add_argument("--key", default=KEY)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each event")
    parser.add_argument("--loop", action="store_true", help="begin again when the script is over")
    parser.add_argument("--log", type=Path, help="append each request body as a JSON line")
    options = parser.parse_args()
    replies = [from_json(data) for data in json.loads(options.script.read_text())]
    count = 0

    def answer(body: Any) -> Reply:
        nonlocal count
        if options.log:
            with options.log.open("a") as log:
                log.write(json.dumps({"at": time.monotonic(), "body": body}) + "\n")
        count += 1
        if count > len(replies) and not options.loop:
            return fail(400, "invalid_request_error", "the script of this server has no further reply")
        return replies[(count - 1) % len(replies)]

    with Loopback(answer, key=options.key, delay=options.delay) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
