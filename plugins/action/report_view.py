# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import hashlib
import json
import pathlib
import re
import time
import typing as t

from ansible.utils.display import Display
from ansible.utils.vars import load_extra_vars

from ..module_utils._scheduled_events.core.types import Data, Values
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core.plain_values import flag, items, mapping, number, text
from ..plugin_utils._core.short_forms import grouped, some
from ..plugin_utils._maintenance.config.settings import load_limits
from ..plugin_utils._maintenance.core import timestamps
from ..plugin_utils._report import tables
from ..plugin_utils._report.page import page
from ..plugin_utils._report.report import Answers, Report, count_answered, is_answer, make, window
from ..plugin_utils._settings import near_misses, option_types, play_keywords, vm_variables
from ..plugin_utils._settings.facts import why_refused
from .status_view import replace_file

FORMS: dict[str, t.Callable[[Report], str]] = {
    ".html": page,
    ".json": lambda report: json.dumps(report, indent=1) + "\n",
    ".csv": tables.as_csv,
}
SHOWN = 6


class ActionModule(OnController):
    """Find the time of a report, which VMs are asked, and where each is archived; or make the report and write its files."""

    spec: t.ClassVar[Values] = {
        **{key: {"type": "raw", "default": ""} for key in ("since", "until", "month", "event_id", "file", "min_answered", "archive")},
        "limits": {"type": "raw", "default": {}},
        **{key: {"type": "str", "default": ""} for key in ("own", "archived")},
        "allow_empty": {"type": "bool", "default": False},
    }

    def answer(self, arguments: Data, variables: Data) -> Values:
        chosen = window(arguments["since"], arguments["until"], arguments["month"], time.time())
        files, event_id = _files(arguments["file"]), text(arguments["event_id"]) or ""
        if arguments["event_id"] and not event_id:
            raise ValueError(f"report_event_id must be the beginning of an event's id, not {arguments['event_id']!r}")
        of_hosts = variables["hostvars"]
        excluded = {str(host): _is_excluded(mapping(of_hosts[host])) for host in items(variables.get("ansible_play_hosts_all"))}
        hosts = [host for host, found in excluded.items() if found is False]
        if not arguments["own"]:
            self._refuse_wrong(arguments, variables, len(excluded))
            raw = {host: of_hosts.raw_get(host) for host in (str(variables["inventory_hostname"]), *hosts)}
            for warning in option_types.differing(str(variables["inventory_hostname"]), raw, option_types.OF_REPORTS):
                Display().warning(warning)
            times = {"since": timestamps.form(chosen.since), "until": "" if chosen.is_open else timestamps.form(chosen.until)}
            return {**times, "shares": {host: _share(host) for host in hosts}}
        answers = {host: Answers(*(mapping(of_hosts[host]).get(arguments[key]) for key in ("own", "archived"))) for host in hosts}
        report = make(answers, chosen, time.time(), event_id)
        lines = tables.lines(report, [host for host, found in excluded.items() if found is True], self._write(report, files, arguments))
        wrong = [f"wrong settings on {line}" for line in grouped((host, [found]) for host, found in excluded.items() if isinstance(found, str))]
        missing = _missing(answers, report, arguments)
        fails = "; ".join([*wrong, *([] if wrong and not hosts else _silent(report, arguments)), *missing])
        return {"lines": lines, "report": report, "fails": fails, "changed": bool(files)}

    def _refuse_wrong(self, arguments: Values, variables: Values, hosts: int) -> None:
        """Raise ValueError for options that are wrong, before any VM is asked, and for names that are almost an option's: nothing would be archived."""
        if 0 in (load_limits("report_archive_limits", arguments["limits"]) or {}).values():
            raise ValueError("report_archive_limits: with a limit of 0 the archive would keep nothing; leave report_archive_path out instead")
        extra = set(map(str, load_extra_vars(self._loader)))
        misspelt = near_misses.refused(extra, set(variables) - set(mapping(variables.get("ansible_facts"))))
        if why := play_keywords.refused_around_all(self._task, hosts) or misspelt or option_types.wrong_report(variables, self._templar.template):
            raise ValueError(why)

    def _write(self, report: Report, files: t.Sequence[pathlib.Path], arguments: Values) -> list[str]:
        """Write the files of a report. Return a line for each, and in check mode, in which nothing is written, what is not."""
        if self._task.check_mode:
            archive = ["Check mode: nothing was added to the archive."] if text(arguments["archive"]) else []
            return [*(f"Not written, because of --check: {path}" for path in files), *archive]
        for path in files:
            try:
                replace_file(path, FORMS[path.suffix.lower()](report).encode())
            except OSError as error:
                raise ValueError(f"report_file {str(path)!r} cannot be written: {error.strerror or error}") from error
        return [f"Written: {path}" for path in files]


def _files(given: t.Any) -> list[pathlib.Path]:
    given = given or ""
    names = [one.strip() for one in given.split(",")] if isinstance(given, str) else list(given) if isinstance(given, (list, tuple)) else [None]
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"report_file must be a list of files, or text with commas, not {given!r}")
    found = [pathlib.Path(name).expanduser().absolute() for name in names if name]
    for path in found:
        if path.suffix.lower() not in FORMS:
            raise ValueError(f"report_file {str(path)!r}: its name must end with {', '.join(FORMS)}")
    return found


def _share(host: str) -> str:
    """Return the name of a host's folder in an archive: no two hosts have the same, and none leaves the archive."""
    plain = re.sub(r"[^a-z0-9]+", "-", host.lower()).strip("-")[:60]
    return f"{plain or 'vm'}-{hashlib.sha256(host.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _is_excluded(variables: Values) -> bool | str:
    """Return whether a host is left alone, or what is wrong with the variable that says so. Facts do not say it: such a host fails by itself."""
    if why_refused(variables.get("ansible_facts")):
        return False
    try:
        given = variables.get("respond_exclude")
    except vm_variables.UNEVALUATED as error:
        return vm_variables.why_unevaluated("respond_exclude", error, {})
    found = False if given is None else flag(given)
    return f"respond_exclude must be true or false, and is {given}" if found is None else found


def _missing(answers: t.Mapping[str, Answers], report: Report, arguments: Values) -> list[str]:
    """Return what a run was asked for and has not: VMs in the archive, and the event."""
    # A VM for which no archive is set has skipped that; one without any result has failed before.
    results = {host: one.archived if one.archived is not None or text(arguments["archive"]) else {"skipped": True} for host, one in answers.items()}
    lost = [host for host, archived in results.items() if not (is_answer(archived) or mapping(archived).get("skipped"))]
    found = [f"{some(lost, SHOWN)}: not archived, for the reasons above; correct them and run it again"] if lost else []
    event_id = text(arguments["event_id"])
    return found + ([f"no event of this time begins with {event_id}: report_from asks for an earlier one"] if event_id and not report["events"] else [])


def _silent(report: Report, arguments: Values) -> list[str]:
    """Return why the run fails for VMs that did not answer: no VM has, or too few."""
    asked, answered = len(report["vms"]), count_answered(report)
    if not asked and not arguments["allow_empty"]:
        return ["no VM was asked: all of them are left alone (respond_exclude)"]
    wanted = max((number(arguments["min_answered"]) or 0.0) * asked, 0 if arguments["allow_empty"] else 1)
    return [f"{answered} of {asked} VMs answered: the report has of the others what the archive has"] if answered < wanted else []
