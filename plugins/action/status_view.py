# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import json
import os
import pathlib
import tempfile

from ..module_utils._scheduled_events.core.types import Data, Values
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core.plain_values import flag, mapping
from ..plugin_utils._maintenance.report.status import FORMATS, alike_lines, status

TEXTS = {"format": "text", "event_id": "", "file": ""}
SPEC = {
    "observed": {"type": "str", "required": True},
    "all_events": {"type": "raw", "default": False},
    **{key: {"type": "str", "default": default} for key, default in TEXTS.items()},
}


class ActionModule(OnController):
    """Make a view of a plan, and write it to a file where one is given."""

    spec = SPEC

    def answer(self, arguments: Data, variables: Data) -> Values:
        if arguments["format"] not in FORMATS:
            raise ValueError(f"status_format must be one of {', '.join(FORMATS)}, not {arguments['format']}")
        all_events = flag(arguments["all_events"])
        if all_events is None:
            raise ValueError(f"status_all_events must be true or false, not {arguments['all_events']}")
        state = mapping(variables.get(arguments["observed"]))
        form = arguments["format"]
        lines = status(state["plan"], form=form, event_id=arguments["event_id"], folders=state.get("vms"), all_events=all_events)
        if form == "text" and not arguments["event_id"]:
            lines += alike_lines(state["plan"])
        content = json.dumps(lines, indent=2) if arguments["format"] == "json" else "\n".join(lines)
        return {"lines": lines, "changed": bool(arguments["file"]) and self._write(arguments["file"], f"{content}\n".encode())}

    def _write(self, name: str, content: bytes) -> bool:
        """Write the file unless it has this content, or in check mode. Return whether it differs."""
        path = pathlib.Path(name)
        try:
            if path.is_file() and path.read_bytes() == content:
                return False
            if not self._task.check_mode:
                replace_file(path, content)
        except OSError as error:
            raise ValueError(f"status_file {name!r} cannot be written: {error.strerror or error}") from error
        return True


def replace_file(path: pathlib.Path, content: bytes) -> None:
    """Write a file beside and rename it over, so that who reads it has the old or the new one. Raise OSError."""
    beside = tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False)  # noqa: SIM115 (closed below)
    try:
        with beside:
            beside.write(content)
        os.replace(beside.name, path)
    except OSError:
        os.unlink(beside.name)
        raise
