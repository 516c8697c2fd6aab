# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences for people: where an event stands, why, and what happens next."""

from __future__ import annotations

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Method
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.timestamps import duration
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide.intents import drained_now
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case, Part

# Intents of a VM that puts something back, now or later.
RETURNS = ("undo", "recover", "stay")
UNDER_WAY = (
    ("undo", "{} put back, because the drain failed"),
    ("recover", "{} put back"),
    ("verify", "{} checked once more"),
    ("drain", "{} drained"),
)


def phase(case: Case) -> str:
    """One word for the whole event: what is left on VMs that it does not name says nothing about it."""
    parts = case.hit or case.parts
    phases = [part.phase for part in parts]
    if not case.hit and not any(phases):
        return "retired" if case.retired else "foreign"
    if "failed" in phases:
        return "failed"
    if not case.listed and all(word == "recovered" for word in phases) and any(part.has_ended for part in parts):
        return "recovered"
    over = [part for part in parts if part.over]
    if over and not case.listed:
        return "recovering" if "recovering" in phases else "gone"
    if case.started:
        return "started"
    if case.approved:
        return "approved"
    if case.hit and all(drained_now(part) for part in case.hit):
        return "drained"
    if any(part.holds_changes or part.phase == "draining" for part in parts):
        return "draining"
    if case.hold or case.claimed or any(part.hold for part in parts) or "held" in phases:
        return "held"
    return "noticed"


def reason(case: Case, word: str) -> str | None:
    """Why it is where it is."""
    if word == "foreign":
        unsure = case.named.unsure
        return f"{', '.join(unsure)} may be a VM that could not be read" if unsure else "it names none of the managed VMs"
    if word == "retired":
        return f"nobody waits for {', '.join(case.retired)} any more"
    parts = case.parts
    found = [part.failed for part in parts] + [_of(part) for part in parts if part.phase == "failed"]
    if case.listed and not case.started and not case.approved:
        found += [case.hold, case.claimed, case.full, *case.blockers, *[part.hold for part in parts], case.waits_for]
    found += [part.reason for part in parts]
    return next((words for words in found if words), None)


def _of(part: Part) -> str | None:
    return part.reason or (part.record.reason if part.record else None)


def upcoming(case: Case, word: str) -> str:
    """What happens next."""
    if word == "foreign":
        return "nothing: it is left alone"
    if word == "retired":
        return "nothing"
    if not case.ours:
        return "nothing in this run: it is not in only_events"
    if case.approver:
        return f"{case.approver} approves it now"
    found = [sentence for part in case.parts if (sentence := waits_for_operator(part))]
    for intent, words in UNDER_WAY:
        names = [part.host.name for part in case.parts if part.intent == intent and not waits_for_operator(part)]
        if names:
            found.append(words.format(f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"))
    if found:
        return "; ".join(found)
    finishing = [part.host.name for part in case.parts if part.intent == "finish"]
    if finishing:
        return f"{', '.join(finishing)} must be in service again"
    return _idle(case, word)


def left_by_hand(part: Part) -> list[Method]:
    """The methods that are not undone because the variables name them no more (_drain/reports.py): an operator has to see to them."""
    methods = part.record.methods if part.record and part.ok else ()
    return [method for method in methods if method.state != "undone" and method.error and "by hand" in method.error]


def waits_for_operator(part: Part) -> str | None:
    """What an operator has to do before anything more is put back on a VM; nothing where the run itself can go on."""
    left = left_by_hand(part)
    if part.intent not in RETURNS or part.record is None or not left or len(left) < sum(method.state != "undone" for method in part.record.methods):
        return None
    names = ", ".join(method.identifier for method in left)
    return f"{part.host.name} waits for an operator: put back by hand what {names} changed, or list it in drain_methods_former"


def _idle(case: Case, word: str) -> str:
    if word == "recovered":
        return "nothing: it is over"
    if not case.listed:
        return "another look shows whether it is over" if any(part.wait for part in case.parts) else "waits for the VMs to answer"
    if case.started:
        return "waits for its end"
    if case.approved:
        return "waits for Azure to start it"
    if case.full and case.waits_for:
        return case.waits_for
    waits = [part.wait for part in case.parts if part.wait is not None]
    if waits:
        return f"looked at again in {duration(min(waits))}"
    if case.waits_for:
        return case.waits_for
    return "Azure starts it by itself" + (f" in {duration(case.left)}" if case.left and case.left > 0 else "")
