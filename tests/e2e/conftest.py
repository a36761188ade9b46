"""Fixtures of the end-to-end tests: the program on a small broken shop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.loopback import Loopback

CART = '''"""The cart."""


def total(prices, discount):
    """The sum of the prices, less the discount in percent."""
    return sum(prices) * discount / 100
'''

TESTS = """import unittest

from cart import total


class Total(unittest.TestCase):
    def test_discount(self):
        self.assertEqual(total([10, 10], 50), 10)
        self.assertEqual(total([10, 10], 25), 15)
"""

Open = Callable[..., Program]


@pytest.fixture
def shop(project: Path) -> Path:
    """A project whose one test fails."""
    (project / "cart.py").write_text(CART)
    (project / "test_cart.py").write_text(TESTS)
    return project


@pytest.fixture
def program(shop: Path, program_env: Mapping[str, str]) -> Open:
    """Makes the program in the shop, talking to a server; without one it has no key.

    Commands run without a sandbox, so that the process numbers that they tell are the system's.
    """
    free = {**program_env, "CODEAGENT_SANDBOX": "off"}

    def make(server: Loopback | None = None, **env: str) -> Program:
        return Program(shop, {**free, **env}, server.url if server else "")

    return make
