"""Imports the Anthropic SDK, once and cheaply; no other module imports it.

A plain `import anthropic` loads 3,152 modules in 0.7 to 1.4 s, most of them types of services that
codeagent never calls. Here the big sub-packages are answered with empty stand-ins while the import
runs: 250 modules, a fifth of the time. If anything about that surprises, the plain import is made.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import importlib
import sys
import threading
import types
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from typing import Any

SKIPPED = (
    "anthropic.types",
    "anthropic.resources.beta",
    "anthropic.resources.files",
    "anthropic.resources.models",
    "anthropic.resources.organization",
    "anthropic.resources.skills",
    "anthropic.resources.user_profiles",
    "anthropic.lib._parse",
    "anthropic.lib.aws",
    "anthropic.lib.bedrock",
    "anthropic.lib.foundry",
    "anthropic.lib.google_cloud",
    "anthropic.lib.middleware",
    "anthropic.lib.streaming",
    "anthropic.lib.threads",
    "anthropic.lib.tools",
    "anthropic.lib.vertex",
)
"""What is not imported: all typed models (we read and write plain JSON), services other than messages,
other clouds' clients, the tool runner and the SDK's own stream helpers."""

SURPRISES = (ImportError, AttributeError, TypeError, ValueError, LookupError, NameError, RuntimeError, AssertionError)
"""What an import or a call can raise when a part is missing."""

_LOADING = threading.Lock()
"""Two threads that load at once would see each other's half of the import."""


class _Anything:
    """What a stand-in's names are made of: a base class that takes keywords, and can be subscripted."""

    def __init_subclass__(cls, **_: Any) -> None:
        super().__init_subclass__()

    def __class_getitem__(cls, _: object) -> type:
        return cls


class _StandIn(types.ModuleType):
    """A module that has every public name, each an empty class."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__dict__.update(__all__=[], __path__=[])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (_Anything,), {"__module__": self.__name__})
        setattr(self, name, made)
        return made


class _StandInFinder:
    """Answers the imports of the skipped packages and of everything below them.

    It is no subclass of `importlib.abc`, which costs 15 ms to import.
    """

    def __init__(self, skipped: Iterable[str]) -> None:
        self._skipped = frozenset(skipped)

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        parts = fullname.split(".")
        if any(".".join(parts[:end]) in self._skipped for end in range(2, len(parts) + 1)):
            loader: Any = self
            return ModuleSpec(fullname, loader, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run: the names are made when they are asked for."""


def load(*, plain: bool = False, skipped: Sequence[str] = SKIPPED) -> Any:
    """The `anthropic` module; may be called in a thread. `plain` imports all of it.

    What is loaded is moved out of the garbage collector's sight, which saves 0.25 s at exit.
    Raises ImportError when the package is not installed.
    """
    with _LOADING:
        if "anthropic" in sys.modules:
            return sys.modules["anthropic"]
        collecting = gc.isenabled()
        gc.disable()
        try:
            return importlib.import_module("anthropic") if plain else _load_trimmed(skipped)
        finally:
            gc.freeze()
            if collecting:
                gc.enable()


def _load_trimmed(skipped: Sequence[str]) -> Any:
    finder = _StandInFinder(skipped)
    sys.meta_path.insert(0, finder)
    try:
        sdk = importlib.import_module("anthropic")
        _drop_unraisable(importlib.import_module("anthropic._error_classes").ERROR_CLASSES)
        _try_out(sdk)
    except SURPRISES:  # a release that needs what we skip
        _forget()
    else:
        return sdk
    finally:
        sys.meta_path.remove(finder)
    return importlib.import_module("anthropic")


def _drop_unraisable(classes: dict[Any, type]) -> None:
    """Forget errors whose class is a stand-in: the class for the bare status is raised in their place."""
    for key in [key for key, made in classes.items() if not issubclass(made, BaseException)]:
        del classes[key]


def _try_out(sdk: Any) -> None:
    """One call and one error through the SDK, without a connection (5 ms); raises what it finds wrong.

    It runs in a thread of its own, because the calling one may have a running event loop.
    """
    failures: list[Exception] = []

    def run() -> None:
        try:
            asyncio.run(_one_call(sdk))
        except SURPRISES as failure:
            failures.append(failure)

    thread = threading.Thread(target=run, name="sdk-try-out")
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


async def _one_call(sdk: Any) -> None:
    http = importlib.import_module("httpx2")
    answers = [http.Response(200, content=b"event: ping\ndata: {}\n\n"), http.Response(400, json={"error": {}})]
    transport = http.MockTransport(lambda _: answers.pop(0))
    async with sdk.AsyncAnthropic(
        api_key="-",
        base_url="http://127.0.0.1",
        max_retries=0,
        open_telemetry=False,
        http_client=http.AsyncClient(transport=transport),
    ) as client:
        ask = functools.partial(
            client.messages.create, max_tokens=1, messages=(), model="-", stream=True, extra_body={"system": []}
        )
        events = [event.data async for event in sdk.AsyncStream.raw_events((await ask()).response)]
        if events != ["{}"]:
            raise ValueError(f"the stream gave {events}")
        try:
            await ask()
        except sdk.BadRequestError as error:
            if not isinstance(error, sdk.APIStatusError) or error.status_code != 400:
                raise TypeError("the error is not typed") from error
        else:
            raise ValueError("a 400 raised no error")


def _forget() -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "anthropic"]:
        del sys.modules[name]
