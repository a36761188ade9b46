"""What projects and users add to codeagent; each behind trust where it comes with a project."""
