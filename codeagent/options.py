"""The command line, parsed: what was asked for, and nothing else."""

from __future__ import annotations

from msgspec import Struct


class Options(Struct, frozen=True, kw_only=True):
    """Every flag of `codeagent [PROMPT]`. Empty, zero or None means: not given, the settings decide.

    `resume` is None when not asked for and empty for "show me a list". `tools` is None for the
    usual set and empty for none. Limits are steps, tokens, dollars and seconds. `overlay` files
    and prompts have been read: `system_prompt` and `append_system_prompt` are texts, and so is
    `json_schema`, a JSON schema that was checked.
    """

    prompt: str = ""
    print: bool = False
    output_format: str = "text"
    input_format: str = "text"
    json_schema: str = ""
    include_partial_messages: bool = False
    replay_user_messages: bool = False
    permission_prompt_tool: str = ""
    model: str = ""
    fallback_model: str = ""
    effort: str = ""
    permission_mode: str = ""
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    tools: str | None = None
    max_turns: int = 0
    max_tokens_total: int = 0
    max_budget_usd: float = 0
    max_seconds: float = 0
    continue_: bool = False
    resume: str | None = None
    fork_session: bool = False
    session_id: str = ""
    name: str = ""
    no_session_persistence: bool = False
    add_dir: tuple[str, ...] = ()
    settings: str = ""
    setting_sources: str | None = None
    system_prompt: str = ""
    append_system_prompt: str = ""
    bare: bool = False
    trust: bool = False
    require_sandbox: bool = False
    cwd: str = ""
    plain: bool = False
    ascii: bool = False
    no_mouse: bool = False
    quiet: bool = False
    verbose: bool = False
    debug_file: str = ""
