"""Guidelines: which files count, in which order, what is left out, and how a change is told."""

import os
import time

import pytest

from codeagent.memory import instructions
from codeagent.memory.instructions import changes, load, recheck
from codeagent.memory.markdown import read_through


@pytest.fixture
def place(tmp_path):
    class Place:
        home = tmp_path / "home"
        root = tmp_path / "repo"
        cwd = root / "shop" / "cart"

        def put(self, name, text):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return path

        def load(self):
            return load(self.cwd, self.home, root=self.root)

        def texts(self):
            return [each.text for each in self.load().files]

    place = Place()
    place.cwd.mkdir(parents=True)
    place.home.mkdir()
    return place


def test_all_places_from_the_outermost_to_the_nearest(place):
    names = [
        "home/.claude/CLAUDE.md",
        "home/.config/codeagent/AGENTS.md",
        "home/.claude/rules/mine.md",
        "CLAUDE.md",
        "repo/CLAUDE.md",
        "repo/.claude/CLAUDE.md",
        "repo/AGENTS.md",
        "repo/.agent/AGENTS.md",
        "repo/.claude/rules/a.md",
        "repo/.claude/rules/deep/b.md",
        "repo/CLAUDE.local.md",
        "repo/shop/AGENTS.md",
        "repo/shop/cart/CLAUDE.md",
    ]
    for name in reversed(names):
        place.put(name, f"text of {name}")
    place.put("repo/shop/cart/below/CLAUDE.md", "not yet")
    place.put("repo/.claude/rules/notes.txt", "no rule")
    assert place.texts() == [f"text of {name}" for name in names]


def test_the_same_file_or_the_same_words_count_once(place):
    place.put("repo/AGENTS.md", "Use tabs.")
    (place.root / "CLAUDE.md").symlink_to("AGENTS.md")
    place.put("repo/shop/CLAUDE.md", "<!-- a copy -->\nUse tabs.\n")
    place.put("repo/shop/AGENTS.md", "@../AGENTS.md")
    assert place.texts() == ["Use tabs.", "@../AGENTS.md"]


def test_imports_are_followed_four_hops_and_no_circle(place):
    for n in range(7):
        place.put(f"repo/docs/{n}.md", f"number {n} @{n + 1}.md and @{max(n - 1, 0)}.md")
    place.put("repo/CLAUDE.md", "See @docs/0.md, (@docs/0.md) or ask @ada. Mail a@docs/5.md. `@docs/6.md`")
    found = place.load()
    assert [each.text[:8] for each in found.files] == ["See @doc", *(f"number {n}" for n in range(4))]
    assert len(found.problems) == 1
    assert "more than 4 imports away" in found.problems[0]


def test_an_import_that_is_missing_is_told(place):
    place.put("repo/CLAUDE.md", "@docs/none.md @nobody")
    (problem,) = place.load().problems
    assert "docs/none.md, which does not exist" in problem


def test_nothing_outside_the_project_is_brought_in(place):
    secret = place.put("home/.ssh/id", "PRIVATE")
    place.put("home/notes.md", "my notes")
    place.put("repo/CLAUDE.md", f"@~/.ssh/id @{secret} @../home/notes.md")
    (place.root / "AGENTS.md").symlink_to(secret)
    found = place.load()
    assert not any("PRIVATE" in each.text or "my notes" in each.text for each in found.files)
    assert sum("lies outside" in problem for problem in found.problems) == 4
    place.put("home/.claude/CLAUDE.md", "@~/notes.md")
    assert "my notes" in place.texts()


def test_one_set_of_guidelines_may_be_linked_from_elsewhere(place):
    place.put("home/dotfiles/guide.md", "shared words")
    (place.root / "CLAUDE.md").symlink_to(place.home / "dotfiles" / "guide.md")
    assert place.texts() == ["shared words"]


@pytest.mark.parametrize(
    ("text", "kept", "imports"),
    [
        ("a\n<!-- b\nc -->\nd", "a\nd", ()),
        ("a <!-- b --> c", "a  c", ()),
        ("<!-- x --> <!-- y -->\nz", "z", ()),
        ("```\n<!-- code -->\n@x.md\n```\n@y.md", "```\n<!-- code -->\n@x.md\n```\n@y.md", ("y.md",)),
        ("````\n```\n<!-- in -->\n````\n<!-- out -->", "````\n```\n<!-- in -->\n````", ()),
        ("`<!-- a -->` b", "`<!-- a -->` b", ()),
        ("<!-- never ends @a.md", "<!-- never ends @a.md", ("a.md",)),
        ("<!-- @a.md -->@b.md", "@b.md", ("b.md",)),
        ("~~~\n@x.md", "~~~\n@x.md", ()),
        ("@a.md. @./b/c.md, @~/d.md @a.md", "@a.md. @./b/c.md, @~/d.md @a.md", ("a.md", "./b/c.md", "~/d.md")),
    ],
)
def test_comments_and_imports_outside_code(text, kept, imports):
    assert read_through(text) == (kept, imports)


