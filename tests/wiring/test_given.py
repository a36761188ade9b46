"""The layer of settings that the command line makes."""

from __future__ import annotations

import pytest

from codeagent.core.errors import UsageFault
from codeagent.options import Options
from codeagent.wiring import given


def test_rules_of_flags_join_those_of_the_settings_text() -> None:
    options = Options(
        settings='{"model": "opus", "permissions": {"allow": ["Read"]}}',
        allowed_tools=("Edit",),
        disallowed_tools=("Bash",),
    )
    assert given.overlay(options) == {"model": "opus", "permissions": {"allow": ["Read", "Edit"], "deny": ["Bash"]}}


@pytest.mark.parametrize("text", ['{"permissions": 3}', '{"permissions": "deny"}', '{"permissions": null}'])
def test_permissions_that_are_no_object_are_named(text: str) -> None:
    with pytest.raises(UsageFault, match="permissions: an object is wanted"):
        given.overlay(Options(settings=text))


@pytest.mark.parametrize("text", ['{"permissions": {"allow": "Bash"}}', '{"permissions": {"allow": 3}}'])
def test_rules_that_are_no_list_are_named(text: str) -> None:
    with pytest.raises(UsageFault, match=r"permissions\.allow: a list of rules is wanted"):
        given.overlay(Options(settings=text, allowed_tools=("Read",)))
