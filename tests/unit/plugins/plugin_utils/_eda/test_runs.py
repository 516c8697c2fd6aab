# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of runs, in bounded memory."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving import memory
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.memory import BESIDE_SECONDS, Runs


def test_a_key_is_the_event_id_until_another_run_begins() -> None:
    known = Runs()
    assert known.key("a") == "a"
    assert known.begin("a", ["web1"], "web1", 0.0) == "a" == known.key("a")
    assert not known.wants_another("a", ["web2"], "web1", BESIDE_SECONDS - 1) and known.wants_another("a", ["web2"], "web1", BESIDE_SECONDS)
    assert known.begin_another("a", ["web1", "web2"], "web1", BESIDE_SECONDS) == "a/2" == known.key("a")
    # Its own minute begins.
    assert not known.wants_another("a", ["web3"], "web1", BESIDE_SECONDS + 1)
    # An event that was forgotten begins anew.
    assert known.begin("a", ["web1"], "web1", 100000.0) == "a" == known.key("a")


def test_the_events_without_news_for_longest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST_EVENTS", 2)
    known = Runs()
    for event_id in "abc":
        known.begin(event_id, ["web1"], "web1", 0.0)
    assert [known.wants_another(event_id, ["web2"], "web1", 1000.0) for event_id in "abc"] == [False, True, True]
