# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No sentence decides anything: with all texts of blockers, of records' reasons and of methods' errors replaced, a plan is the same.

Each text becomes a token. With the tokens replaced by their texts again, the whole plan and its status are equal to those without tokens.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.blocker import KINDS, Blocker
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report import messages
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, SETTINGS, at, event, method, record, vm
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.test_model_world import storm

TOKEN = re.compile(r"Q\d{4}Q")
# Blockers that no plan makes: those of a batch of an upgrade, and of a drain that its VM keeps waiting.
ELSEWHERE = {"enabling", "event", "record", "recent", "cluster", "not_yet"}


class Scrambled:
    """The tokens of texts, and the kinds of the blockers that had them."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.kinds: set[str] = set()

    def token(self, text: str) -> str:
        """Return the token of a text, each time the same; none for an empty one."""
        return self.texts.setdefault(text, f"Q{len(self.texts):04d}Q") if text else text

    def plain(self, value: Any) -> Any:
        """Return a value with texts in place of tokens, also of those that tokens stand for."""
        if isinstance(value, str):
            known = {token: text for text, token in self.texts.items()}
            while TOKEN.search(value):
                value = TOKEN.sub(lambda found: known[found.group()], value)
            return value
        if isinstance(value, dict):
            return {key: self.plain(item) for key, item in value.items()}
        return [self.plain(item) for item in value] if isinstance(value, list) else value

    def observations(self, given: Any) -> Any:
        """Return observations with tokens in their records."""
        found = copy.deepcopy(given)
        for one in found:
            for its in [*(one.get("observation") or {}).get("records", ()), *(one.get("last_observation") or {}).get("records", ())]:
                its["reason"] = self.token(its.get("reason") or "") or None
                for each in its["methods"]:
                    each["error"] = self.token(each.get("error") or "") or None
        return found


@pytest.fixture
def same(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Make a plan, make it again with tokens, and compare. The function has the tokens as C(words)."""
    words = Scrambled()
    real = Blocker.__post_init__

    def scramble(self: Blocker) -> None:
        real(self)
        words.kinds.add(self.kind)
        for key in ("text", "detail", "way_out"):
            object.__setattr__(self, key, words.token(getattr(self, key)))

    def plan(observations: Any, **given: Any) -> dict[str, Any]:
        found = make_plan(observations, **given)
        with monkeypatch.context() as patch:
            patch.setattr(Blocker, "__post_init__", scramble)
            other = make_plan(words.observations(observations), **given)
            lines = [line for event_id in _ids(found) for line in status(other, event_id=event_id, exact=True)]
            assert words.plain(other) == found
            assert words.plain([*status(other), *lines]) == [*status(found), *_explained(found)]
        return found

    plan.words = words  # type: ignore[attr-defined]
    return plan


def _ids(found: dict[str, Any]) -> list[str]:
    return [one["event_id"] for one in found["events"]]


def _explained(found: dict[str, Any]) -> list[str]:
    return [line for event_id in _ids(found) for line in status(found, event_id=event_id, exact=True)]


TWO = event(resources=("vm1", "vm2"))
WEB = [{"name": "web", "members": ["vm1", "vm2"], "max_unavailable": 1}]
OTHERS = {"name": "lease-x", "run": "other", "digest": "d", "event_id": "E1", "kind": "events", "who": "bob", "groups": {}, "limit": at(100)}


def _word(action: str) -> dict[str, Any]:
    return {"action": action, "who": "alice", "why": "because", "at": at(-10), "until": at(3600), "vm": None, "beside": []}


def _drained(name: str, **more: Any) -> dict[str, Any]:
    return vm(name, [TWO], [record("drained", TWO, ago=1)], **more)


