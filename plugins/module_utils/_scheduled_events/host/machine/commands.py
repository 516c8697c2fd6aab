# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Run the commands that an operator has configured, with a time limit that holds on the VM."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import typing as t

# What GNU timeout ends with, too: operators know it.
TIMED_OUT = 124
# Exit codes of a shell for a program that is missing, or that may not be run.
NOT_FOUND, NOT_EXECUTABLE = 127, 126
GRACE_SECONDS = 2.0
LONGEST_OUTPUT = 65536

CommandLine = t.Union[str, t.Sequence[str]]


class CommandResult(t.NamedTuple):
    """How a command ended."""

    code: int
    output: str
    errors: str


class Commands(t.Protocol):
    """The commands of one VM."""

    def run(self, line: CommandLine, environment: t.Mapping[str, str], seconds: float) -> CommandResult:
        """Run a command line, a text or a list of arguments, without a shell. End it after that many seconds with code 124."""


class LocalCommands:
    """Commands on this machine."""

    def run(self, line: CommandLine, environment: t.Mapping[str, str], seconds: float) -> CommandResult:
        try:
            words = shlex.split(line) if isinstance(line, str) else [str(word) for word in line]
        except ValueError as error:
            return CommandResult(NOT_FOUND, "", f"the command line cannot be split into words: {error}")
        if not words:
            return CommandResult(NOT_FOUND, "", "the command line is empty")
        # Files, not pipes: a child that the command leaves behind may keep a pipe open for ever.
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            try:
                # AnsibleModule's run_command has no time limit, and ends nothing.
                process = subprocess.Popen(  # pylint: disable=ansible-bad-function
                    words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=_bytes_of(environment), start_new_session=True
                )
            except FileNotFoundError as error:
                return CommandResult(NOT_FOUND, "", f"{words[0]}: {error.strerror}")
            except (OSError, ValueError) as error:
                return CommandResult(NOT_EXECUTABLE, "", f"{words[0]}: {error}")
            code = _wait(process, seconds)
            return CommandResult(code, _end_of(output), _end_of(errors))


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Wait for the end of a command; after its time limit, end the command and its whole process group."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except OSError:
            break  # the command has ended, or runs as another user, whose processes this user may not end
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
    return TIMED_OUT


def _bytes_of(environment: t.Mapping[str, str]) -> dict[bytes, bytes]:
    """Return the whole environment in UTF-8, whatever the locale: a character that the locale lacks must not prevent a command."""
    return {**os.environb, **{key.encode(): value.encode("utf-8", "replace") for key, value in environment.items()}}


def _end_of(stream: t.IO[bytes]) -> str:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - LONGEST_OUTPUT, 0))
    return stream.read().decode("utf-8", "replace")
