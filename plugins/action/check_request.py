# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import getpass
import json
import os
import pathlib
import tempfile
import typing as t
from datetime import datetime, timezone

from ansible.utils.vars import load_extra_vars

from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core.plain_values import mapping, text
from ..plugin_utils._maintenance.operator import override_requests
from ..plugin_utils._maintenance.report.status import FORMATS, status
from ..plugin_utils._maintenance.upgrade.batches import BatchError, make_batches
from ..plugin_utils._settings import play_keywords
from ..plugin_utils._settings.facts import why_refused, why_refused_extra
from ..plugin_utils._settings.option_types import wrong_options
from ..plugin_utils._settings.renamed import refused_variables

# The options of a view of a plan, with their defaults.
VIEW = {"format": "text", "event_id": "", "file": ""}
SPEC = {
    "override": {"type": "dict"},
    "status": {"type": "dict", "options": {key: {"type": "str", "default": default} for key, default in VIEW.items()}},
    "batches": {"type": "dict", "options": {"by": {"type": "str", "default": "serial"}, "serial": {"type": "raw"}}},
    "upgrade": {
        "type": "dict",
        "options": {
            "name": {"type": "str", "required": True},
            "tasks": {"type": "str", "required": True},
            "check_tasks": {"type": "str", "default": ""},
            "folders": {"type": "list", "elements": "str", "default": []},
        },
    },
    "observed": {"type": "str"},
    "options_of": {"type": "str"},
    "batch": {"type": "list", "elements": "str"},
}
EXCLUSIVE = [("override", "status", "batches", "upgrade", "options_of", "batch")]
Values = t.Mapping[str, t.Any]


class ActionModule(OnController):
    """Answer an operator's request."""

    spec = SPEC
    rules: t.ClassVar = {"mutually_exclusive": EXCLUSIVE, "required_by": {"status": "observed"}}

    def answer(self, arguments: dict[str, t.Any], variables: dict[str, t.Any]) -> Values:
        state = mapping(variables.get(arguments["observed"] or ""))
        if arguments["override"] is not None:
            observations = state["observations"] if arguments["observed"] else None
            settings = mapping(state.get("request")).get("settings")
            asked = {**arguments["override"], "who": arguments["override"].get("who") or _user()}
            return override_requests.answer(observations, asked, settings, datetime.now(timezone.utc).isoformat())
        if arguments["status"] is not None:
            return {"lines": _lines(state, arguments["status"])}
        if arguments["upgrade"] is not None:
            return self._upgrade(arguments["upgrade"])
        if why := self._wrong(arguments, variables):
            raise ValueError(why)
        return {}

    def _wrong(self, arguments: Values, variables: Values) -> str | None:
        if arguments["batches"] is not None:
            return _wrong_batches(arguments["batches"])
        if arguments["batch"] is not None:
            failed = [host for host in arguments["batch"] if host not in variables["ansible_play_batch"]]
            return f"{', '.join(failed)} failed, and any_errors_fatal stops the play" if failed and self._task.any_errors_fatal is True else None
        if arguments["options_of"] is not None:
            return wrong_options(arguments["options_of"], variables, self._templar.template)
        wrong = why_refused(variables.get("ansible_facts")) or refused_variables(variables) or why_refused_extra(load_extra_vars(self._loader))
        # Role approve takes one VM at a time, and may do so for one VM alone.
        is_alone = getattr(self._task._role, "_role_name", None) == "approve"
        return wrong or (None if is_alone else play_keywords.refused(self._task, asked_check_mode=variables.get("ansible_check_mode")))

    def _upgrade(self, given: Values) -> Values:
        if not given["name"].strip():
            raise ValueError("upgrade_name is empty: it must be this upgrade's own name")
        names = ("tasks", "check_tasks") if given["check_tasks"] else ("tasks",)
        return {"check_tasks": "", **{name: self.tasks_file(f"upgrade_{name}", given[name], given["folders"]) for name in names}}


def _user() -> str:
    """Return the user of this machine, also where no variable of the environment has the name; empty without any."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""


def _lines(state: Values, given: Values) -> t.Any:
    if given["format"] not in FORMATS:
        raise ValueError(f"status_format must be one of {', '.join(FORMATS)}, not {given['format']}")
    lines = status(state["plan"], form=given["format"], event_id=text(given["event_id"]), folders=state.get("vms"))
    if given["file"]:
        content = json.dumps(lines, indent=2) if given["format"] == "json" else "\n".join(lines)
        try:
            replace_text(pathlib.Path(given["file"]), f"{content}\n")
        except OSError as error:
            raise ValueError(f"status_file {given['file']!r} cannot be written: {error.strerror or error}") from error
    return lines


def replace_text(path: pathlib.Path, content: str) -> None:
    """Write a file beside and rename it over, so that who reads it has the old or the new one. Raise OSError."""
    beside = tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}-", delete=False)  # noqa: SIM115 (closed below)
    try:
        with beside:
            beside.write(content)
        os.replace(beside.name, path)
    except OSError:
        os.unlink(beside.name)
        raise


def _wrong_batches(given: Values) -> str | None:
    try:
        make_batches([], **given)
    except BatchError as error:
        return f"upgrade_{error}"
    return None
