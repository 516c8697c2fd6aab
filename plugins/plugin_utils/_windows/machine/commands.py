# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Commands on a Windows VM, as an operator has configured them."""

from __future__ import annotations

import contextlib
import math
import signal
import time
import typing as t

from ....module_utils._scheduled_events.host.machine.commands import TIMED_OUT, CommandLine, CommandResult
from ..calls import OverCalls, failure_text

# The connection itself takes some of the time.
CONNECTION_SECONDS = 5


class TimeIsUp(BaseException):
    """The time of a call is over. No Exception, so that nothing on the way takes it for a failure of its own."""


class WindowsCommands(OverCalls):
    """Commands over ansible.windows; see Commands. One that outlasts its time is waited for no longer, and Windows lets it run on."""

    def run(self, line: CommandLine, environment: t.Mapping[str, str], seconds: float) -> CommandResult:
        try:
            with self._calls.environment(environment), time_limit(seconds + CONNECTION_SECONDS):
                if isinstance(line, str):
                    answer = self._calls.call("win_command", cmd=line)
                else:
                    answer = self._calls.call("win_command", argv=[str(word) for word in line])
        except TimeIsUp:
            # The session may still answer the ended call, so the next call needs a new one.
            self._calls.reset()
            return CommandResult(TIMED_OUT, "", f"it has not ended within {seconds:g} s; Windows lets it run on")
        code = answer.get("rc")
        if isinstance(code, bool) or not isinstance(code, int):
            raise OSError(f"the command did not run: {failure_text(answer)}")
        # Without an output it did not start, and msg says why.
        errors = str(answer.get("stderr") or "") if "stdout" in answer else failure_text(answer)
        return CommandResult(code, str(answer.get("stdout") or ""), errors)


@contextlib.contextmanager
def time_limit(seconds: float) -> t.Iterator[None]:
    """Raise TimeIsUp after so many seconds, as Ansible does for a task's own timeout. A timeout of the task goes on, and may end first."""

    def up(_number: int, _frame: t.Any) -> None:
        raise TimeIsUp

    began, ours = time.monotonic(), max(1, math.ceil(seconds))
    of_task = signal.alarm(0)
    if 0 < of_task <= ours:
        signal.alarm(of_task)
        yield
        return
    handler = signal.signal(signal.SIGALRM, up)
    signal.alarm(ours)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
        if of_task:
            signal.alarm(max(1, of_task - int(time.monotonic() - began)))
