"""What `codeagent WORD` does beside opening a session: one file each, `run(argv, environ) -> exit code`."""
