"""What is known of each model: window, output limit, price, effort levels, names. A table with a date."""

from __future__ import annotations

import re
from typing import NamedTuple

from codeagent.core.messages import Usage
from codeagent.core.modes import EFFORTS
from codeagent.core.ports import ModelInfo, Price

DATE = "2026-11-29"
"""The day on which the prices were read from the public list."""

DEFAULT = "claude-sonnet-5-5"

ALIASES = {
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
    "fable": "claude-fable-5-2",
}

_MILLION = 1_000_000
_NO_XHIGH = ("low", "medium", "high", "max")
_DENSE = 2.5
"""Characters a token of the tokenizer used since 4.7; it makes about 30 % more tokens than the one before."""


def _price(input_: float, output: float, write: float, write_1h: float, read: float) -> Price:
    return Price(input_, output, write, write_1h, read, DATE)


def _modern(id_: str, short: str, price: Price | None) -> ModelInfo:
    return ModelInfo(id_, short, _MILLION, 128_000, price, _DENSE, EFFORTS)


_OPUS_4 = _price(5, 25, 6.25, 10, 0.50)

_MODELS = {
    model.id: model
    for model in (
        _modern("claude-sonnet-5-5", "Sonnet 5.5", _price(2, 10, 2.50, 4, 0.10)),
        _modern("claude-opus-5-5", "Opus 5.5", _price(4, 20, 5, 8, 0.20)),
        _modern("claude-haiku-5-5", "Haiku 5.5", _price(0.10, 0.50, 0.125, 0.20, 0.01)),
        # The list names no cache prices for it, so a cost would be a guess.
        _modern("claude-fable-5-2", "Fable 5.2", None),
        _modern("claude-fable-5-1", "Fable 5.1", _price(10, 50, 12.50, 20, 0.25)),
        _modern("claude-opus-5", "Opus 5", _price(5, 25, 6.25, 10, 0.50)),
        _modern("claude-sonnet-5", "Sonnet 5", _price(2, 10, 2.50, 4, 0.20)),
        _modern("claude-opus-4-8", "Opus 4.8", _OPUS_4),
        _modern("claude-opus-4-7", "Opus 4.7", _OPUS_4),
        ModelInfo("claude-opus-4-6", "Opus 4.6", _MILLION, 128_000, _OPUS_4, 3.3, _NO_XHIGH),
        ModelInfo("claude-sonnet-4-6", "Sonnet 4.6", _MILLION, 128_000, _price(3, 15, 3.75, 6, 0.30), 3.3, _NO_XHIGH),
        ModelInfo("claude-haiku-4-5", "Haiku 4.5", 200_000, 64_000, _price(1, 5, 1.25, 2, 0.10)),
    )
}

_LONG = {"claude-haiku-5-5": (100_000, _price(0.50, 2.50, 0.625, 1, 0.05))}
"""Models that cost more above a prompt length in tokens."""

_NAME = re.compile(r"(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:[-.](\d{1,2})(?!\d))?")


class Family(NamedTuple):
    """Kind and version of a Claude model, read from its name: `("sonnet", (5, 5))`."""

    kind: str
    version: tuple[int, int]


def family(model: str) -> Family | None:
    """Kind and version from a name, also as gateways write it (`anthropic/claude-sonnet-5.5`); None: no Claude."""
    found = _NAME.search(model) if "claude" in model else None
    return Family(found[1], (int(found[2]), int(found[3] or 0))) if found else None


def _known(model: str) -> ModelInfo | None:
    if model in _MODELS:
        return _MODELS[model]
    kind = family(model)
    if kind is None:
        return None
    major, minor = kind.version
    return _MODELS.get(f"claude-{kind.kind}-{major}-{minor}" if minor else f"claude-{kind.kind}-{major}")


def is_known(model: str) -> bool:
    """Whether the table has figures for this model."""
    return _known(model) is not None


def info(model: str) -> ModelInfo:
    """What is known of this model; an unknown one gets a window of 200k, an output limit of 32k and no price.

    A dated or prefixed name (`claude-haiku-4-5-20251001`) gets the figures of its model.
    """
    known = _known(model)
    if known is None:
        return ModelInfo(model, model, 200_000, 32_000)
    if known.id == model:
        return known
    return ModelInfo(
        model, known.short, known.window, known.max_output, known.price, known.chars_per_token, known.efforts
    )


def cost(model: str, usage: Usage) -> float | None:
    """Dollars for this usage, with the price for long prompts where there is one; None when the price is unknown."""
    known = _known(model)
    if known is None or known.price is None:
        return None
    limit, dearer = _LONG.get(known.id, (0, known.price))
    return (dearer if limit and usage.prompt > limit else known.price).cost(usage)


def resolve(name: str) -> str:
    """The model id for an alias (`opus`) or a name without its `claude-`; anything else as it is."""
    plain = name.strip()
    if plain.lower() in ALIASES:
        return ALIASES[plain.lower()]
    return f"claude-{plain}" if f"claude-{plain}" in _MODELS else plain


def nearest(name: str) -> tuple[str, ...]:
    """Up to three known model ids that look like this name, best first."""
    import difflib  # needed only for a name that a server does not know

    return tuple(difflib.get_close_matches(name, _MODELS, n=3, cutoff=0.5))


def listed() -> tuple[tuple[str, str], ...]:
    """Every model of the table as (id, one line for a person)."""
    return tuple((model.id, _line(model)) for model in _MODELS.values())


def _line(model: ModelInfo) -> str:
    window = f"{model.window // _MILLION}M" if model.window >= _MILLION else f"{model.window // 1000}k"
    price = model.price
    money = f"${price.input:g} in, ${price.output:g} out per million tokens" if price else "price unknown"
    aliases = ", ".join(alias for alias, id_ in ALIASES.items() if id_ == model.id)
    return f"{model.short} · " + (f"also {aliases} · " if aliases else "") + f"{window} window · {money}"