@pytest.mark.parametrize("unit", ["`", "``a", "<!--", "<!-- -->", "```\n", "~~~ \n", "@a ", "`\n", "<!-- \n"])
def test_no_text_takes_long(unit):
    text = unit * (128 * 1024 // len(unit))
    start = time.process_time()
    read_through(text)
    assert time.process_time() - start < 1


def test_what_is_no_text_or_too_long_is_passed_by_with_words(place):
    place.put("repo/CLAUDE.md", "x" * (instructions.FILE_BYTES + 1))
    (place.root / "AGENTS.md").write_bytes(b"a\0b")
    os.mkfifo(place.root / "CLAUDE.local.md")
    (place.root / ".agent" / "AGENTS.md").mkdir(parents=True)
    place.put("repo/shop/CLAUDE.md", "fine \N{SNOWMAN}")
    (place.cwd / "AGENTS.md").write_bytes(b"caf\xe9")
    found = place.load()
    assert [each.text for each in found.files] == ["fine \N{SNOWMAN}", "caf\ufffd"]
    assert [problem.rpartition(": ")[2] for problem in found.problems] == [
        "it is longer than 128 KiB.",
        "it is no text.",
        "it is no ordinary file.",
        "it is no ordinary file.",
    ]


def test_all_together_are_bounded(place):
    for n in range(3):
        place.put(f"repo/.claude/rules/{n}.md", str(n) * 100_000)
    found = place.load()
    assert len(found.files) == 2
    assert "together are longer than 256 KiB" in found.problems[0]


def test_a_change_is_told_with_its_words(place):
    place.put("repo/CLAUDE.md", "\n".join(f"rule {n}" for n in range(50)))
    old = place.put("repo/AGENTS.md", "short")
    before = place.load()
    assert recheck(before) is before
    assert changes(before, before) == ()
    place.put("repo/CLAUDE.md", "\n".join(f"rule {n}" for n in range(49)) + "\nnew rule")
    place.put("repo/shop/CLAUDE.md", "also this")
    old.unlink()
    after = recheck(before)
    gone, changed, new = changes(before, after)
    assert "AGENTS.md is gone" in gone
    assert "+new rule" in changed
    assert "-rule 49" in changed
    assert "rule 10" not in changed
    assert new.endswith("new and in force from now on:\n\nalso this")
    place.put("repo/shop/CLAUDE.md", "quite other")
    assert changes(after, recheck(after))[0].endswith("changed. In force from now on:\n\nquite other")


@pytest.mark.parametrize("name", ["repo/docs/a.md", "repo/.claude/rules/x.md", "repo/.claude/rules/deep/y.md"])
def test_a_change_of_an_import_or_a_rule_is_noticed(place, name):
    place.put("repo/CLAUDE.md", "@docs/a.md")
    place.put("repo/.claude/rules/deep/z.md", "z")
    before = place.load()
    place.put(name, "new words")
    assert any("new words" in told for told in changes(before, recheck(before)))


def test_nested_guidelines_come_in_force_when_a_file_below_is_read(place):
    place.put("repo/shop/cart/deep/CLAUDE.md", "outer")
    place.put("repo/shop/cart/deep/er/AGENTS.md", "inner")
    place.put("repo/shop/other/CLAUDE.md", "not below")
    place.put("repo/shop/cart/node_modules/x/CLAUDE.md", "a stranger's")
    before = place.load()
    assert before.files == ()
    deep = place.cwd / "deep"
    after = instructions.nested(before, deep / "er" / "a.py")
    assert [each.text for each in after.files] == ["outer", "inner"]
    assert len(changes(before, after)) == 2
    for path in (
        deep / "b.py",
        place.cwd / "c.py",
        place.root / "shop" / "other" / "d.py",
        place.cwd / "node_modules" / "x" / "e.js",
    ):
        assert instructions.nested(after, path) is after
    place.put("repo/shop/cart/deep/CLAUDE.md", "changed")
    assert [each.text for each in recheck(after).files] == ["changed", "inner"]


def test_a_touched_file_with_the_same_words_says_nothing(place):
    path = place.put("repo/CLAUDE.md", "rule")
    before = place.load()
    path.write_text("rule\n")
    assert changes(before, recheck(before)) == ()


def test_a_check_of_ten_files_takes_under_a_millisecond(place):
    for n in range(10):
        place.put(f"repo/.claude/rules/{n}.md", f"rule {n}")
    known = place.load()
    took = []
    for _ in range(20):
        start = time.perf_counter()
        assert recheck(known) is known
        took.append(time.perf_counter() - start)
    assert min(took) < 0.001
