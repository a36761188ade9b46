"""Prepares the tour: a broken little shop in a directory of its own, and the recording that mends it."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

PROMPT = "the cart total is wrong when there is a discount, please fix it"
PACE = 110
"""Characters a second: alive, and the whole tour takes under 20 s if every question is answered at once."""


@dataclass(frozen=True)
class Tour:
    """What a session of the tour starts with.

    `root` is the sample project, `script` the recording for `script:FILE`, `rules` the allow rules
    that leave one question to the person: the edit. `pace` is in characters a second.
    """

    root: Path
    script: Path
    prompt: str
    rules: tuple[str, ...]
    pace: float = PACE


def prepare(target: Path | None = None, *, search_path: str = "") -> Tour:
    """Copy the sample into `target`, or into a new temporary directory, and fill in its recording.

    `search_path` is the PATH of the commands that will run: where it has no `python3`, the Python
    that runs codeagent stands in. Raises OSError when nothing can be written there.
    """
    folder = (target or _temporary()).resolve()
    root = folder / "shop"
    _copy(Path(__file__).with_name("sample"), root)
    python = _python(search_path)
    script = folder / "tour.script"
    recording = Path(__file__).with_name("tour.script").read_text(encoding="utf-8")
    filled = recording.replace("%PYTHON%", json.dumps(python, ensure_ascii=False)[1:-1]).replace("%ROOT%", str(root))
    script.write_text(filled, encoding="utf-8")
    return Tour(root, script, PROMPT, (f"Bash({python} -m unittest -q)",))


def _temporary() -> Path:
    from tempfile import mkdtemp

    return Path(mkdtemp(prefix="codeagent-demo-"))


def _copy(source: Path, target: Path) -> None:
    """The sample's files, each without the `.txt` that keeps test runners and linters off it."""
    target.mkdir(parents=True, exist_ok=True)
    for item in sorted(source.iterdir()):
        if item.is_dir():
            _copy(item, target / item.name)
        elif item.suffix == ".txt":
            (target / item.stem).write_bytes(item.read_bytes())


def _python(search_path: str) -> str:
    folders = [Path(name) for name in search_path.split(os.pathsep) if name]
    if not folders or any(os.access(folder / "python3", os.X_OK) for folder in folders):
        return "python3"
    return shlex.quote(sys.executable)
