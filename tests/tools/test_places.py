"""How tools name what they found."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.core.effects import Touch
from codeagent.host.workspace import Workspace
from codeagent.tools.places import shown_within


@pytest.mark.parametrize(
    ("named", "shown"),
    [("/", "/etc/hosts"), ("/srv", "/srv/etc/hosts"), ("..", "../etc/hosts"), (".", "etc/hosts")],
)
def test_a_found_path_is_named_as_the_call_named_its_folder(tmp_path: Path, named: str, shown: str) -> None:
    workspace = Workspace(tmp_path, tmp_path, tmp_path / "spill", {})
    touch = Touch(str((tmp_path / named).resolve()), "read", "outside", named)
    assert shown_within(touch, workspace)("etc/hosts") == shown
