# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the real ansible-rulebook sends to launch templates, held against the templates that role awx makes. AWX itself is played by stand_ins/controller.py."""

from __future__ import annotations

import pathlib
import typing as t

import pytest
from lab.lab import Lab

from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.memory import LONGEST_NAME, MOST_NAMES
from ansible_collections.maintenance.azure.tests.awx.conftest import Awx
from eda.documented import GUIDE
from eda.messages import EVENTS, message
from eda.rulebook import PATIENCE_SECONDS, Rulebook
from eda.stand_ins.controller import TOKEN, Controller, wrong_answer

RULEBOOKS = [
    ("maintenance.azure.respond_job_template", "Maintenance respond to an event"),
    ("maintenance.azure.respond_workflow_template", "Maintenance for an event"),
]


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, t.Any]]:
    """What role awx makes, as it would be sent to AWX."""
    return list(Awx(tmp_path_factory.mktemp("rendered"), None).rendered()["objects"])


class Started(t.NamedTuple):
    """A rulebook, and the controller that it launches templates of."""

    rulebook: Rulebook
    controller: Controller
    template: str

    def launched(self, number: int) -> t.Any:
        """Wait for so many launches, and return the last of them."""
        controller = self.controller
        self.rulebook.lab.simulator.until(lambda: len(controller.launches) >= number, PATIENCE_SECONDS, f"{number} launches, not {controller.launches}")
        return controller.launches[-1]


@pytest.fixture(scope="module", params=RULEBOOKS, ids=["job", "workflow"])
def started(request: pytest.FixtureRequest, objects: list[dict[str, t.Any]], tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Started]:
    name, template = request.param
    lab = Lab(tmp_path_factory.mktemp("lab"), ["web1"])
    controller = Controller(objects)
    # As an operator may write it: no text.
    rulebook = Rulebook(lab, name, maintenance_wait=False)
    rulebook.options = ["--controller-url", controller.url, "--controller-token", TOKEN]
    try:
        rulebook.start()
        yield Started(rulebook, controller, template)
    finally:
        rulebook.kill()
        lab.close()
        controller.end()


def test_all_that_a_launch_asks_for_is_accepted_and_the_limit_left_out(started: Started) -> None:
    assert started.rulebook.send(message(EVENTS[0])) == 200
    launch = started.launched(1)
    assert (launch.template, launch.status) == (started.template, 201), started.controller.refused
    assert launch.extra_vars == {"respond_only_events": EVENTS[0], "respond_only_vms": ",web1", "respond_wait": "false"}
    # ansible-rulebook sends the hosts of the rulebook as a limit, for a workflow only if the template asks. AWX leaves it out, and no variable with it.
    assert launch.ignored in ({"limit": "all"}, {}), launch.ignored
    assert set(launch.body) - {"extra_vars", "limit"} == set()


@pytest.mark.parametrize(("number", "name"), list(enumerate(["None", "007", "1e999", "0x1F", "True"], 1)))
def test_no_name_becomes_another_value_on_its_way(started: Started, number: int, name: str) -> None:
    # AWX refuses the answer to a text question that is no text, and nothing would be started.
    before = len(started.controller.launches)
    assert started.rulebook.send(message(EVENTS[number], f"sender{number}", resources=[name])) == 200
    launch = started.launched(before + 1)
    assert (launch.status, launch.extra_vars["respond_only_vms"]) == (201, f",{name}"), started.controller.refused


def test_the_next_news_of_an_event_starts_its_next_job(started: Started) -> None:
    before = len(started.controller.launches)
    assert started.rulebook.send(message(EVENTS[0], "web1", "changed", "Started")) == 200
    assert started.launched(before + 1).extra_vars["respond_only_events"] == EVENTS[0]


