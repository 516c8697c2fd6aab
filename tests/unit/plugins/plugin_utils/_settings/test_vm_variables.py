# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of one VM, each evaluated by itself: what is wrong with one is said in one line with its name, and is no other's fault."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleUndefinedVariable
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings import vm_variables

try:
    from ansible.template import trust_as_template
except ImportError:  # core 2.18 trusts every text that no module has returned

    def trust_as_template(value: Any) -> Any:
        return value


def trusted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: trusted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [trusted(item) for item in value]
    return trust_as_template(value) if isinstance(value, str) else value


def read(**variables: Any) -> vm_variables.VMVariables:
    given = trusted({"groups": {"web": ["web1"], "all": ["web1"]}, "inventory_hostname": "web1", **variables})
    return vm_variables.read(given, Templar(loader=DataLoader(), variables=given).template, LocalFiles.of_option)


def test_settings_are_evaluated_and_those_that_are_empty_are_not_set() -> None:
    found = read(
        drain_methods=[{"method": "service", "names": ["{{ app }}"]}], app="shop", respond_exclude=False, respond_labels={"role": "{{ groups.web[0] }}"},
        respond_health={"port": "{{ web_port }}", "url": None}, web_port=80, respond_vm_name="", respond_boot_id=None,
        respond_endpoint="http://127.0.0.1:{{ web_port }}",
        respond_observation_seconds="30", drain_methods_path="methods",
    )  # fmt: skip
    methods = {"drain_methods": [{"method": "service", "names": ["shop"]}], "drain_methods_path": "methods"}
    assert found.settings == {**methods, "exclude": False, "labels": {"role": "web1"}}
    assert {**found.observation, "health": {"port": int(found.observation["health"]["port"])}} == {"health": {"port": 80}, "endpoint": "http://127.0.0.1:80"}
    assert (found.wrong, found.wrong_observation) == ([], [])


def test_nothing_is_set() -> None:
    assert read() == ({}, {}, [], [])


@pytest.mark.parametrize("given", ['{"port": 80}', "port=80", {"port": 80}])
def test_a_dictionary_may_come_from_the_command_line(given: Any) -> None:
    assert {key: int(value) for key, value in read(respond_health=given).observation["health"].items()} == {"port": 80}


@pytest.mark.parametrize("name", ["drain_methods", "drain_methods_former", "respond_labels", "respond_exclude", "drain_methods_path"])
def test_what_is_undefined_keeps_the_vm_from_being_drained(name: str) -> None:
    """On core 2.18 it was an empty list: "no drain method is configured"."""
    found = read(**{name: [{"method": "service", "names": ["{{ nosuch }}"]}]})
    assert (found.settings, found.wrong, found.wrong_observation) == ({}, [f"{name}: 'nosuch' is undefined."], [])


@pytest.mark.parametrize("name", [*(f"respond_{option}" for option in vm_variables.OBSERVATION), "respond_observation_seconds"])
def test_what_is_undefined_keeps_the_vm_from_being_observed(name: str) -> None:
    found = read(**{name: "{{ inventory_hostnam }}"})
    assert found.wrong_observation == [f"{name}: 'inventory_hostnam' is undefined (did you mean inventory_hostname?)."]
    assert (found.settings, found.observation, found.wrong) == ({}, {}, [])


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"respond_health": {"prot": 80}}, "respond_health: there is no key prot (did you mean port?). Keys: port, url,"),
        ({"respond_health": "port"}, "respond_health: it must be a dictionary with one of port, url, file and service"),
        ({"respond_api_version": "2020-7-1"}, "and is '2020-7-1' (did you mean 2020-07-01?)."),
        ({"respond_endpoint": "htp://127.0.0.1"}, "respond_endpoint is 'htp://127.0.0.1'; it must be http://ADDRESS"),
        ({"respond_endpoint": ""}, "respond_endpoint is ''; it must be http://ADDRESS"),
        ({"respond_records_path": "records"}, "respond_records_path is 'records'; it must be a whole path such as /var/lib/azure-maintenance"),
        ({"respond_vm_name": ["web1"]}, "respond_vm_name: it must be text, and is a list."),
        ({"respond_boot_id": {"a": 1}}, "respond_boot_id: it must be text, and is a dictionary."),
        ({"respond_observation_seconds": 0}, "respond_observation_seconds: it must be 1 or more seconds, and is 0."),
        ({"respond_observation_seconds": "soon"}, "respond_observation_seconds: it must be 1 or more seconds, and is soon."),
    ],
)
def test_what_the_module_would_refuse(variables: dict[str, Any], words: str) -> None:
    found = read(**variables)
    (line,) = found.wrong_observation
    assert words in line and line.isprintable() and found.wrong == []


