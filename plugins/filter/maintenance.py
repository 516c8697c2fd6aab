# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""All filters. Each has its documentation in the file of its name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._scheduled_events.core import printable_text
from ..module_utils._scheduled_events.core.types import Data
from ..plugin_utils._awx import changes, hiding, objects, refusals
from ..plugin_utils._awx.surveys import survey
from ..plugin_utils._core import plain_values
from ..plugin_utils._core.wrong_input import WrongInput
from ..plugin_utils._drain.records.replicas import replica_of
from ..plugin_utils._maintenance.config import policy as policies
from ..plugin_utils._maintenance.operator import override_requests
from ..plugin_utils._maintenance.planner import make_plan
from ..plugin_utils._maintenance.report.printable_plan import sentence, shown
from ..plugin_utils._maintenance.report.status import status, would_lines
from ..plugin_utils._maintenance.report.timeline import timeline
from ..plugin_utils._maintenance.upgrade.batches import make_batches
from ..plugin_utils._maintenance.upgrade.gate import make_gate
from ..plugin_utils._maintenance.upgrade.gate_own_events import own_events
from ..plugin_utils._settings.facts import why_refused
from ..plugin_utils._settings.renamed import refused_variables


def own_restarts(observations: Any, ask: Any, settings: Any = None, now: Any = None) -> list[Data]:
    """Return these restarts, each with its approver and the VMs that it is approved for."""
    return [{**one, "why": sentence(one["why"])} for one in own_events(observations, ask, settings=settings, now=now)]


def policy(value: Any) -> list[Data]:
    """Check a policy and return its rules."""
    return [plain_values.plain(rule.source) for rule in policies.load(value).rules]


def status_lines(
    plan: Any,
    format: str = "text",  # noqa: A002 (the public name)
    event_id: Any = None,
    exact: bool = False,
    records_paths: Any = None,
    would: bool = False,
    all_events: bool = True,
) -> Any:
    """Return a plan as lines of text or as data."""
    few = False if plain_values.flag(all_events) is False else None
    found = status(plan, form=format, event_id=plain_values.text(event_id), exact=plain_values.flag(exact) is True, folders=records_paths, all_events=few)
    return [*would_lines(plan, few is False), *found] if plain_values.flag(would) is True and isinstance(found, list) else found


def printable(value: Any, limit: Any = printable_text.LONGEST_TEXT, data: bool = False) -> Any:
    """Return one line of visible text; with C(data) the same data with visible text."""
    longest = plain_values.whole(limit)
    if longest is None or longest < 1:
        raise WrongInput(f"limit must be a number of characters, 1 or more, not {printable_text.printable(limit, 100)}")
    return shown(value) if plain_values.flag(data) else printable_text.printable(plain_values.plain(value), longest)


def no_renamed(names: Any) -> bool:
    """Return true if no name is an old one. Raise an error with the new names otherwise."""
    return _unless(refused_variables(names))


def no_settings(facts: Any) -> bool:
    """Return true if there are none. Raise an error that names them otherwise."""
    return _unless(why_refused(facts))


def _unless(why: str | None) -> bool:
    if why:
        raise AnsibleFilterError(why)
    return True


def awx_objects(data: Any, specs: Any, defaults: Any = None, hidden: Any = False) -> list[Data]:
    """Return the objects; with C(hidden) without their secrets, as they may be shown."""
    made = objects.make_objects(data, specs, defaults)
    return [hiding.hide(one) for one in made] if hidden else made


def awx_refusal(result: Any, wanted: Any = None) -> str:
    """Return why a task of awx.awx failed."""
    return refusals.failed(result, hiding.secrets(wanted or []))


FILTERS: dict[str, Callable[..., Any]] = {
    "aap_configuration": objects.aap_variables,
    "awx_changes": changes.plan,
    "awx_objects": awx_objects,
    "awx_refusal": awx_refusal,
    "awx_with_ids": changes.with_ids,
    "batches": make_batches,
    "drain_replica": replica_of,
    "gate": make_gate,
    "no_renamed": no_renamed,
    "no_settings": no_settings,
    "override": override_requests.answer,
    "own_restarts": own_restarts,
    "plan": make_plan,
    "policy": policy,
    "printable": printable,
    "status_lines": status_lines,
    "survey": survey,
    "timeline": timeline,
}


def _with_ansibles_error(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the filter. What is wrong with its input is an error of Ansible that begins with its name."""

    @functools.wraps(function)
    def run(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except WrongInput as error:
            # Without the cause: ansible-core would print the text of the cause too, which is not made printable.
            message = printable_text.printable(error, printable_text.LONGEST_LINE)
            raise AnsibleFilterError(f"maintenance.azure.{name}: {message}") from None

    return run


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters of this file."""
        return {name: _with_ansibles_error(name, function) for name, function in FILTERS.items()}
