"""Picks the model by its name: `script:FILE`, `offline`, `faulty:PLAN:NAME`, else the Messages API."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from codeagent.core.errors import ModelError, ModelUnavailable
from codeagent.core.events import AssistantSaid, Delta, Retried
from codeagent.core.messages import Request
from codeagent.core.ports import Model, ModelInfo
from codeagent.models import catalog

if TYPE_CHECKING:
    from codeagent.models.anthropic import Anthropic

LOCAL = ("script:", "offline", "faulty:", "given:")
"""Beginnings of names that need no key and no network."""

NO_KEY = (
    "There is no API key. Set one: export ANTHROPIC_API_KEY=sk-ant-...  "
    "Or try without a model: codeagent demo, or codeagent --model offline"
)


def keyless(model: str) -> str:
    """Why this model cannot be asked without a key, in words; of a name that nobody knows, that first."""
    if catalog.is_known(model):
        return NO_KEY
    near = catalog.nearest(model)
    hint = f"Did you mean {' or '.join(near)}?" if near else "All models: codeagent models"
    return f"No model {model!r} is known here. {hint}\n{NO_KEY}"


class Access(Struct, frozen=True):
    """How to reach the Messages API: the key goes to `base_url` and nowhere else."""

    key: str = ""
    base_url: str = ""
    headers: Mapping[str, str] = {}
    plain_sdk: bool = False


def is_local(name: str) -> bool:
    """Whether this model needs no key."""
    return name.startswith(LOCAL)


def resolve(name: str) -> str:
    """The full id of a model as a person names it; an empty name gives the default."""
    if is_local(name):
        return name
    return catalog.resolve(name) if name else catalog.DEFAULT


class Choice:
    """Implements ports.Model for every name; adapters are made when they are first needed.

    `key` is asked once, when the Messages API is first used. `pace` is for scripts, in characters a
    second; `raw` adds the server's own events; `record` is a file that gets what is heard as a script.
    `given` is the model behind names that begin with `given:`, for programs that bring their own.
    """

    def __init__(
        self,
        access: Callable[[], Access],
        *,
        pace: float = 0,
        raw: bool = False,
        record: Path | None = None,
        given: Model | None = None,
    ) -> None:
        self._access, self._pace, self._raw, self._record = access, pace, raw, record
        self._given = given
        self._made: dict[str, Model] = {}
        self._direct: list[Anthropic] = []
        """Those with connections, below the retries and recordings around them."""

    def info(self, model: str) -> ModelInfo:
        return self._adapter(model).info(model) if is_local(model) else catalog.info(model)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Retried | AssistantSaid, None]:
        parts = cast("AsyncGenerator[Any, None]", self._adapter(request.model).stream(request))
        async with aclosing(parts):
            async for part in parts:
                yield part

    async def warm(self, model: str) -> None:
        """Do what the first request would have to wait for."""
        if not is_local(model):
            self._adapter(model)
            for direct in self._direct:
                with suppress(ModelError):  # told when the request is made, which fails in the same way
                    await direct.warm()

    async def close(self) -> None:
        """Close kept connections."""
        for direct in self._direct:
            await direct.close()

    def _adapter(self, name: str) -> Model:
        kept = name if is_local(name) else ""
        if kept not in self._made:
            made = self._local(name) if is_local(name) else self._remote(name)
            self._made[kept] = made if self._record is None else _recorded(made, self._record)
        return self._made[kept]

    def _local(self, name: str) -> Model:
        if name.startswith("given:"):
            if self._given is None:
                raise ModelUnavailable(f"{name} was the model of another program. Choose one: /model")
            return self._given
        if name.startswith("script:"):
            from codeagent.models.scripted import Scripted

            return Scripted(Path(name.removeprefix("script:")), pace=self._pace)
        if name.startswith("faulty:"):
            from codeagent.models import faulty
            from codeagent.models.retry import Retrying

            plan, _, inner = name.removeprefix("faulty:").partition(":")
            return Retrying(faulty.Faulty(self._adapter(inner), faulty.plan(plan)))
        from codeagent.models.offline import Offline

        return Offline()

    def _remote(self, name: str) -> Model:
        from codeagent.models.anthropic import Anthropic
        from codeagent.models.retry import Retrying

        access = self._access()
        if not access.key:
            raise ModelUnavailable(keyless(name), category="authentication_failed")
        direct = Anthropic(
            key=access.key,
            base_url=access.base_url,
            headers=access.headers,
            raw=self._raw,
            plain_sdk=access.plain_sdk,
        )
        self._direct.append(direct)
        return Retrying(direct)


def _recorded(model: Model, path: Path) -> Model:
    from codeagent.models.recording import Recording

    return Recording(model, path)


def with_substitutes(model: Model, names: Sequence[str]) -> Model:
    """The model, with others that are asked when it cannot answer; itself when there are none."""
    if not names:
        return model
    from codeagent.models.fallback import Fallback

    return Fallback(model, names)
