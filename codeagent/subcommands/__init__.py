"""What `codeagent WORD` does beside opening a session: one file each, `run(argv, environ) -> exit code`.

Each also has `parser(act) -> Parser`: what `run` reads its words with, `--help` shows and completion offers.
"""

COMMANDS = {
    "demo": "a guided tour on a sample project: no key, no network",
    "sessions": "list, show, search, export, rename and delete the sessions of this project",
    "replay": "prove that a session's requests follow from its log; run its tools again",
    "inspect": "every request and reply of a session, as sent; send one again, changed",
    "permissions": "the rules in force, and why a call would be asked",
    "audit": "what a session did, and who allowed it",
    "memory": "what outlives sessions: list, search, edit",
    "trust": "what this directory brings along and would act; say yes or no to it",
    "config": "settings: what is in force and where it comes from; set one",
    "models": "the models that can be used, with windows and prices",
    "doctor": "check this machine: key, network, tools, terminal, disk",
    "completion": "completion of all this for bash, zsh and fish",
}
"""Name -> a line about it. The module of this name in here does it."""
