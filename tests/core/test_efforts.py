"""A model thinks at its own levels, and whatever else is named is refused with words."""

from __future__ import annotations

import pytest

from codeagent.core.errors import UsageFault
from codeagent.core.events import Switched
from codeagent.core.modes import EFFORTS
from codeagent.models import catalog
from tests.core.stage import Stage


@pytest.mark.parametrize("model", [*(name for name, _ in catalog.listed()), "offline", "llama-9"])
@pytest.mark.parametrize("level", [*EFFORTS, "nosuch", "", "HIGH"])
def test_only_a_models_own_levels_fit(model: str, level: str) -> None:
    info = catalog.info(model)
    why = info.unfit(level)
    assert (why == "") == (level in info.efforts)
    assert level in EFFORTS or "no level" in why
    assert level not in EFFORTS or info.efforts or "has no levels" in why


@pytest.mark.parametrize("level", ["nosuch", "high"])
def test_a_session_does_not_switch_to_what_there_is_not(level: str) -> None:
    stage = Stage()
    with pytest.raises(UsageFault):
        stage.agent.switch(effort=level)
    assert stage.of(Switched) == []