def test_a_wrong_token_ends_the_rulebook_with_the_words_of_the_guide(
    objects: list[dict[str, t.Any]], make_rulebook: t.Callable[..., Rulebook], tmp_path: pathlib.Path
) -> None:
    controller = Controller(objects)
    try:
        rulebook = make_rulebook(Lab(tmp_path, ["web1"]), RULEBOOKS[0][0])
        rulebook.options = ["--controller-url", controller.url, "--controller-token", "wrong"]
        rulebook.start(listens=False)
        assert rulebook.process is not None and rulebook.process.wait(PATIENCE_SECONDS) == 1, rulebook.text()
        words = "Terminating: 401, message='Unauthorized', url='{}/api/v2/config/'"
        assert words.format(controller.url) in rulebook.text() and words.format("https://awx.example.com") in GUIDE.read_text()
    finally:
        controller.end()


def test_the_stand_in_refuses_what_awx_refuses() -> None:
    text = {"variable": "a", "type": "text", "required": False}
    choice = {"variable": "a", "type": "multiplechoice", "required": True, "choices": ["true", "false"]}
    assert [bool(wrong_answer(text, answers)) for answers in ({}, {"a": "1"}, {"a": 1}, {"a": None})] == [False, False, True, True]
    assert [bool(wrong_answer(choice, answers)) for answers in ({}, {"a": "true"}, {"a": True}, {"a": "True"})] == [True, False, True, True]


@pytest.mark.parametrize(
    ("variable", "answers", "words"),
    [
        ("decide_event_id", {"decide_event_id": ""}, "'decide_event_id' value  is too small (length is 0 must be at least 1)."),
        ("decide_event_id", {"decide_event_id": "  "}, ""),
        ("decide_action", {}, "'decide_action' value missing"),
        ("decide_hours", {"decide_hours": -1}, "'decide_hours' value -1 is too small (must be at least 0)."),
        ("decide_hours", {"decide_hours": "4"}, "Value 4 for 'decide_hours' expected to be a numeric type."),
        ("gate_wait_seconds", {"gate_wait_seconds": 100000}, "'gate_wait_seconds' value 100000 is too large (must be no more than 86400)."),
    ],
)
def test_the_stand_in_has_the_words_of_a_real_awx(objects: list[dict[str, t.Any]], variable: str, answers: dict[str, t.Any], words: str) -> None:
    """What a real one answered to these answers of these surveys (2024-10)."""
    asked = [question for one in objects for question in one["arguments"].get("survey_spec", {}).get("spec", [])]
    assert wrong_answer(next(question for question in asked if question["variable"] == variable), answers) == words


@pytest.mark.parametrize("name", [name for _rulebook, name in RULEBOOKS])
def test_no_list_of_names_is_too_long_for_an_answer(objects: list[dict[str, t.Any]], name: str) -> None:
    """AWX refuses a longer text, and the launch with it: a VM that adds names to another's event would prevent its run."""
    (survey,) = [one["arguments"]["survey_spec"] for one in objects if one["name"] == name]
    (question,) = [question for question in survey["spec"] if question["variable"] == "respond_only_vms"]
    longest = MOST_NAMES * ("," + LONGEST_NAME * "a")
    assert [wrong_answer(question, {"respond_only_vms": names}) for names in (",", longest)] == ["", ""]
    assert wrong_answer({**question, "max": 1024}, {"respond_only_vms": longest})


def test_a_template_without_a_survey_loses_the_variables(objects: list[dict[str, t.Any]]) -> None:
    """Why the rulebook does not start workflow Maintenance."""
    controller = Controller([one for one in objects if one["name"] == "Maintenance"])
    try:
        status, _job = controller.post("/api/v2/workflow_job_templates/0/launch/", {"extra_vars": {"respond_only_vms": ",web1"}})
        assert (status, controller.launches[0].extra_vars) == (201, {})
    finally:
        controller.end()


@pytest.mark.parametrize("kind", ["job_template", "workflow_job_template"])
def test_events_do_not_wait_for_each_other(objects: list[dict[str, t.Any]], kind: str) -> None:
    (template,) = [one["arguments"] for one in objects if (one["kind"], one["name"]) in {(kind, name) for _rulebook, name in RULEBOOKS}]
    assert template["allow_simultaneous"] is True and not template.get("ask_limit_on_launch")
