"""The loopback server itself: strict, quick, exact about its cache, and of use by hand."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.loopback import KEY, Loopback, say
from tests.prefix_cache import PrefixCache

BODY: dict[str, Any] = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
}
HEADERS = {"authorization": f"Bearer {KEY}", "anthropic-version": "2026-10-21"}


@contextmanager
def connected(url: str) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"))
    try:
        yield connection
    finally:
        connection.close()


def post(connection: http.client.HTTPConnection, body: Any, headers: Any = HEADERS, path: str = "/v1/messages") -> Any:
    connection.request("POST", path, json.dumps(body), headers)
    response = connection.getresponse()
    return response.status, response.read().decode()


@pytest.mark.parametrize(
    ("change", "headers", "path", "status", "words"),
    [
        ({}, HEADERS, "/v1/complete", 404, "no such path"),
        ({}, {}, "/v1/messages", 401, "x-api-key"),
        ({}, {"x-api-key": KEY}, "/v1/messages", 400, "anthropic-version"),
        ({"model": "claude-nobody"}, HEADERS, "/v1/messages", 404, "model: claude-nobody"),
        ({"top_k": 1}, HEADERS, "/v1/messages", 400, "top_k"),
    ],
)
def test_it_refuses_what_the_api_refuses(change: Any, headers: Any, path: str, status: int, words: str) -> None:
    with Loopback([say("ok")]) as server, connected(server.url) as connection:
        got, text = post(connection, {**BODY, **change}, headers, path)
        assert (got, json.loads(text)["type"]) == (status, "error")
        assert words in text
        assert post(connection, BODY)[0] == 200


@pytest.mark.bench
def test_it_answers_in_less_than_two_milliseconds() -> None:
    long = {
        **BODY,
        "messages": [BODY["messages"][0], {"role": "assistant", "content": "x" * 500}] * 50 + BODY["messages"],
    }
    with Loopback(lambda _: say("ok")) as server, connected(server.url) as connection:
        times = []
        for _ in range(50):
            began = time.perf_counter()
            assert post(connection, long)[0] == 200
            times.append(time.perf_counter() - began)
    print(f"best {1000 * min(times):.2f} ms, median {1000 * sorted(times)[25]:.2f} ms")
    assert min(times) < 0.002


def test_the_cache_reads_exactly_what_was_written() -> None:
    cache = PrefixCache()
    mark = {"cache_control": {"type": "ephemeral"}}

    def figures(*texts: str, system: str = "s" * 400) -> tuple[int, int, int]:
        blocks = [{"type": "text", "text": words} for words in texts]
        body = {"system": [{"type": "text", "text": system, **mark}], "messages": [{"role": "user", "content": blocks}]}
        blocks[-1].update(mark)
        usage = cache.figures(body)
        return tuple(usage[f"{kind}input_tokens"] for kind in ("", "cache_read_", "cache_creation_"))  # type: ignore[return-value]

    none, read, written = figures("a" * 400)
    assert (none, read) == (0, 0)
    assert figures("a" * 400) == (0, written, 0)
    _, read, more = figures("a" * 400, "b" * 400)
    assert read == written
    assert more > 100
    assert 0 < figures("changed", "b" * 400)[1] < written
    assert figures("a" * 400, system="other")[1] == 0
    far = ["a" * 400, "b" * 400, *(str(i) for i in range(30))]
    assert figures(*far)[1] < written


def test_it_serves_a_script_file(tmp_path: Path) -> None:
    script, log = tmp_path / "script.json", tmp_path / "log.jsonl"
    script.write_text(
        json.dumps(
            [{"say": "hello", "calls": [{"name": "read", "input": {}}]}, {"status": 529, "type": "overloaded_error"}]
        )
    )
    program = Path(__file__).with_name("loopback.py")
    command = [sys.executable, str(program), "--script", str(script), "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            with connected(server.stdout.readline().strip()) as connection:
                status, text = post(connection, BODY)
                assert status == 200
                assert '"text": "hello"' in text
                assert '"name": "read"' in text
                assert post(connection, BODY)[0] == 529
                assert "no further reply" in post(connection, BODY)[1]
        finally:
            server.terminate()
    assert [json.loads(line)["body"] for line in log.read_text().splitlines()] == [BODY] * 3
