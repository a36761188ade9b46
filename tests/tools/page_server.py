"""Pages on the loopback: a plain HTTP server with a table of answers."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    body: bytes | str = b""
    type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False


class Pages:
    """A context manager. `asked` are the paths that came, `hosts` the Host headers."""

    def __init__(self, pages: Mapping[str, Answer]) -> None:
        self.asked: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        self.over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                outer.headers.append(dict(self.headers))
                answer = pages.get(self.path, Answer("<h1>Not here</h1>", status=404))
                body = answer.body.encode() if isinstance(answer.body, str) else answer.body
                self.send_response(answer.status)
                if answer.type:
                    self.send_header("Content-Type", answer.type)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if answer.hangs:
                    outer.over.wait(30)
                try:
                    self.wfile.write(body)
                except OSError:
                    return  # the client had enough

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Pages:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
