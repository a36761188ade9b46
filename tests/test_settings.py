"""Settings: layers, origins, faults, and what a project may not decide."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from codeagent import setting_keys
from codeagent.core.compaction import Policy
from codeagent.core.errors import UsageFault
from codeagent.core.valves import Limits
from codeagent.setting_changes import remember_rule
from codeagent.setting_keys import KEYS
from codeagent.settings import Settings


@pytest.fixture
def place(tmp_path):
    class Place:
        project = tmp_path / "project"
        home = tmp_path / "home"
        managed = tmp_path / "managed.json"
        user = home / ".config" / "codeagent" / "settings.json"
        shared = project / ".agent" / "settings.json"
        local = project / ".agent" / "settings.local.json"

        def put(self, path, content):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))

        def load(self, environ=None, overlay=None, trusted=False):
            return Settings.load(self.project, self.home, environ or {}, overlay, trusted, self.managed)

    place = Place()
    place.project.mkdir()
    place.home.mkdir()
    return place


def texts(settings, kind):
    return [rule.text for rule in settings.rules if rule.kind == kind]


def test_nothing_set_is_the_defaults(place):
    settings = place.load()
    assert (settings["model"], settings.mode, settings["compaction.reserve"]) == ("", "default", 13_000)
    assert settings.source("model") == "default"
    assert (settings.rules, settings.problems, settings.claims) == ((), (), ())


def test_the_strongest_layer_counts_and_is_named(place):
    order = [
        ("user", str(place.user)),
        ("project", str(place.shared)),
        ("local", str(place.local)),
        ("environment", "CODEAGENT_MODEL"),
        ("command line", "command line"),
        ("managed", str(place.managed)),
    ]
    environ, overlay = {}, {}
    for layer, source in order:
        if layer == "environment":
            environ["CODEAGENT_MODEL"] = layer
        elif layer == "command line":
            overlay["model"] = layer
        else:
            path = {"user": place.user, "project": place.shared, "local": place.local, "managed": place.managed}[layer]
            place.put(path, {"model": layer})
        settings = place.load(environ, overlay, trusted=True)
        assert (settings["model"], settings.source("model")) == (layer, source)


def test_rules_of_all_layers_are_joined_with_file_and_line(place):
    place.put(
        place.user, '{"permissions": {\n  "allow": [\n    "Read(//x)",\n    "Bash(ls)"],\n "deny": ["Bash(ls)"]}}'
    )
    place.put(place.shared, {"permissions": {"ask": ["Bash(git push:*)"]}})
    settings = place.load(overlay={"permissions": {"allow": ["WebFetch(domain:a.example)"]}})
    told = [(rule.kind, rule.text, rule.source) for rule in settings.rules]
    assert told == [
        ("allow", "Read(//x)", f"{place.user}:3"),
        ("allow", "Bash(ls)", f"{place.user}:4"),
        ("deny", "Bash(ls)", f"{place.user}:5"),
        ("ask", "Bash(git push:*)", f"{place.shared}:4"),
        ("allow", "WebFetch(domain:a.example)", "command line"),
    ]
    assert settings.rules[0].directory == str(place.user.parent)
    assert settings.rules[3].directory == str(place.project)


def test_an_untrusted_project_only_forbids(place):
    content = {
        "model": "theirs",
        "permissions": {"allow": ["Bash"], "deny": ["WebFetch"], "ask": ["Edit"], "additionalDirectories": ["/etc"]},
    }
    place.put(place.shared, content)
    place.put(place.local, {"permissions": {"allow": ["Bash(make)"], "defaultMode": "acceptEdits"}})
    place.put(place.project / ".claude" / "settings.json", {"permissions": {"allow": ["Bash(x)"], "deny": ["Bash(y)"]}})
    settings = place.load()
    assert (settings["model"], settings.mode, settings.directories) == ("", "default", ())
    assert (texts(settings, "allow"), texts(settings, "deny")) == ([], ["WebFetch", "Bash(y)"])
    wants = "\n".join(settings.claims)
    for each in ("set model to 'theirs'", "allow Bash (", "work in '/etc'", "allow Bash(make)", "allow Bash(x)", ":5)"):
        assert each in wants
    trusted = place.load(trusted=True)
    assert (trusted["model"], trusted.mode) == ("theirs", "acceptEdits")
    assert texts(trusted, "allow") == ["Bash", "Bash(make)", "Bash(x)"]
    assert trusted.directories[0].value == "/etc"


def test_a_project_never_sets_the_address_or_bypass(place):
    place.put(place.shared, {"baseUrl": "http://evil.example", "permissions": {"defaultMode": "bypassPermissions"}})
    settings = place.load(trusted=True)
    assert (settings.base_url, settings.mode) == ("", "default")
    assert len(settings.problems) == 2
    place.put(place.user, {"baseUrl": "http://mine.example", "permissions": {"defaultMode": "yolo"}})
    settings = place.load(trusted=True)
    assert (settings.base_url, settings.mode) == ("http://mine.example", "bypass")
    assert place.load({"ANTHROPIC_BASE_URL": "http://env.example"}).base_url == "http://env.example"


BROKEN = {
    "cut": ('{"permissions": {"deny": ["Bash(rm:*)"', "no valid JSON"),
    "list": ("[1]", "holds list"),
    "twice": ('{"permissions": {"deny": ["a"], "deny": []}}', "'deny' comes twice"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "bytes": ("\udcff", "cannot be used"),
    "huge": (" " * 1_000_001, "1,000,001 bytes"),
}


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("layer", ["user", "shared"])
def test_a_broken_file_is_named_kept_and_makes_strict(place, fault, layer):
    text, words = BROKEN[fault]
    broken, whole = (place.user, place.local) if layer == "user" else (place.shared, place.user)
    broken.parent.mkdir(parents=True)
    broken.write_bytes(os.fsencode(text))
    place.put(whole, {"model": "m", "permissions": {"allow": ["Bash"], "deny": ["Edit"], "defaultMode": "acceptEdits"}})
    settings = place.load(overlay={"permissions.allow": ["Read"]}, trusted=True)
    assert settings.strict
    assert settings["model"] == "m"
    assert (texts(settings, "allow"), texts(settings, "deny"), settings.mode) == (["Read"], ["Edit"], "default")
    (problem,) = settings.problems
    assert problem.broken
    assert str(broken) in problem.text
    assert words in problem.text
    assert broken.read_bytes() == os.fsencode(text)


def test_what_is_no_file_does_not_hang(place):
    place.user.parent.mkdir(parents=True)
    os.mkfifo(place.user)
    assert "no ordinary file" in place.load().problems[0].text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"maxTurns": "many"}, "maxTurns: 'many' came, a whole number from 0 is wanted."),
        ({"maxTurns": True}, "maxTurns: True came"),
        ({"maxTurns": -1}, "-1 came"),
        ({"maxBudgetUsd": "NaN"}, "'NaN' came"),
        ({"compaction": {"threshold": 92}}, "compaction.threshold: 92 came, a number from 0 to 1 is wanted."),
        ({"compaction": 3}, "compaction: an object is wanted."),
        ({"effort": "extreme"}, "one of low, medium"),
        ({"modle": "x"}, "no setting 'modle'; did you mean model?"),
        ({"permissions": {"allow": "Bash"}}, "permissions.allow: 'Bash' came, a list of texts is wanted."),
        ({"permissions": {"deny": ["Edit", 3]}}, "permissions.deny[1]: 3 came, a text is wanted."),
        ({"permissions": {"defaultMode": "never"}}, "permissions.defaultMode"),
        ({"permissions": {"defaultMode": ["x"]}}, "permissions.defaultMode"),
    ],
)
def test_one_wrong_value_is_told_and_the_rest_counts(place, content, words):
    place.put(place.user, {"theme": "dark", **content})
    settings = place.load()
    (problem,) = settings.problems
    assert words in problem.text
    assert not problem.broken
    assert str(place.user) in problem.text
    assert settings["theme"] == "dark"
    if "deny" in str(content):
        assert texts(settings, "deny") == ["Edit"]


def test_the_environment_is_read_in_one_place(place):
    environ = {
        "ANTHROPIC_API_KEY": " k ",
        "ANTHROPIC_AUTH_TOKEN": "t",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Team: blue: green\nnonsense\n X-B :1",
        "ANTHROPIC_MODEL": "m",
        "CODEAGENT_MAX_TURNS": "7",
        "CODEAGENT_COMPACTION_AUTO": "no",
        "CODEAGENT_MAX_SECONDS": "soon",
        "EDITOR": "ed",
        "XDG_STATE_HOME": "relative",
        "XDG_CONFIG_HOME": str(place.home / "conf"),
    }
    settings = place.load(environ)
    found = settings.environment
    assert (found.api_key, found.auth_token, found.headers) == ("k", "t", {"X-Team": "blue: green", "X-B": "1"})
    assert (settings["model"], settings["maxTurns"], settings["compaction.auto"]) == ("m", 7, False)
    assert settings.source("maxTurns") == "CODEAGENT_MAX_TURNS"
    assert found.editor == "ed"
    assert (found.state_home, found.config_home) == (place.home / ".local" / "state", place.home / "conf")
    assert [p.text for p in settings.problems] == ["CODEAGENT_MAX_SECONDS: 'soon' came, a number from 0 is wanted."]


def test_a_deny_added_meanwhile_is_noticed(place):
    settings = place.load()
    assert not settings.stale
    place.put(place.shared, {"permissions": {"deny": ["Bash"]}})
    assert settings.stale
    again = place.load()
    assert (again.stale, texts(again, "deny")) == (False, ["Bash"])


def test_other_settings_of_the_other_tool_are_not_taken(place):
    place.put(place.home / ".claude" / "settings.json", {"model": "x", "hooks": {}, "permissions": {"deny": ["Bash"]}})
    settings = place.load()
    assert (settings["model"], texts(settings, "deny"), settings.problems) == ("", ["Bash"], ())


def test_a_rule_is_remembered_beside_everything_else(place):
    place.put(place.local, '{"theme": "dark", "mine": {"a": 1.50}, "permissions": {"deny": ["Edit"], "allow": ["A"]}}')
    os.chmod(place.local, 0o640)
    where = remember_rule(place.project, 'Bash(echo "hé")')
    content = json.loads(place.local.read_text())
    assert content == {
        "theme": "dark",
        "mine": {"a": 1.5},
        "permissions": {"deny": ["Edit"], "allow": ["A", 'Bash(echo "hé")']},
    }
    path, _, line = where.rpartition(":")
    assert path == str(place.local)
    assert "echo" in place.local.read_text().splitlines()[int(line) - 1]
    assert stat.S_IMODE(place.local.stat().st_mode) == 0o640
    assert remember_rule(place.project, "A") == f"{place.local}:{int(line) - 1}"
    assert "settings.local.json" in (place.project / ".agent" / ".gitignore").read_text()
    assert texts(place.load(trusted=True), "allow") == ["A", 'Bash(echo "hé")']


@pytest.mark.parametrize("text", ["{", '{"permissions": []}', '{"permissions": {"allow": 1}}', "[]"])
def test_a_broken_file_is_never_overwritten(place, text):
    place.put(place.local, text)
    with pytest.raises(UsageFault, match=r"not stored.*left as it is"):
        remember_rule(place.project, "Bash(ls)")
    assert place.local.read_text() == text


def test_a_rule_is_not_written_through_a_link(place):
    other = place.home / "settings.json"
    other.write_text("{}")
    place.local.parent.mkdir()
    place.local.symlink_to(other)
    with pytest.raises(UsageFault, match="is a link"):
        remember_rule(place.project, "Bash(ls)")
    assert other.read_text() == "{}"


REMEMBER = """
import sys
from pathlib import Path
from codeagent.setting_changes import remember_rule
for n in range(5):
    remember_rule(Path(sys.argv[1]), f"Bash(run {sys.argv[2]} {n})")
