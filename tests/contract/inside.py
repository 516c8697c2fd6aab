# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Core's own action and connection classes, with modules run inside this process: a start of Python for each would take minutes.

Two pieces of core are replaced: packing a module (``_configure_module``), and the process that a connection starts for it. What a module
gets, and what becomes of its output, is core's own. ``test_play.py`` runs a part of the cases in a true play and compares.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import pathlib
import sys
import traceback
import types
import typing as t
from unittest import mock

from ansible.errors import AnsibleError
from ansible.module_utils import _internal, basic
from ansible.module_utils.common import warnings
from ansible.module_utils.common.json import Direction, get_module_encoder
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins import loader as plugin_loaders
from ansible.template import Templar
from ansible.utils.display import Display

from ansible_collections.maintenance.azure.tests.contract import clock

Result = t.Dict[str, t.Any]
PROFILE = "legacy"
OWN = pathlib.Path(__file__).resolve().parents[2] / "plugins" / "modules"


class Call(t.NamedTuple):
    """One task."""

    action: str
    options: dict[str, t.Any]
    check_mode: bool = False
    diff: bool = False


class Surroundings:
    """Where tasks run: a connection, a loader of modules by their full name, and an action class for each."""

    def __init__(self, connection: t.Any, find_module: t.Callable[[str], pathlib.Path], environment: t.Mapping[str, str] | None = None) -> None:
        self.connection = connection
        self.find_module = find_module
        self.environment = dict(environment or {})
        self.on_sleep: t.Callable[[], object] | None = None
        self._start_process = connection.exec_command
        connection.exec_command = self._exec_command

    def run(self, action_class: t.Any, call: Call) -> Result:
        """What core would register for the task."""
        with clock.without_waiting(self.on_sleep), _warnings_kept() as said:
            try:
                result = self._action(action_class, call).run(task_vars={"inventory_hostname": "vm"})
            except AnsibleError as error:
                # As the task executor does.
                result = {"failed": True, "msg": str(error)}
        return _registered(result, said)

    def _action(self, action_class: t.Any, call: Call) -> t.Any:
        task = Task.load({call.action: {}, "check_mode": call.check_mode, "diff": call.diff})
        # Templates are resolved by core before an action sees its arguments; these are what came out of that.
        task.args = json.loads(json.dumps(call.options))
        loader = DataLoader()
        inside = type("Inside", (action_class,), {"_configure_module": lambda _action, **named: self._configure_module(**named)})
        return inside(task, self.connection, PlayContext(), loader, Templar(loader=loader, variables={}), plugin_loaders)

    def _configure_module(self, module_name: str, module_args: dict[str, t.Any], task_vars: t.Any) -> tuple[t.Any, str]:
        """In place of a zip file with the module and all that it needs: its path and its arguments."""
        path = self.find_module(module_name)
        encoder = get_module_encoder(PROFILE, Direction.CONTROLLER_TO_MODULE)
        data = json.dumps({"path": str(path), "ANSIBLE_MODULE_ARGS": module_args}, cls=encoder).encode()
        built = types.SimpleNamespace(module_style="new", shebang="#!inside", b_module_data=data, serialization_profile=PROFILE)
        built.has_async = built.has_become = built.has_environment = False
        built.get_command_args = lambda module_path: None
        built.process_result = None
        return built, str(path)

    def _exec_command(self, command: str, in_data: bytes | None = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        if not in_data:
            done: tuple[int, bytes, bytes] = self._start_process(command, in_data=in_data, sudoable=sudoable)
            return done
        given = json.loads(in_data)
        path = pathlib.Path(given.pop("path"))
        with mock.patch.dict(os.environ, self.environment):
            return run_main(path, json.dumps(given))


def run_main(path: pathlib.Path, arguments: str) -> tuple[int, bytes, bytes]:
    """A module's main(): exit code, output, errors. Around it, what a fresh process on a VM would have."""
    module = _load(path)
    saved = basic._ANSIBLE_ARGS, getattr(basic, "_ANSIBLE_PROFILE", None), _internal.is_controller
    basic._ANSIBLE_ARGS, basic._ANSIBLE_PROFILE, _internal.is_controller = arguments.encode(), PROFILE, False
    output, code = io.StringIO(), 0
    try:
        with contextlib.redirect_stdout(output):
            module.main()
    except SystemExit as end:
        code = int(end.code or 0)
    except Exception:
        # What a process would print and end with.
        return 1, b"", traceback.format_exc().encode()
    finally:
        basic._ANSIBLE_ARGS, basic._ANSIBLE_PROFILE, _internal.is_controller = saved
        for kept in (warnings._global_warnings, warnings._global_deprecations):
            kept.clear()
    return code, output.getvalue().encode("utf-8", "surrogateescape"), b""


def _load(path: pathlib.Path) -> t.Any:
    if path.is_relative_to(OWN):
        # Its imports are relative, as in the package that Ansible runs.
        return importlib.import_module(f"ansible_collections.maintenance.azure.plugins.modules.{path.stem}")
    name = "contract_module_" + path.stem
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]


@contextlib.contextmanager
def _warnings_kept() -> t.Iterator[list[str]]:
    """What is said with Display.warning belongs to the task: core's task executor puts it into the result."""
    display, said = Display(), []
    plain = display.warning
    display.warning = lambda msg, *_more, **_named: said.append(str(msg))
    try:
        yield said
    finally:
        display.warning = plain


def _registered(result: t.Mapping[str, t.Any], said: list[str]) -> Result:
    # Core says of every task whether it failed or changed something.
    kept: Result = {"changed": False, "failed": False}
    kept |= {key: value for key, value in result.items() if not key.startswith("_ansible_")}
    texts = [_text(entry) for entry in kept.pop("warnings", None) or []] + said
    if texts:
        kept["warnings"] = list(dict.fromkeys(texts))
    # Plain values: core tags and wraps what it registers.
    plain: Result = json.loads(json.dumps(kept, default=str))
    return plain


def _text(warning: t.Any) -> str:
    event = getattr(warning, "event", None)
    # The action puts the VM's name before what the VM says.
    return str(getattr(event, "msg", warning)).removeprefix("vm: ")
