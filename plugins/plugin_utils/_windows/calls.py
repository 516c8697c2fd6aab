# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Calls of ansible.windows, and of other collections for Windows, on the VM. All access to a Windows VM goes through here, except for transferred files."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import pathlib
import typing as t

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible.utils.unsafe_proxy import wrap_var

from ...module_utils._scheduled_events.core.types import Data, Values
from ...module_utils._scheduled_events.host.access import Failed
from .._core import modules

COLLECTION = "ansible.windows"
# The version in the ansible package of the oldest supported ansible-core (2.18).
OLDEST = (2, 5, 0)
INSTALL = f"Install it on the controller: ansible-galaxy collection install --upgrade {COLLECTION}"

Answer = Data


class Calls:
    """Call modules of ansible.windows for one task. Use a new object for each run of an action: the action keeps no state."""

    def __init__(self, action: ActionBase, task_vars: Data) -> None:
        self._action = action
        self._task_vars = task_vars
        _check_collection()

    def call(self, module: str, **arguments: t.Any) -> Answer:
        """Run one module on the VM and return its result, failed or not. Ansible's own errors for an unreachable VM pass through.

        The module is one of ansible.windows, or a whole name. Raise OSError where the controller has no such collection.

        It runs in check mode too, since an observation only reads. Callers that change anything honour check mode themselves.
        """
        name = module if "." in module else f"{COLLECTION}.{module}"
        if name is module and not modules.is_installed(name):
            raise OSError(f"the controller has no {name}. {modules.how_to_install(name)}")
        task = self._action._task
        check_mode, task.check_mode = task.check_mode, False
        try:
            # Core adds its own keys to the arguments, so each call gets a new dict.
            answer: Answer = self._action._execute_module(module_name=name, module_args=arguments, task_vars=self._task_vars)
            return answer
        finally:
            task.check_mode = check_mode

    @contextlib.contextmanager
    def environment(self, variables: t.Mapping[str, str]) -> t.Iterator[None]:
        """Give the modules that are called meanwhile these variables, beside those of the task. No text in them is taken for a template."""
        task = self._action._task
        before = task.environment
        listed = before if isinstance(before, list) else [before] if before else []
        task.environment = [*listed, wrap_var(dict(variables))]
        try:
            yield
        finally:
            task.environment = before

    def command(self, line: str) -> tuple[int, str, str]:
        """Run one line in cmd.exe; return exit code, output and errors. /s keeps the line as it is, /d skips AutoRun."""
        answer = self.call("win_command", _raw_params=f'cmd.exe /d /s /c "{line}"')
        code = answer.get("rc")
        if isinstance(code, bool) or not isinstance(code, int):
            raise OSError(f"the command did not run: {failure_text(answer)}")
        return code, str(answer.get("stdout") or ""), str(answer.get("stderr") or "")

    def send(self, content: bytes) -> str:
        """Write content to a new file in the task's temporary directory on the VM; return its path there."""
        shell = self._action._connection._shell
        if not shell.tmpdir:
            self._action._make_tmp_path()
        path: str = shell.join_path(shell.tmpdir, "content.json")
        self._action._transfer_data(path, content)
        return path

    def reset(self) -> None:
        """Make the next call connect again."""
        try:
            self._action._connection.reset()
        except Exception:  # any error of a connection plugin here: the next call shows whether the VM can be reached
            return


class OverCalls:
    """What reaches a Windows VM by its calls alone."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls


def failure_text(answer: Values) -> str:
    """Return the error message of a failed module in one line."""
    return " ".join(str(answer.get("msg") or answer.get("stderr") or "no reason was given").split())[:500]


def accepted(answer: Answer, what: str) -> Answer:
    """Return an answer that is no failure. Raise OSError otherwise."""
    if answer.get("failed"):
        raise OSError(f"{what}: {failure_text(answer)}")
    return answer


def json_output(answer: Answer, what: str) -> t.Any:
    """Return what a script of win_powershell has printed, one text of JSON. Raise OSError where it failed or printed something else."""
    output = accepted(answer, what).get("output")
    try:
        return json.loads(output[0] if isinstance(output, list) and output else "")
    except (TypeError, ValueError):
        raise OSError(f"{what}: the script printed no JSON")


def whole_seconds(seconds: float) -> int:
    """Round up to whole seconds, as modules of ansible.windows take them; at least one."""
    return max(1, math.ceil(seconds))


def is_session_fault(error: BaseException) -> bool:
    """Return whether the session broke. PSRP passes on errors of the library requests (before ansible-core 2.19 read timeouts too)."""
    if isinstance(error, AnsibleConnectionFailure):
        return True
    return any(kind.__module__.split(".")[0] in ("requests", "urllib3", "pypsrp") for kind in type(error).__mro__)


def _check_collection() -> None:
    """Raise one clear error before anything is sent."""
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
    """Return the version of the collection that tasks will use; a very high one if it states none; None if it is missing."""
    try:
        package = importlib.import_module(f"ansible_collections.{COLLECTION}")
    except ImportError:
        return None
    folder = pathlib.Path(next(iter(package.__path__)))
    try:
        text = json.loads((folder / "MANIFEST.json").read_text())["collection_info"]["version"]
        return tuple(int(part) for part in text.split("-")[0].split("."))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return (999,)  # a checkout, which has no manifest