def test_the_home_of_a_user_is_the_vms_to_know() -> None:
    assert read(respond_records_path="~nosuchuser/records").wrong_observation == []


def test_a_group_that_is_not_there_is_named_with_the_one_that_was_meant() -> None:
    line = "drain_methods: the inventory has no group wbe (did you mean web?)."
    for template in ("{{ groups['wbe'] }}", "{{ groups.wbe }}", '{{ groups["wbe"] }}'):
        assert read(drain_methods=[{"method": "haproxy", "balancers": template}]).wrong == [line]
    assert read(drain_methods="{{ respond_labels.wbe }}", respond_labels={}).wrong == ["drain_methods: 'wbe' is undefined, a key or attribute in its template."]


def test_any_other_error_is_one_short_line() -> None:
    long = vm_variables.why_unevaluated("respond_labels", AnsibleUndefinedVariable("template error\n" + "x" * 5000), {})
    assert long == "respond_labels: it cannot be evaluated: template error."
    assert vm_variables.why_unevaluated("x", ValueError(), {}) == "x: it cannot be evaluated: ValueError."
    (line,) = read(respond_labels="{{ 5 | nosuchfilter }}").wrong
    assert line.startswith("respond_labels: it cannot be evaluated: ") and "\n" not in line and len(line) < 300


class OfHost(dict[str, Any]):
    """The variables of another host, as hostvars has them: each is evaluated when it is read."""

    def __getitem__(self, name: str) -> Any:
        if "nosuch" in str(super().__getitem__(name)):
            raise AnsibleUndefinedVariable("'nosuch' is undefined")
        return super().__getitem__(name)


def of_other(theirs: dict[str, Any], own: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    return vm_variables.of_other(OfHost(theirs), own, lambda value: f"evaluated {value}" if isinstance(value, str) else value)


def test_another_vm_is_observed_with_its_own_settings_where_it_has_them() -> None:
    theirs = {"respond_endpoint": "{{ text }}", "respond_vm_name": "web2", "respond_health": "port=80", "respond_boot_id": "", "respond_labels": {"a": 1}}
    own = {**theirs, "respond_endpoint": "mine", "respond_api_version": "auto", "respond_records_path": "/r", "respond_vm_name": "me", "respond_boot_id": "b"}
    options = {"endpoint": "{{ text }}", "vm_name": "web2", "health": {"port": "80"}, "api_version": "evaluated auto", "records_path": "evaluated /r"}
    # A value of hostvars is evaluated already: what is in it is text.
    assert of_other(theirs, own) == (options, [])
    # Which VM it is, and which boot, is no other one's.
    assert of_other({}, {"respond_vm_name": "me", "respond_boot_id": "b", "respond_health": {}}) == ({}, [])


@pytest.mark.parametrize("name", [f"respond_{option}" for option in vm_variables.OBSERVATION])
def test_what_another_vm_has_wrong_is_not_that_of_the_host_that_asks(name: str) -> None:
    found, wrong = of_other({name: "{{ nosuch }}"}, {name: "mine"})
    assert (name.removeprefix("respond_") in found, wrong) == (False, [f"{name}: 'nosuch' is undefined."])


def test_what_core_2_18_lets_through_of_another_vm_ends_its_own_observation_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """There a filter or an operator raises what it likes: a division by a cached fact of one VM would end the task for all that the host observes."""

    class Dividing(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            return 1 / 0

    monkeypatch.setattr(vm_variables, "UNEVALUATED", Exception)
    found, wrong = vm_variables.of_other(Dividing(respond_endpoint="{{ 1 / ansible_facts.x }}"), {}, str)
    assert (found, wrong) == ({}, ["respond_endpoint: it cannot be evaluated: division by zero."])
