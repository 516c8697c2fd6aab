# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file that role watch writes for root: read only where no one else could have changed it, and refused where it holds more than this VM's own drain."""

from __future__ import annotations

import json
import pathlib
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain import registry
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.content import parse_content, read_content
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import SettingsError
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.interface.outside import OutsideMethod

METHOD = {"id": "1-command", "kind": "command", "where": "own", "given": {"begin": "x"}, "outside": False, "runs": True, "ends": True, "report": None}
GOOD: dict[str, t.Any] = {"rules": [{"name": "all", "drain": True, "approve": "after_drain", "when": None}], "methods": [METHOD], "elsewhere": ["2-haproxy"]}


def written(folder: pathlib.Path, content: t.Any = None, mode: int = 0o600) -> str:
    path = folder / "drain.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(GOOD if content is None else content).encode())
    path.chmod(mode)
    return str(path)


def test_what_the_role_writes_is_read(tmp_path: pathlib.Path) -> None:
    found = read_content(written(tmp_path))
    assert [rule.name for rule in found.rules] == ["all"] and found.methods == [METHOD] and found.elsewhere == ["2-haproxy"]


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o620, 0o602])
def test_a_file_that_others_can_read_or_write_is_refused(tmp_path: pathlib.Path, mode: int) -> None:
    with pytest.raises(SettingsError, match="mode 0600"):
        read_content(written(tmp_path, mode=mode))


def test_a_link_and_a_missing_file_are_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "link").symlink_to(written(tmp_path))
    for name in ("link", "missing"):
        with pytest.raises(SettingsError, match="cannot be read"):
            read_content(str(tmp_path / name))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 5000, b" " * 300 * 1024, b"null"])
def test_damaged_files_are_refused(tmp_path: pathlib.Path, content: bytes) -> None:
    with pytest.raises(SettingsError, match="is not usable"):
        read_content(written(tmp_path, content))


@pytest.mark.parametrize(
    "wrong",
    [
        {"rules": None},
        {"rules": [{}]},
        {"methods": None},
        {"methods": [{}]},
        {"methods": [{**METHOD, "where": "controller"}]},
        {"methods": [{**METHOD, "outside": True}]},
        {"methods": [{**METHOD, "runs": False}]},
        {"methods": [{**METHOD, "finding": {}}]},
        {"elsewhere": None},
        {"elsewhere": [5]},
        {"more": 1},
    ],
)
def test_wrong_content_is_refused(wrong: dict[str, t.Any]) -> None:
    with pytest.raises(ValueError):
        parse_content({**GOOD, **wrong})


def test_what_is_outside_is_read_only_where_its_class_is_safe_without_a_copy_of_its_record(monkeypatch: pytest.MonkeyPatch) -> None:
    method = OutsideMethod()
    monkeypatch.setitem(registry.METHODS, method.name, method)  # type: ignore[misc]
    outside = {**METHOD, "kind": method.name, "where": "controller", "outside": True}
    assert parse_content({**GOOD, "methods": [outside]}).methods == [outside]
    method.safe_at_once = False
    for wrong in (outside, {**outside, "where": "own"}, {**outside, "outside": False}):
        with pytest.raises(ValueError, match="1-command does not run on the VM alone"):
            parse_content({**GOOD, "methods": [wrong]})
