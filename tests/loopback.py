"""A strict Messages API server on the loopback, for tests and by hand: scripted replies, faults, figures of a cache.

In a test: `with Loopback([say("hello"), call("read", path="a.py")]) as server: ... server.url ...`.
By hand: `python tests/loopback.py --script FILE [--log FILE]` prints its URL and serves until it is ended;
the script is a JSON list of objects such as `{"say": "hello"}`, `{"calls": [{"name": "read", "input": {}}]}`,
`{"status": 529, "type": "overloaded_error", "message": "..."}`. Standard library only; an answer takes about 1 ms.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codeagent.models import catalog
from codeagent.models.check import problems

KEY = "test-key"
LOOK_BACK = 20
"""Blocks that a cache read looks back from a mark."""

CHARS_PER_TOKEN = 4


@dataclass(frozen=True)
class Reply:
    """One answer. `fault` happens before event number `at` (0 is `message_start`) of a stream that begins well:

    `cut` ends the body in order, `reset` resets the connection, `stall` falls silent until the client
    leaves, `pings` and `comments` send only those from there on, `error` sends an error event with
    `type` and `message`, `garble` sends what is no JSON.
    """

    blocks: tuple[Mapping[str, Any], ...] = ()
    stop: str = ""
    status: int = 200
    type: str = "api_error"
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""
    at: int = 0
    body: bytes | None = None
    pieces: int = 0
    delay: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __add__(self, other: Reply) -> Reply:
        return replace(other, blocks=(*self.blocks, *other.blocks))


def say(text: str, **fields: Any) -> Reply:
    """A reply that is words."""
    return Reply(({"type": "text", "text": text},), **fields)


def think(text: str, signature: str = "c2lnbmVk") -> Reply:
    """Thinking, to be added before something else."""
    return Reply(({"type": "thinking", "thinking": text, "signature": signature},))


def call(name: str, /, **arguments: Any) -> Reply:
    """A call of a tool. Calls and words can be added: `say("I look.") + call("read", path="a.py")`."""
    return Reply(({"type": "tool_use", "name": name, "input": arguments},))


def raw_call(name: str, text: str, **fields: Any) -> Reply:
    """A call whose input is this text, JSON or not."""
    return Reply(({"type": "tool_use", "name": name, "raw": text},), **fields)


def fail(status: int, kind: str, message: str, **headers: str) -> Reply:
    """An HTTP error; `retry_after="2"` becomes the header `retry-after`."""
    return Reply(
        status=status, type=kind, message=message, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


def stream(body: bytes, pieces: int = 0) -> Reply:
    """A recorded event stream, byte for byte, in pieces of this size."""
    return Reply(body=body, pieces=pieces)


def from_json(data: Mapping[str, Any]) -> Reply:
    """A reply from one object of a script file."""
    blocks = Reply()
    if "think" in data:
        blocks += think(data["think"])
    if "say" in data:
        blocks += say(data["say"])
    for use in data.get("calls", ()):
        blocks += call(use["name"], **use.get("input", {}))
    rest = {k: v for k, v in data.items() if k not in ("think", "say", "calls")}
    return replace(blocks, **rest)


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
            return True
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
    headers = {"content-type": "application/json", "request-id": f"req_{number:04d}", **reply.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {reply.status} No\r\n{lines}content-length: {len(body)}\r\n\r\n".encode() + body


def frame(event: Mapping[str, Any]) -> bytes:
    """An event as it goes over the wire."""
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def events(reply: Reply, model: str, usage: Mapping[str, Any], number: int) -> Iterator[Mapping[str, Any]]:
    """The events of a reply, as the API sends them."""
    calls = any(block["type"] == "tool_use" for block in reply.blocks)
    written = sum(len(json.dumps(block)) for block in reply.blocks) // CHARS_PER_TOKEN + 1
    message = {"id": f"msg_{number:04d}", "type": "message", "role": "assistant", "model": model, "content": []}
    empty = {"stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": {**message, **empty, "usage": {**usage, "output_tokens": 1}}}
    for index, block in enumerate(reply.blocks):
        start, deltas = _grown(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = reply.stop or ("tool_use" if calls else "end_turn")
    delta = {"stop_reason": stop, "stop_sequence": None, **reply.extra}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": written}}
    yield {"type": "message_stop"}


def _grown(block: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """How a block begins, and the deltas that make it whole."""
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": p} for p in _cut(block["text"])]
        case "thinking":
            words = [{"type": "thinking_delta", "thinking": part} for part in _cut(block["thinking"])]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*words, signed]
        case "tool_use":
            raw = block["raw"] if "raw" in block else json.dumps(block["input"], ensure_ascii=False)
            start = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
            return start, [{"type": "input_json_delta", "partial_json": part} for part in ["", *_cut(raw)]]
        case _:
            return block, []


def _cut(text: str, size: int = 40) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


class PrefixCache:
    """An exact prefix cache: a mark writes, a read finds the longest written prefix near a mark."""

    def __init__(self) -> None:
        self._written: set[bytes] = set()

    def figures(self, body: Any) -> dict[str, Any]:
        """Usage of the prompt in tokens of four characters."""
        digest = hashlib.sha256(str(body.get("model")).encode())
        prefixes: list[tuple[bytes, int]] = []
        marks: list[tuple[int, str]] = []
        chars = 0
        for part in _parts(body):
            mark = part.get("cache_control")
            text = json.dumps({k: v for k, v in part.items() if k != "cache_control"}, sort_keys=True)
            digest.update(text.encode())
            chars += len(text)
            prefixes.append((digest.digest(), chars // CHARS_PER_TOKEN))
            if mark:
                marks.append((len(prefixes) - 1, mark.get("ttl", "5m")))
        read = max((self._read(prefixes, at) for at, _ in marks), default=0)
        made = prefixes[marks[-1][0]][1] - read if marks else 0
        self._written.update(prefixes[at][0] for at, _ in marks)
        hour = made if marks and marks[-1][1] == "1h" else 0
        return {
            "input_tokens": chars // CHARS_PER_TOKEN - read - made,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": made,
            "cache_creation": {"ephemeral_5m_input_tokens": made - hour, "ephemeral_1h_input_tokens": hour},
        }

    def _read(self, prefixes: Sequence[tuple[bytes, int]], mark: int) -> int:
        for at in range(mark, max(-1, mark - LOOK_BACK), -1):
            if prefixes[at][0] in self._written:
                return prefixes[at][1]
        return 0


def _parts(body: Any) -> Iterator[Mapping[str, Any]]:
    """The prompt's parts in the order in which it is read."""
    yield from body.get("tools") or ()
    system = body.get("system") or ()
    yield from [{"type": "text", "text": system}] if isinstance(system, str) else system
    for message in body.get("messages") or ():
        content = message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield {"role": message.get("role"), **block}


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
