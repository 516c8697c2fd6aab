# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prometheus' text: whatever is in a label is read back as it was."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.exposition import GAUGE, Metric, Sample, exposition, metric


def test_a_metric_without_a_value_is_left_out() -> None:
    assert exposition([metric("a", GAUGE, "Help.", None), Metric("b", GAUGE, "Help.", [])]) == b""


def test_the_form() -> None:
    text = exposition([Metric("a", GAUGE, "Help.", [Sample(1, {"x": 'q"\\\n'}), Sample(2.5)])])
    assert text.decode() == (
        "# HELP azure_scheduled_events_a Help.\n# TYPE azure_scheduled_events_a gauge\n"
        'azure_scheduled_events_a{x="q\\"\\\\\\n"} 1\nazure_scheduled_events_a 2.5\n'
    )


def test_half_of_a_pair_of_surrogates_is_no_end() -> None:
    assert b'x="?"' in exposition([Metric("a", GAUGE, "Help.", [Sample(1, {"x": "\ud800"})])])


# Line ends of other systems end no line for Prometheus, but they do for this parser.
LABELS = st.text(st.characters(codec="utf-8", exclude_characters="\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), max_size=60)


@settings(deadline=None)
@given(LABELS, LABELS, st.floats(allow_nan=False))
def test_any_label_and_value_are_read_back(one: str, two: str, number: float) -> None:
    text = exposition([Metric("a", GAUGE, "Help.", [Sample(number, {"x": one, "y": two})])])
    (family,) = text_string_to_metric_families(text.decode("utf-8"))
    assert [(sample.labels, sample.value) for sample in family.samples] == [({"x": one, "y": two}, number)]
