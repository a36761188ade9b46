"""Commands that only build or test: MEDIUM. They run code of the project, so they are asked by default."""

from __future__ import annotations

from codeagent.shell.options import listed

_SAFE_TARGETS = listed(
    "all build check checks clean-test compile cover coverage fmt format lint test tests typecheck types unit"
)
_MODULES = listed("pytest unittest mypy ruff black isort flake8 pylint pyright compileall coverage build doctest")
_ALWAYS = listed(
    "pytest py.test mypy pyright flake8 pylint ruff black isort tsc eslint prettier jest vitest mocha ava ctest rspec "
    "rubocop phpunit shellcheck shfmt gofmt golangci-lint rustfmt clang-format clang-tidy biome oxlint stylelint"
)
_SUBCOMMANDS: dict[str, frozenset[str]] = {
    "bazel": frozenset({"build", "test"}),
    "bun": frozenset({"test"}),
    "cargo": listed("b bench build c check clippy doc fmt nextest t test"),
    "deno": frozenset({"test", "check", "lint", "fmt"}),
    "dotnet": frozenset({"build", "test", "format"}),
    "go": frozenset({"build", "test", "vet", "fmt"}),
    "gradle": frozenset({"build", "test", "check", "assemble"}),
    "mvn": frozenset({"compile", "test", "verify", "package", "test-compile"}),
    "swift": frozenset({"build", "test"}),
    "zig": frozenset({"build", "test", "fmt"}),
}
_TARGETED = frozenset({"make", "gmake", "just", "ninja", "task", "rake", "tox", "nox"})
_LEAVES_THE_MACHINE = frozenset({"deploy", "publish", "push", "release", "upload"})
_SCRIPTED = frozenset({"npm", "pnpm", "yarn", "bun"})
_RUNNERS = frozenset(
    {("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("hatch", "run"), ("pipenv", "run"), ("bundle", "exec")}
)


def builds_or_tests(words: tuple[str, ...]) -> bool:
    """Is this a command whose only business is to build, check or test the project?"""
    name, rest = words[0], words[1:]
    verb = rest[0] if rest else ""
    if (name, verb) in _RUNNERS and len(rest) > 1:
        return builds_or_tests(rest[1:])
    if name in {"python", "python3"}:
        return verb == "-m" and len(rest) > 1 and rest[1] in _MODULES
    if name in _ALWAYS:
        return True
    if name in _TARGETED:
        targets = [word for word in rest if not word.startswith("-") and "=" not in word and not word.isdigit()]
        return all(target in _SAFE_TARGETS for target in targets)
    if name == "cmake":
        return verb == "--build"
    if verb in _SUBCOMMANDS.get(name, ()):
        return True
    return name in _SCRIPTED and _script(rest)


def _script(rest: tuple[str, ...]) -> bool:
    """`npm test`, `npm run lint`, `yarn build`, `npm run test:unit`."""
    words = [word for word in rest if word not in {"run", "run-script", "-s", "--silent"}]
    if not words:
        return False
    pieces = words[0].split(":")
    return words[0] == "t" or (pieces[0] in _SAFE_TARGETS and not _LEAVES_THE_MACHINE & set(pieces))
