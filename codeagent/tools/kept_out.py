"""What is told of protected names that came into being while a command ran: each can start programs."""

from __future__ import annotations

from pathlib import Path

from codeagent.core.clean import clean_line
from codeagent.host.appeared import ENDING
from codeagent.host.jobs import Job
from codeagent.host.process import ShellProcess

_NAMED = 5
"""Names that are told; the others are counted."""


def names(process: ShellProcess) -> str:
    """Names of what it made, empty when it made none."""
    found = [clean_line(Path(path).name) for path in process.appeared]
    return ", ".join(found[:_NAMED]) + (f" and {len(found) - _NAMED} more" if len(found) > _NAMED else "")


def of_command(process: ShellProcess) -> list[str]:
    """A note for the model on what was put out of the way when a command was over."""
    if not process.appeared:
        return []
    return [f"the sandbox kept out {names(process)}, which can start programs: renamed to end in {ENDING}"]


def of_job(job: Job) -> list[str]:
    """A note on what came while a job ran and stands there still."""
    if not job.process.appeared:
        return []
    made = names(job.process)
    return [f"while {job.id} ran, {made} came into being, which can start programs: tell the user if it was not meant"]