"""


def test_two_sessions_remember_at_the_same_time(place):
    children = [subprocess.Popen([sys.executable, "-c", REMEMBER, str(place.project), str(n)]) for n in range(3)]
    assert [child.wait() for child in children] == [0, 0, 0]
    assert len(json.loads(place.local.read_text())["permissions"]["allow"]) == 15


def test_each_setting_is_explained_and_the_guide_says_the_same() -> None:
    guide = (Path(__file__).parents[1] / "docs" / "settings.md").read_text().splitlines()
    told = [line for line in guide if line.startswith("| `")]
    assert told == [
        f"| `{key.name}` | {key.about}{' (own)' if key.own else ''} | {key.wanted} | {key.usual} |"
        for key in KEYS.values()
    ]
    assert all(len(key.about) <= 70 for key in KEYS.values())


def test_what_holds_while_nobody_sets_it_is_told_as_it_is() -> None:
    from codeagent.fronts.tui.keys import ACTS
    from codeagent.fronts.tui.palette import DARK, PALETTES
    from codeagent.models.catalog import DEFAULT

    assert PALETTES[KEYS["theme"].usual][0] is DARK
    assert KEYS["model"].usual == DEFAULT
    assert KEYS["maxTurns"].usual == f"{Limits().steps}"
    assert KEYS["maxTokensTotal"].usual == f"{Limits().tokens:,}"
    assert (Limits().dollars, Limits().seconds) == (0, 0)
    assert KEYS["compaction.threshold"].usual == f"{Policy().share:g}"
    assert {act.name: act.key for act in ACTS} == {act: KEYS[f"keys.{act}"].usual for act in setting_keys.ACTS}
