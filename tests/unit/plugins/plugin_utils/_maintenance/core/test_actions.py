# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the roles read of an action is in the dictionary that the serialiser makes of it."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations import maintenance_act
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders import vm_actions
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.act import stages
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import actions

ROLES = pathlib.Path(actions.__file__).parents[4] / "roles"
# A key with a default, or asked for with "is defined", may be missing from some of the actions; others must always be there.
READ = re.compile(r"\b(?:__respond_action|__respond_each|__gate_progress_marks\[0\])\.(?P<key>\w+)(?P<guard>\s*\|\s*default\(|\s+is\s+defined)?")
PLANNED = [kind for kind in actions.KINDS if kind is not actions.MarkProgress]


def kinds_of(stage: str) -> list[type[actions.Action]]:
    """Return the kinds of action that a stage takes."""
    return [kind for kind in PLANNED if kind.name in dict(stages.STAGES)[stage]]


READERS: dict[str, list[type[actions.Action]]] = {
    **{f"respond/tasks/act_{name}.yml": kinds_of(name) for name, acts in stages.STAGES if not set(acts) <= set(vm_actions.ALWAYS)},
    "gate/tasks/main.yml": [actions.MarkProgress],
}


def texts(value: Any) -> Iterator[str]:
    """Return every text in a parsed YAML file."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def unknown_keys(text: str, kinds: Iterable[type[actions.Action]]) -> list[str]:
    """Return the keys that a tasks file reads, and that the serialiser does not give for every kind of action that the file gets."""
    # The loop adds to the actions of tasks where the keeper keeps the replica (assignments.py).
    known = [{**actions.keys(kind), "keeper_path": True} for kind in kinds]
    found = []
    for read in (read for line in texts(yaml.safe_load(text)) for read in READ.finditer(line)):
        given = any(read["key"] in keys for keys in known) if read["guard"] else all(keys.get(read["key"]) for keys in known)
        found += [] if given else [read["key"]]
    return found


@pytest.mark.parametrize("name", READERS)
def test_roles_read_keys_that_the_serialiser_gives(name: str) -> None:
    assert unknown_keys((ROLES / name).read_text(), READERS[name]) == []


def test_every_file_that_reads_an_action_is_tested() -> None:
    files = {str(path.relative_to(ROLES)) for path in ROLES.glob("*/*/**/*.yml") if READ.search(path.read_text())}
    assert files <= READERS.keys()
    assert len(files) >= 5


def test_what_maintenance_act_is_asked_for_is_what_the_serialiser_gives() -> None:
    of_records = {key for kind in PLANNED if kind.name in maintenance_act.RECORD_STATES for key in actions.keys(kind)}
    assert set(maintenance_act.RECORD_OPTIONS) <= of_records
    assert {"event_ids", "approve_for", "lease"} <= actions.keys(actions.Approve).keys()
    assert set(vm_actions.DRAIN_KEYS) <= {key for key, always in actions.keys(actions.Drain).items() if always}
    assert set(vm_actions.UNDO_KEYS) <= {key for key, always in actions.keys(actions.Undo).items() if always}
    on_vm = {kind.name for kind in PLANNED} - {"replicate", "notify"}
    assert on_vm == {*vm_actions.ALWAYS, "drain", "undo", "recover"}
    # No plan asks for it: role drain does, of another node of a failover cluster.
    assert set(maintenance_act.ACTIONS) == {*on_vm, "take_over"}


@pytest.mark.parametrize(
    "text",
    [
        "[{when: __respond_action.nothing}]",
        '[{debug: {msg: "{{ __respond_each.nothing | default(1) }}"}}]',
        '[{vars: {a: [{b: "{{ __respond_each.keeper }}"}]}}]',
    ],
)
def test_a_key_that_is_not_given_is_found(text: str) -> None:
    assert unknown_keys(text, kinds_of("drain"))


def made(kind: type[actions.Action], **more: Any) -> actions.Action:
    """Return an action with something in every field that needs it."""
    needed = {one.name: one.name for one in dataclasses.fields(kind) if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING}
    return kind(**{**needed, **more})


@pytest.mark.parametrize("kind", actions.KINDS)
def test_the_serialiser_gives_the_keys_of_a_kind(kind: type[actions.Action]) -> None:
    keys = actions.keys(kind)
    assert list(actions.serialise(made(kind))) == [key for key, always in keys.items() if always]
    optional = {"lease": {"run": "r"}, "keeper": None, "expected_revision": 7, "history": {"days": 30}, "must": True}
    optional |= {"away": [{"server": "vm2"}], "serves": "it answers"}
    filled = actions.serialise(made(kind, **{one.name: optional[one.name] for one in dataclasses.fields(kind) if one.name in optional}))
    assert filled.keys() == keys.keys()
    assert filled["action"] == kind.name


def test_an_action_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made(actions.Prune), "host", "other")  # noqa: B010


def test_a_keeper_that_could_not_be_found_is_told_from_none_that_is_needed() -> None:
    assert "keeper" not in actions.serialise(made(actions.Undo))
    assert actions.serialise(made(actions.Undo, keeper=None))["keeper"] is None
    assert actions.serialise(made(actions.Undo, keeper="web2"))["keeper"] == "web2"


def test_every_kind_of_the_plan_has_a_stage() -> None:
    assert {kind.name for kind in PLANNED} == stages.ORDER.keys()
