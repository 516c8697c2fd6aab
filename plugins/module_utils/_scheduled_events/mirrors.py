# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Copies of other VMs' records: where something outside a VM was changed, a VM that loses its disk must not lose the way back.

One file for each VM and event, replaced in one step. A mirror is no record of the VM that it lies on.
"""

from __future__ import annotations

import hashlib
import json
import re
import typing as t

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.files import Files
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host import Host
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.record_format import (
    Record,
    RecordsError,
    Unreadable,
    complete,
    event_id_of,
    load,
    public,
    shorten,
    stem,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.record_steps import may_be_pruned
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.replacing import replace_file

FORMAT = 1
FILE_NAME = re.compile(r"mirror-[0-9a-f]{16}-event-[a-z0-9-]{1,80}\.json")
# The VM of a mirror that nobody wrote to for this long is gone for good, and the change with it.
LONGEST_SECONDS = 30 * 86400.0

Mirror = t.Dict[str, t.Any]


class MirrorsReading(t.NamedTuple):
    """All mirrors, in the order of their names, and in words what is wrong with others."""

    mirrors: list[Mirror]
    problems: list[str]


class Mirrored(t.NamedTuple):
    """The outcome of one write."""

    before: Record | None
    after: Record | None
    changed: bool


def mirror_argument() -> dict[str, t.Any]:
    """The argument spec of the option mirror."""
    return {
        "type": "dict",
        "options": {"vm": {"type": "str", "required": True}, "vm_id": {"type": "str"}, "record": {"type": "dict", "required": True}},
    }


def mirror_name(vm: str, event_id: str) -> str:
    """The name of a mirror's file. Any inventory name becomes a short, plain part of it."""
    digest = hashlib.sha256(vm.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"mirror-{digest}-{stem(event_id)}.json"


def checked_record(given: t.Mapping[str, t.Any]) -> Record:
    """A record that came through an option, such as templates of ansible-core 2.18 leave it."""
    event = given.get("event")
    if not isinstance(event, t.Mapping) or not isinstance(event.get("event_id"), str) or not event["event_id"].strip():
        raise RecordsError(f"the record given names no event: {shorten(given)}")
    record = dict(given, event=dict(event))
    record.pop("age_seconds", None)
    for key in ("revision", "attempts"):
        if isinstance(record.get(key), str) and record[key].isdecimal():
            record[key] = int(record[key])
    try:
        return complete(json.loads(json.dumps(record)))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordsError(f"the record given of event {event['event_id']} {error}.")


class Mirrors:
    """All mirrors on one VM."""

    def __init__(self, files: Files, host: Host) -> None:
        self.files = files
        self.host = host

    def read_all(self) -> MirrorsReading:
        """Every mirror that can be read."""
        mirrors, problems = [], []
        try:
            names = self._names()
        except OSError:
            return MirrorsReading([], [])  # the records say so
        for name in names:
            try:
                mirrors.append(self._read(name))
            except FileNotFoundError:
                continue
            except (OSError, Unreadable) as error:
                problems.append(f"The file {name} in {self.files.where} is no copy of a record that can be used: it {error}. Remove it.")
        return MirrorsReading(mirrors, problems)

    def _names(self) -> list[str]:
        try:
            return [name for name in self.files.names() if FILE_NAME.fullmatch(name)]
        except FileNotFoundError:
            return []

    def _read(self, name: str) -> Mirror:
        data = load(self.files.read(name))
        if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("record"), dict):
            raise Unreadable("holds no mirror that this version of the collection knows")
        vm, vm_id, event = data.get("vm"), data.get("vm_id"), data["record"].get("event")
        if not isinstance(vm, str) or not isinstance(event, dict) or not isinstance(event.get("event_id"), str):
            raise Unreadable("names no VM or no event")
        if mirror_name(vm, event["event_id"]) != name:
            raise Unreadable("belongs to another VM or event than its name says")
        return {"vm": vm, "vm_id": vm_id if isinstance(vm_id, str) and vm_id else None, "record": public(complete(data["record"]))}

    def write(self, vm: str, vm_id: str | None, given: t.Mapping[str, t.Any], check_mode: bool = False) -> Mirrored:
        """Keep a copy of the record, unless there is a newer one; remove it when the VM is recovered."""
        if not vm.strip():
            raise RecordsError("mirror.vm is empty.")
        record = public(checked_record(given))
        name = mirror_name(vm, event_id_of(record))
        present = self._present(name)
        before = present["record"] if present else None
        if before is not None and _age(before) > _age(record):
            return Mirrored(before, before, False)
        if record["phase"] == "recovered":
            return self._removed(name, before, check_mode)
        content = {"format": FORMAT, "vm": vm, "vm_id": vm_id or None, "record": record}
        if present is not None and before == record and present["vm_id"] == content["vm_id"]:
            return Mirrored(before, before, False)
        if not check_mode:
            replace_file(self.files, name, content, "The copy")
        return Mirrored(before, record, True)

    def _present(self, name: str) -> Mirror | None:
        try:
            return self._read(name)
        except (OSError, Unreadable):
            return None  # what cannot be read is replaced

    def _removed(self, name: str, before: Record | None, check_mode: bool) -> Mirrored:
        if not check_mode:
            try:
                self.files.unlink(name)
            except FileNotFoundError:
                return Mirrored(None, None, False)
            except OSError as error:
                raise RecordsError(f"The copy {name} in {self.files.where} cannot be removed: {error}.")
        return Mirrored(before, None, before is not None)

    def prune(self, older_than: float, check_mode: bool = False) -> list[str]:
        """Remove the mirrors of what is over, and those that nobody has written to for a month; the ids of their events."""
        pruned = []
        for mirror in self.read_all().mirrors:
            record = mirror["record"]
            name = mirror_name(mirror["vm"], event_id_of(record))
            try:
                old = self.files.age(name) > LONGEST_SECONDS
                if not old and not may_be_pruned(record, self.host.now(), older_than):
                    continue
                if not check_mode:
                    self.files.unlink(name)
            except OSError:
                continue
            pruned.append(event_id_of(record))
        return pruned


def _age(record: Record) -> tuple[str, int]:
    """What is newer: a record that began later, then the one with more revisions. Text of one form, so that it compares."""
    begin = record["history"][0]["at"] if record["history"] else ""
    revision = record.get("revision")
    return begin, revision if isinstance(revision, int) else 0
