# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A STAND-IN for the part of AWX's API that ansible-rulebook uses to launch templates, because no registry has AWX.

What it accepts is what AWX accepts, as its source says (awx/main/models/mixins.py at commit 0123329, _accept_or_ignore_variables and
_survey_element_validation; awx/api/views: a launch with wrong answers is 400, and what was left out is in ignored_fields of the 201), and its words are those
of a real one. Its templates are those that role awx makes, in the organization that the role makes for them.
"""

from __future__ import annotations

import http.server
import json
import threading
import typing as t
from urllib.parse import parse_qs, urlsplit

TOKEN = "a-token-of-the-controller"
TYPES = {"job_template": "jobs", "workflow_job_template": "workflow_jobs"}
NUMBERS: dict[str, tuple[tuple[type, ...], str]] = {"integer": ((int,), "an integer"), "float": ((int, float), "a numeric type")}


class Launch(t.NamedTuple):
    """One launch: what was asked for, and what became of it."""

    template: str
    body: dict[str, t.Any]
    status: int
    extra_vars: dict[str, t.Any]
    ignored: dict[str, t.Any]


def wrong_answer(question: t.Mapping[str, t.Any], answers: t.Mapping[str, t.Any]) -> str:
    """Why AWX refuses the answer to a question; empty if it does not. Only the types that surveys of role awx have."""
    name = question["variable"]
    if name not in answers:
        return f"'{name}' value missing" if question["required"] else ""
    if question["type"] == "text":
        return _wrong_text(name, answers[name], question)
    if question["type"] in NUMBERS:
        return _wrong_number(name, answers[name], question)
    if question["type"] == "multiplechoice":
        return "" if answers[name] in question["choices"] else f"Value {answers[name]} for '{name}' expected to be one of {question['choices']}."
    raise AssertionError(f"this stand-in does not know questions of type {question['type']}")


def _wrong_text(name: str, text: t.Any, question: t.Mapping[str, t.Any]) -> str:
    if not isinstance(text, str):
        return f"Value {text} for '{name}' expected to be a string."
    size = len(text)
    if size < question.get("min", 0):
        return f"'{name}' value {text} is too small (length is {size} must be at least {question['min']})."
    if size > question.get("max", size):
        return f"'{name}' value {text} is too large (must be no more than {question['max']})."
    return ""


def _wrong_number(name: str, number: t.Any, question: t.Mapping[str, t.Any]) -> str:
    kinds, words = NUMBERS[question["type"]]
    if type(number) not in kinds:
        return f"Value {number} for '{name}' expected to be {words}."
    if number < question.get("min", number):
        return f"'{name}' value {number} is too small (must be at least {question['min']})."
    if number > question.get("max", number):
        return f"'{name}' value {number} is too large (must be no more than {question['max']})."
    return ""


class Controller:
    """AWX with these templates: objects of role awx. Its jobs have ended successfully as soon as they are launched."""

    def __init__(self, objects: t.Sequence[t.Mapping[str, t.Any]]) -> None:
        self.templates = [one for one in objects if one["kind"] in TYPES]
        self.launches: list[Launch] = []
        self.refused: list[str] = []
        controller = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(*controller.get(urlsplit(self.path)) if self._is_known() else (401, {}))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self._answer(*controller.post(urlsplit(self.path).path, body) if self._is_known() else (401, {}))

            def _is_known(self) -> bool:
                return self.headers["Authorization"] == f"Bearer {TOKEN}"

            def _answer(self, status: int, content: t.Any) -> None:
                if status >= 400:
                    controller.refused.append(f"{self.command} {self.path}: {status} {content}")
                data = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *unused: t.Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def end(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def get(self, url: t.Any) -> tuple[int, t.Any]:
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        if url.path == "/api/v2/config/":
            return 200, {"version": "24.6.1"}
        if url.path == "/api/v2/unified_job_templates/":
            found = [self._view(number) for number, one in enumerate(self.templates) if one["name"] == query["name"]]
            return 200, {"count": len(found), "next": None, "results": found}
        if url.path in ("/api/v2/jobs/", "/api/v2/workflow_jobs/"):
            return 200, {"results": [{"id": int(one), "status": "successful", "created": "2026-11-25T00:00:00Z"} for one in query["id__in"].split(",")]}
        return 404, {"detail": "Not found."}

    def _view(self, number: int) -> dict[str, t.Any]:
        one = self.templates[number]
        asks = {name: bool(one["arguments"].get(name)) for name in (f"ask_{what}_on_launch" for what in ("limit", "labels", "inventory", "variables"))}
        launch = f"/api/v2/{one['kind']}s/{number}/launch/"
        summary = {"organization": {"name": one["arguments"]["organization"]}}
        return {"id": number, "type": one["kind"], "name": one["name"], "related": {"launch": launch}, "summary_fields": summary, **asks}

    def post(self, path: str, body: dict[str, t.Any]) -> tuple[int, t.Any]:
        view = next((self._view(number) for number in range(len(self.templates)) if self._view(number)["related"]["launch"] == path), None)
        if view is None:
            return 404, {"detail": "Not found."}
        arguments = self.templates[view["id"]]["arguments"]
        questions = arguments["survey_spec"]["spec"] if arguments.get("survey_enabled") else []
        given = dict(body.get("extra_vars") or {})
        errors = [error for error in (wrong_answer(question, given) for question in questions) if error]
        asked = {question["variable"] for question in questions}
        accepted = given if view["ask_variables_on_launch"] else {name: value for name, value in given.items() if name in asked}
        ignored: dict[str, t.Any] = {"extra_vars": {name: value for name, value in given.items() if name not in accepted}}
        ignored.update({name: value for name, value in body.items() if name != "extra_vars" and not view.get(f"ask_{name}_on_launch")})
        ignored = {name: value for name, value in ignored.items() if value}
        status = 400 if errors else 201
        self.launches.append(Launch(view["name"], body, status, accepted, ignored))
        job = len(self.launches)
        return status, {"variables_needed_to_start": errors} if errors else {
            "id": job, "job": job, "url": f"/api/v2/{TYPES[view['type']]}/{job}/", "type": TYPES[view["type"]][:-1], "ignored_fields": ignored,
        }  # fmt: skip
