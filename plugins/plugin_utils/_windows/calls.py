# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The calls of ansible.windows on the VM. Everything that reaches a Windows VM goes through here, but for files that are sent."""

from __future__ import annotations

import importlib
import json
import math
import pathlib
import typing as t

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.access import Failed

COLLECTION = "ansible.windows"
# What came with the ansible package for the oldest ansible-core that is supported (2.18).
OLDEST = (2, 5, 0)
INSTALL = f"Install it on the controller: ansible-galaxy collection install --upgrade {COLLECTION}"

Answer = dict[str, t.Any]


class Calls:
    """Calls modules of ansible.windows for one task. One object for each run of an action: nothing is kept on the action."""

    def __init__(self, action: ActionBase, task_vars: dict[str, t.Any]) -> None:
        self._action = action
        self._task_vars = task_vars
        _check_collection()

    def call(self, module: str, **arguments: t.Any) -> Answer:
        """Run one module on the VM; its result, whether it failed or not. Ansible's own errors of an unreachable VM go through.

        It runs in check mode too, or a look could not look. Whoever changes something asks for check mode itself.
        """
        task = self._action._task
        check_mode, task.check_mode = task.check_mode, False
        try:
            # Core writes its own keys into the arguments, so they are a fresh dict each time.
            return self._action._execute_module(module_name=f"{COLLECTION}.{module}", module_args=arguments, task_vars=self._task_vars)
        finally:
            task.check_mode = check_mode

    def command(self, line: str) -> tuple[int, str, str]:
        """Run one line in cmd.exe: exit code, output and errors as text. /s keeps the line as it is, /d keeps AutoRun out."""
        answer = self.call("win_command", _raw_params=f'cmd.exe /d /s /c "{line}"')
        code = answer.get("rc")
        if isinstance(code, bool) or not isinstance(code, int):
            raise OSError(f"the command did not run: {said(answer)}")
        return code, str(answer.get("stdout") or ""), str(answer.get("stderr") or "")

    def send(self, content: bytes) -> str:
        """Put content into a new file in the task's temporary directory on the VM; its path there."""
        shell = self._action._connection._shell
        if not shell.tmpdir:
            self._action._make_tmp_path()
        path: str = shell.join_path(shell.tmpdir, "content.json")
        self._action._transfer_data(path, content)
        return path

    def reset(self) -> None:
        """Make the next call connect anew."""
        try:
            self._action._connection.reset()
        except Exception:  # whatever a connection plugin raises here, the next call says whether the VM can be reached
            return


def said(answer: t.Mapping[str, t.Any]) -> str:
    """What a failed module said, in one line."""
    return " ".join(str(answer.get("msg") or answer.get("stderr") or "no reason was given").split())[:500]


def whole_seconds(seconds: float) -> int:
    """Modules of ansible.windows take whole seconds; never fewer than were meant, and at least one."""
    return max(1, math.ceil(seconds))


def is_session_fault(error: BaseException) -> bool:
    """A broken session. PSRP lets errors of the library requests through (before ansible-core 2.19 read timeouts too)."""
    if isinstance(error, AnsibleConnectionFailure):
        return True
    return any(kind.__module__.split(".")[0] in ("requests", "urllib3", "pypsrp") for kind in type(error).__mro__)


def _check_collection() -> None:
    """One clear error before anything is sent."""
    version = _version()
    if version is None:
        raise Failed(f"Windows hosts need the collection {COLLECTION}, which was not found. {INSTALL}")
    if version < OLDEST:
        raise Failed(
            "Windows hosts need the collection {} {} or newer, and {} was found. {}".format(
                COLLECTION, ".".join(map(str, OLDEST)), ".".join(map(str, version)), INSTALL
            )
        )


def _version() -> tuple[int, ...] | None:
    """The version of the collection that tasks will use; a very new one where it does not say."""
    try:
        package = importlib.import_module(f"ansible_collections.{COLLECTION}")
    except ImportError:
        return None
    folder = pathlib.Path(next(iter(package.__path__)))
    try:
        text = json.loads((folder / "MANIFEST.json").read_text())["collection_info"]["version"]
        return tuple(int(part) for part in text.split("-")[0].split("."))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return (999,)  # a checkout, as developers have it
