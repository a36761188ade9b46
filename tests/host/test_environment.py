"""What child processes get to know."""

from __future__ import annotations

from codeagent.host.environment import child_environment, named_secrets, shell_environment


def test_our_credentials_stay_with_us() -> None:
    environ = {
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_AUTH_TOKEN": "t",
        "PATH": "/bin",
        "COPY": "x-secret-value-x",
        "A": "b",
    }
    assert child_environment(environ, ["secret-value", "b"]) == {"PATH": "/bin", "A": "b"}
    assert environ["COPY"]  # the argument is not changed


def test_nothing_waits_and_nothing_hides() -> None:
    env = shell_environment({"BASH_ENV": "x", "CDPATH": "/", "BASH_FUNC_ls%%": "() { :; }", "PAGER": "less"}, EXTRA="1")
    assert not {"CDPATH", "BASH_ENV", "BASH_FUNC_ls%%"} & env.keys()
    assert (env["PAGER"], env["GIT_EDITOR"], env["TERM"], env["EXTRA"]) == ("cat", "false", "dumb", "1")


def test_a_project_gives_no_programs_of_everyday_names() -> None:
    env = shell_environment({"PATH": ".:./node_modules/.bin::/usr/bin:bin:/bin:"})
    assert env["PATH"] == "/usr/bin:/bin"


def test_values_under_names_that_say_secret() -> None:
    environ = {
        "GITHUB_TOKEN": "ghp-something-1",
        "DB_PASSWORD": "hunter2hunter2",
        "aws_secret_access_key": "abcdefgh1234",
        "PG_PASSWORD": "correcthorsebattery",
        "TOKENIZERS_PARALLELISM": "something-long",
        "PASSWORD_STORE_DIR": "/home/someone/.store",
        "API_KEY": "short",
        "KEYBOARD": "qwertyuiop",
    }
    assert named_secrets(environ) == ("ghp-something-1", "hunter2hunter2", "abcdefgh1234")
