# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import hashlib
import json
import pathlib
import re
import time
import typing as t

from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core.plain_values import items, mapping, number, text
from ..plugin_utils._maintenance.core import timestamps
from ..plugin_utils._report import tables
from ..plugin_utils._report.page import page
from ..plugin_utils._report.report import Answers, Report, make, window
from .status_view import replace_file

FORMS: dict[str, t.Callable[[Report], str]] = {
    ".html": page,
    ".json": lambda report: json.dumps(report, indent=1) + "\n",
    ".csv": tables.as_csv,
}


class ActionModule(OnController):
    """Find the time of a report and where each VM is archived, or make the report and write its files."""

    spec: t.ClassVar[t.Mapping[str, t.Any]] = {
        **{key: {"type": "raw", "default": ""} for key in ("since", "until", "month", "event_id", "file", "min_answered")},
        **{key: {"type": "str", "default": ""} for key in ("own", "archived")},
        "allow_empty": {"type": "bool", "default": False},
    }

    def answer(self, arguments: dict[str, t.Any], variables: dict[str, t.Any]) -> t.Mapping[str, t.Any]:
        now = time.time()
        chosen = window(arguments["since"], arguments["until"], arguments["month"], now)
        files = _files(arguments["file"])
        hosts = [str(host) for host in items(variables.get("ansible_play_hosts_all"))]
        if not arguments["own"]:
            times = {"since": timestamps.form(chosen.since), "until": timestamps.form(chosen.until)}
            return {**times, "shares": {host: _share(host) for host in hosts}}
        of_hosts = variables["hostvars"]
        answers = {host: Answers(*(mapping(of_hosts[host]).get(arguments[key]) for key in ("own", "archived"))) for host in hosts}
        report = make(answers, chosen, now, text(arguments["event_id"]) or "")
        changed = [self._write(path, FORMS[path.suffix.lower()](report).encode()) for path in files]
        return {"lines": tables.lines(report, list(map(str, files))), "report": report, "fails": _fails(report, arguments), "changed": any(changed)}

    def _write(self, path: pathlib.Path, content: bytes) -> bool:
        try:
            replace_file(path, content)
        except OSError as error:
            raise ValueError(f"report_file {str(path)!r} cannot be written: {error.strerror or error}") from error
        return True


def _files(given: t.Any) -> list[pathlib.Path]:
    names = [one.strip() for one in given.split(",")] if isinstance(given, str) else [text(one) or "" for one in items(given)]
    found = [pathlib.Path(name).expanduser() for name in names if name]
    for path in found:
        if path.suffix.lower() not in FORMS:
            raise ValueError(f"report_file {str(path)!r}: its name must end with {', '.join(FORMS)}")
    return found


def _share(host: str) -> str:
    """Return the name of a host's folder in an archive: no two hosts have the same, and none leaves the archive."""
    plain = re.sub(r"[^a-z0-9]+", "-", host.lower()).strip("-")[:60]
    return f"{plain or 'vm'}-{hashlib.sha256(host.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _fails(report: Report, arguments: t.Mapping[str, t.Any]) -> str:
    """Return why the run fails, or nothing: too few VMs have answered."""
    asked, answered = len(report["vms"]), sum(vm["answered"] for vm in report["vms"].values())
    wanted = max((number(arguments["min_answered"]) or 0.0) * asked, 0 if arguments["allow_empty"] else 1)
    return f"{answered} of {asked} VMs answered: the report has of the others what the archive has" if answered < wanted else ""
