# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters of role drain: which methods it takes, and what of a record may leave its VM."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain import answers, haproxy
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders import failovers, method_orders, segments
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.records import replicas
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings import catalogue, validation


def drain_orders(record: Any, methods: Any, former: Any, host: str, system: str) -> list[method_orders.MethodOrder]:
    """The methods of a drain, in order."""
    return method_orders.drain_orders(record, methods, former, str(host), str(system))


def drain_undo_orders(
    record: Any, methods: Any, former: Any, host: str, system: str, folders: Iterable[str] = (), places: Iterable[str] = ()
) -> list[method_orders.MethodOrder]:
    """The methods of an undo, in order."""
    return method_orders.undo_orders(record, methods, former, str(host), str(system), validation.wrong_former(former, folders, places))


def drain_problems(
    methods: Any,
    former: Any,
    system: str,
    folders: Iterable[str] = (),
    places: Iterable[str] = (),
    own_folder: str = "",
) -> list[str]:
    """What is wrong with the settings of a drain."""
    return validation.problems(methods, former, str(system), [str(one) for one in folders], [str(one) for one in places], str(own_folder))


def drain_options(step: Any, folder: str) -> dict[str, Any]:
    """The options of a method that is tasks, with its defaults."""
    return {**catalogue.defaults_of(step["kind"], str(folder)), **step["given"]}


def drain_answer(result: Any, action: Any) -> answers.Answer:
    """The answer of maintenance_act about one action."""
    return answers.of_engine(result, action)


def drain_stage_answer(said: Any, stage: str, kind: str) -> answers.StageAnswer:
    """The answer of a stage of a method that is tasks."""
    return answers.of_stage(said, str(stage), str(kind))


def drain_tasks_checked(said: Any, file: str, recorded: str) -> answers.Answer:
    """The answer of a check of method tasks."""
    return answers.checked(said, str(file), str(recorded))


def drain_tasks_undone(said: Any, file: str) -> answers.Answer:
    """The answer of an undo of method tasks."""
    return answers.undone(said, str(file))


def drain_folder(kind: str, system: str, folders: Iterable[str]) -> str:
    """The folder with the tasks of a method. Raise AnsibleFilterError where there is none."""
    places = [str(one) for one in folders]
    found = catalogue.folder_of(str(kind), str(system), places)
    if found is None:
        raise AnsibleFilterError(f"no folder has tasks of method {kind}: {', '.join(places)}")
    return found


def drain_segments(given: Any, system: str) -> list[segments.Segment]:
    """What is taken at once."""
    return segments.segments(given, str(system))


def drain_failovers(handover: Any, step: Any) -> list[failovers.Failover]:
    """What other hosts do before a method acts."""
    return failovers.failovers(handover, step)


def drain_failover_error(answers: Any) -> str:
    """What failed of it."""
    return failovers.failure(answers)


def drain_peers(methods: Any, variables: Mapping[str, Any]) -> dict[str, str]:
    """The names in Azure of the hosts that methods name."""
    return failovers.peers(methods, variables)


def drain_finding(before: Any, step: Any, host: str) -> Any:
    """What of a finding a step may use."""
    return method_orders.finding_of(before, step, str(host))


def drain_haproxy(observations: Any, before: Any, options: Any) -> haproxy.View:
    """What method haproxy makes of an observation of each balancer."""
    return haproxy.view(observations, before, options)


def drain_haproxy_up(before: Any) -> dict[str, list[str]]:
    """Where HAProxy called the server up before."""
    return haproxy.check_first(before)


def drain_replica(record: Any) -> dict[str, Any]:
    """The part of a record that another VM may keep."""
    return replicas.replica_of(record)


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """The filters of this file."""
        return {
            "drain_replica": drain_replica,
            "drain_answer": drain_answer,
            "drain_failover_error": drain_failover_error,
            "drain_failovers": drain_failovers,
            "drain_finding": drain_finding,
            "drain_folder": drain_folder,
            "drain_haproxy": drain_haproxy,
            "drain_haproxy_up": drain_haproxy_up,
            "drain_options": drain_options,
            "drain_peers": drain_peers,
            "drain_problems": drain_problems,
            "drain_segments": drain_segments,
            "drain_orders": drain_orders,
            "drain_stage_answer": drain_stage_answer,
            "drain_tasks_checked": drain_tasks_checked,
            "drain_tasks_undone": drain_tasks_undone,
            "drain_undo_orders": drain_undo_orders,
        }