def _scenes() -> Iterator[tuple[list[dict[str, Any]], dict[str, Any], Any]]:
    """Observations, settings and policy of a plan: at least one for each kind of blocker."""
    one = vm("vm1", [event()])
    broken = method("undoing", error="the lock is stuck, unlock it by hand")
    left = method("undoing", error="drain_methods has it no more", error_kind="by_hand")
    bad = record("failed", TWO, ago=1, reason="it hangs", methods=[method("undone")])
    held = {"reason": "capacity group 'web' has no room", "blocker": {"kind": "capacity", "subjects": ["web"]}}
    yield [one], {"paused": {"who": "alice", "why": "release", "until": at(7200)}}, "default"
    yield [one], {"start_gate": {"go": False, "text": "it answered 503"}}, "default"
    for action in ("hold", "let_it_come", "approve"):
        yield [vm("vm1", [event()], [record("noticed", decision=_word(action))])], {}, "default"
    yield [one], {}, [{"when": "event_type == 'Freeze'", "drain": False, "approve": "now"}]
    yield [one], {}, [{"drain": True, "approve": "never"}]
    yield [one], {}, [{"drain": True, "approve": "after_drain", "window": {"from": "01:00", "to": "02:00"}}]
    yield [one], {}, [{"drain": True, "approve": "after_drain", "drain_at": 300}]
    yield [vm("vm1", [event(resources=("vm1", "db9"))])], {}, "default"
    yield [vm("vm1", [event()], leases=[OTHERS])], {"run": {"id": "mine"}}, "default"
    yield [vm("vm1", [event()], [record("noticed")]), vm("vm2", in_service=False)], {"capacity": WEB}, "default"
    yield [vm("vm1", [event()], [record("held", **held)]), vm("vm2", in_service=False)], {"capacity": WEB}, "default"
    yield [{**one, "wrong_settings": ["drain_methods is no list"]}], {}, "default"
    yield [vm("vm1", [event()], [record("noticed")], methods=())], {}, "default"
    yield [one, {**vm("vm2", [event()]), "identity": {"name": "vm1"}}], {}, "default"
    yield [vm("vm1", [event()], identity={"name": "a"}), vm("vm2", [event(resources=("a",))], identity={"name": "a"})], {}, "default"
    yield [{**vm("vm1", [TWO]), "listed_before": [TWO]}, {**vm("vm2", [{**TWO, "event_type": "Freeze"}])}], {}, "default"
    yield [vm("vm1", [TWO]), vm("vm2", state="unreachable", error="no route")], {}, "default"
    yield [vm("vm1", [TWO], [bad]), vm("vm2", [TWO], [record("noticed", TWO)])], {}, "default"
    yield [vm("vm1", [TWO], enabled_at=at(-10)), vm("vm2", [], enabled_at=at(-10)), vm("vm3", [TWO])], {}, "default"
    yield [_drained("vm1", could_not_approve=["E1"]), _drained("vm2", could_not_approve=["E1"])], {}, "default"
    yield [_drained("vm1"), vm("vm2", [TWO], [record("draining", TWO)])], {}, "default"
    yield [_drained("vm1"), _drained("vm2")], {"run": {"id": "mine"}}, "default"
    needed = {"kind": "needed", "subjects": []}
    yield [vm("vm1", [event()], [record("drained", reason="no other server of backend web takes sessions", blocker=needed)])], {}, "default"
    yield [{**one, "cannot_write": "cannot write records to /x: No space left on device"}], {}, "default"
    for its in (broken, left):
        yield [vm("vm1", [event()], [record("failed", methods=[its], reason="it hangs")])], {}, "default"
    yield [vm("vm1", [], [record("failed", outcome="completed", missing_since=at(-60), reason="it does not start", methods=[left])])], {}, "default"


def _plans(same: Callable[..., dict[str, Any]]) -> None:
    for observations, settings, policy in _scenes():
        same(observations, policy=policy, settings={**SETTINGS, **settings}, now=timestamps.form(NOW))


def test_a_plan_of_every_kind_of_blocker_goes_by_no_sentence(same: Any) -> None:
    _plans(same)
    assert same.words.kinds == set(KINDS) - ELSEWHERE


@pytest.mark.parametrize("seed", range(3))
def test_a_history_goes_by_no_sentence(same: Any, seed: int) -> None:
    storm(seed, passes=20, plan=same)


def _left_by_words(patch: pytest.MonkeyPatch) -> None:
    def by_words(participant: Any) -> list[Any]:
        return [one for one in participant.record.methods if one.error and "by hand" in one.error] if participant.record else []

    patch.setattr(messages, "left_by_hand", by_words)


def _recorded_by_words(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Blocker, "identity", property(lambda self: {"kind": self.kind, "subjects": ["web"] if self.text.startswith("capacity") else []}))


def _told_by_words(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(messages, "in_order", lambda blockers: sorted(blockers, key=lambda one: one.text))


@pytest.mark.parametrize("mutant", [_left_by_words, _recorded_by_words, _told_by_words])
def test_a_plan_that_goes_by_sentences_is_caught(same: Any, mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    with pytest.raises(AssertionError):
        _plans(same)
