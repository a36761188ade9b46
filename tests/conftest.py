"""Shared by all tests: no network but loopback, and a home of their own."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("ci", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci")


@pytest.fixture(autouse=True)
def _only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any connection that would leave this machine is a failure of the test."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = address[0] if isinstance(address, tuple) else ""
            assert host in ("127.0.0.1", "::1", "localhost"), f"a test tried to reach {host}"
        real(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home directory."""
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project directory."""
    path = tmp_path / "project"
    path.mkdir()
    return path.resolve()


@pytest.fixture
def program_env(home: Path) -> dict[str, str]:
    """The environment for running codeagent as a real process: no key, own home, this checkout on the path."""
    root = str(Path(__file__).resolve().parent.parent)
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "TMPDIR", "VIRTUAL_ENV")}
    keep["PATH"] = str(Path(sys.executable).parent) + os.pathsep + keep.get("PATH", "")
    return {
        **keep,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "PYTHONPATH": root,
        "PYTHONDONTWRITEBYTECODE": "",
        "TERM": "xterm-256color",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }
