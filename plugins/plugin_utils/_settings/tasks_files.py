# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Where files of tasks are looked for. Check one before Ansible includes it: core prints the first lines of a file that has no tasks, whatever that is.

The name may come from a survey of AWX. So the file is not opened outside of the folders that the settings name, and no message has any of its content.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...module_utils._scheduled_events.core.types import Values
from .._core.wrong_input import WrongInput

CLEARS, META = "clear_host_errors", ("meta", "ansible.builtin.meta", "ansible.legacy.meta")
BLOCK = ("block", "rescue", "always")
# An action by its full name: core says what is missing where the collection is.
FULL_NAME = re.compile(r"[a-z_]\w*(\.\w+){2,}")
Load = Callable[[str], Any]
Known = Callable[[str], bool]
# Role drain's own methods that are tasks.
METHODS = str(pathlib.Path(__file__).parents[3] / "roles" / "drain" / "tasks" / "methods")


def places(variables: Values) -> list[str]:
    """Return where task files with a relative path are looked for: beside the playbook, beside the inventory, in the working directory."""
    found = (variables.get("playbook_dir"), variables.get("inventory_dir"), os.environ.get("PWD"))
    return list(dict.fromkeys(str(place) for place in found if place))


def method_folders(variables: Values, own: Any) -> list[str]:
    """Return the folders of drain methods that are tasks: the collection's, and that of an operator, which is relative to the playbook."""
    return [METHODS, *([os.path.join(str(variables["playbook_dir"]), str(own))] if own else [])]


def checked(option: str, name: str, folders: Sequence[str], load: Load, known: Known) -> str:
    """Return the path of a tasks file. C(load) reads YAML, and C(known) tells whether a word is the name of an action."""
    path, here = os.path.realpath(name), os.getcwd()
    where = f"{option} is {json.dumps(name)}"
    started = "" if os.path.isabs(name) else f". Relative paths start at {here}, where Ansible was started"
    if not name.strip():
        raise WrongInput(f"{option} is empty: it must be your tasks file")
    if folders and not any(_is_in(path, os.path.realpath(folder)) for folder in folders):
        raise WrongInput(f"{where}, which is not in {', '.join(folders)} ({option.partition('_')[0]}_tasks_folders){started}")
    if not os.path.isfile(path):
        raise WrongInput(f"{where}, and there is no such file{started}")
    try:
        content = load(path)
    except Exception:  # noqa: BLE001  of any kind, and its text has lines of the file
        raise WrongInput(f"{where}, and that is no YAML, or cannot be read") from None
    if not _are_tasks(content, known):
        raise WrongInput(f"{where}, and that is no list of tasks, or a task of it names no module that Ansible knows")
    if _has_clears(content):
        raise WrongInput(f"{where}, and a task of it is meta: {CLEARS}. A VM that has failed would go on as if it had not: take it out")
    return path


def _is_in(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


def _are_tasks(content: Any, known: Known) -> bool:
    if content is None:
        return True  # an empty file
    return isinstance(content, Sequence) and not isinstance(content, str) and all(_is_task(task, known) for task in content)


def _has_clears(content: Any) -> bool:
    """Return whether tasks have the word that nothing can be told by afterwards. What they include is not read."""
    return any(CLEARS in map(task.get, META) or any(map(_has_clears, (task.get(part) for part in BLOCK))) for task in content or ())


def _is_task(task: Any, known: Known) -> bool:
    if not isinstance(task, Mapping):
        return False
    if "block" in task:
        return all(_are_tasks(task[part], known) for part in BLOCK if task.get(part))
    words = [str(word) for word in task]
    return any(word in ("action", "local_action") or FULL_NAME.fullmatch(word) or known(word) for word in words)
