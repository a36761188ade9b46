"""An address that sends us on to another does not get our key there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

from tests.e2e.conftest import Open

KEY = "sk-ant-api03-Not0A0Real0Key-redirected"


@contextmanager
def serving(location: str = "") -> Iterator[HTTPServer]:
    """A server that sends everybody to `location`, or is only there; `seen` are the headers of its requests."""
    seen: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(str(self.headers))
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(307 if location else 404)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        server.seen = seen  # type: ignore[attr-defined]  # for the test to look at
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_key_does_not_follow_a_redirect(program: Open) -> None:
    with serving() as other, serving(f"http://127.0.0.1:{other.server_port}/v1/messages") as first:
        made = program()
        made.env |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{first.server_port}"}
        ran = made.run("-p", "go")
    assert ran.code == 5
    assert "redirect" in ran.err
    assert any(KEY in headers for headers in first.seen)  # type: ignore[attr-defined]  # as above
    assert other.seen == []  # type: ignore[attr-defined]  # as above
