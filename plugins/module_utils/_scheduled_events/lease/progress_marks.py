# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Progress marks of upgrades: how far each is on this VM, by its name. So an upgrade that was stopped continues with the remaining VMs.

One file for each upgrade, replaced atomically, and written under the run's lease only.
"""

from __future__ import annotations

import hashlib
import re

from ..core.limits import MARKS
from ..core.types import Data, Values
from ..host.files import Files, Folder
from ..host.system import Host
from ..journal.record_encoding import Reading, load, read_each, remove_file, replace_file
from ..journal.record_schema import RecordsError, Unreadable, shorten
from .lease_operations import UnderLease
from .lease_schema import UPGRADE
from .lease_store import LeaseStore

FORMAT = 1
DIGEST = re.compile(r"[0-9a-f]{64}")
FILE_NAME = re.compile(r"upgrade-[0-9a-f]{16}\.json")
# begun: the tasks may be under way. upgraded: the tasks are done, and the VM is not yet back in service.
# left: the tasks failed, and the VM stays out of service by choice.
STATES = ("begun", "upgraded", "left", "done")
LONGEST_NAME = 100
LONGEST_TEXT = 1000
# digest: of the tasks with which the VM was upgraded. Marks of earlier versions have none.
KEYS = ("name", "state", "at", "begun_at", "run", "who", "digest")

ProgressMark = Data


def upgrade_argument() -> Data:
    """Return the argument spec of the option upgrade."""
    state = {"type": "str", "required": True, "choices": [*STATES, "absent"]}
    return {"type": "dict", "options": {"name": {"type": "str", "required": True}, "state": state, "digest": {"type": "str"}}}


def progress_mark_name(upgrade: str) -> str:
    """Return the name of a mark's file. Case counts here: two upgrades whose names differ in it are two."""
    digest = hashlib.sha256(upgrade.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"upgrade-{digest}.json"


class ProgressMarks(Folder):
    """All progress marks on one VM."""

    def __init__(self, files: Files, host: Host, vm_id: str | None = None) -> None:
        super().__init__(files, host)
        self.vm_id = (vm_id or "").lower() or None

    def read_all(self) -> Reading:
        """Read every mark. Report one of another VM, whose image this VM was made from, and an unreadable one, which does not count as done."""
        names, problem = self._names(FILE_NAME), "The file {} in {} is not a usable progress mark of an upgrade: it {}. Remove it."
        too_many = f"There are {len(names)} progress marks of upgrades in {self.files.where}, and {MARKS} are read: remove those of upgrades that are over."
        marks, problems = read_each(self.files, names[:MARKS], self._read, problem)
        return Reading(sorted(marks, key=lambda mark: str(mark["name"])), ([too_many] if len(names) > MARKS else []) + problems)

    def _read(self, name: str) -> ProgressMark:
        data = load(self.files.read(name))
        if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("state") not in STATES or not isinstance(data.get("name"), str):
            raise Unreadable("holds no mark that this version of the collection knows")
        if progress_mark_name(data["name"]) != name:
            raise Unreadable("belongs to another upgrade than its name says")
        if not all(data.get(key) is None or isinstance(data.get(key), str) for key in (*KEYS, "vm_id")):
            raise Unreadable("has no text where one belongs")
        if len(data["name"]) > LONGEST_NAME or any(len(str(data.get(key))) > LONGEST_TEXT for key in (*KEYS, "vm_id")):
            raise Unreadable("has a longer text than any mark")
        owner = str(data.get("vm_id") or "").lower()
        if owner and self.vm_id and owner != self.vm_id:
            raise Unreadable(f"belongs to VM {owner}")
        return {key: data.get(key) for key in KEYS}

    def present(self, upgrade: str) -> ProgressMark | None:
        """Return the progress mark of one upgrade, or None without one. An unreadable mark counts as none, and is replaced."""
        try:
            return self._read(progress_mark_name(upgrade))
        except (OSError, Unreadable):
            return None

    def write(self, upgrade: str, state: str, run: str, who: str, digest: str | None = None) -> ProgressMark:
        """Replace the progress mark of one upgrade. A VM that is done keeps the digest of its tasks."""
        before, now = self.present(upgrade), self.host.now()
        begun_at = before["begun_at"] if before and state != "begun" else now
        digest = digest or (before["digest"] if before and state == "done" else None)
        mark: ProgressMark = {"name": upgrade, "state": state, "at": now, "begun_at": begun_at, "run": run, "who": who, "digest": digest}
        replace_file(self.files, progress_mark_name(upgrade), dict(mark, format=FORMAT, vm_id=self.vm_id), "The progress mark")
        return mark

    def remove(self, upgrade: str) -> None:
        """Remove the progress mark of one upgrade."""
        remove_file(self.files, progress_mark_name(upgrade), "The progress mark")


def change_progress_marks(files: Files, host: Host, options: Values, check_mode: bool) -> Data:
    """Write or remove a progress mark, for the module maintenance_record."""
    given, lease = options["upgrade"], options.get("lease") or {}
    name, state, marks = _checked_name(given["name"]), given["state"], ProgressMarks(files, host, options.get("vm_id"))
    digest = _checked_digest(given.get("digest"))
    before = marks.present(name)
    # Where the mark has this state already, the lease is renewed all the same, and must be valid.
    under = UnderLease(LeaseStore(files, host), lease, UPGRADE + name)
    under.begin(check_mode)
    after = before if (before["state"] if before else "absent") == state else _change(marks, name, state, lease, digest, check_mode)
    under.end(check_mode)
    return _result(before, after)


def _change(marks: ProgressMarks, name: str, state: str, lease: Values, digest: str | None, check_mode: bool) -> ProgressMark | None:
    if state == "absent":
        if not check_mode:
            marks.remove(name)
        return None
    if check_mode:
        return {"name": name, "state": state, "run": lease.get("run")}
    return marks.write(name, state, lease["run"], lease.get("who") or "", digest)


def _checked_digest(digest: str | None) -> str | None:
    if digest and not DIGEST.fullmatch(digest):
        raise RecordsError(f"upgrade.digest must be 64 hexadecimal digits (SHA-256), and is {shorten(digest)}.")
    return digest or None


def _checked_name(name: str) -> str:
    if not name.strip() or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise RecordsError(f"upgrade.name must have 1 to {LONGEST_NAME} printable letters, and no space around them, and is {shorten(name)}.")
    return name


def _result(before: ProgressMark | None, after: ProgressMark | None) -> Data:
    changed = (before or {}).get("state") != (after or {}).get("state")
    diff = {"before": {"upgrade": before}, "after": {"upgrade": after}} if changed else {"before": {}, "after": {}}
    return {"changed": changed, "record": None, "conflict": False, "upgrade": after, "diff": diff}
