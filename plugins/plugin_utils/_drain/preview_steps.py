# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The steps of a drain or an undo in check mode: each method of a drain is asked what it would do, and nothing is changed or recorded. Pure."""

from __future__ import annotations

from ...module_utils._scheduled_events.core.printable_text import printable
from ...module_utils._scheduled_events.core.types import Values
from ...module_utils._scheduled_events.journal.record_schema import NOT_YET
from .._core.plain_values import flag, items, mapping, text
from . import answers
from .doubts import unproven
from .steps import Came, Steps

LONGEST = 900


class PreviewSteps(Steps):
    """What a method refuses keeps none of the others from being shown. C(would) has the lines for people."""

    def _begin(self) -> None:
        wrong = self._prepare()
        names = ", ".join(dict.fromkeys(order["id"] for order in self.state["orders"])) or ("" if self.drains else "nothing")
        self.state["doubts"] = []
        self.state["would"] = [
            printable(f"{self.request['host']}: Would {self.request['act']} for event {self.request['event'].get('event_id')}: {names}", LONGEST)
        ]
        if wrong:
            self._refuse(wrong)
        elif self.drains and self.state["parts"]:
            self._enter()

    def _enter(self) -> None:
        if self._part["on_vm"]:
            self._act("would")
            return
        self.state["doubts"].append(self.kind.doubt({}, {}))
        if self.kind.finds_in_check_mode:
            self._stage("find")
        else:
            self._say("its tasks are not run in check mode")
            self._next()

    def _say(self, words: str, method: str = "") -> None:
        self.state["would"].append(printable(f"{self.request['host']}: {method or self._order['id']}: {words}", LONGEST))

    def _answer(self, state: str, error: str | None, hold: str | None = None, judged: Values | None = None) -> None:
        """Keep why a method would be refused."""
        self._say(f"would be refused: {error}")
        before = self.state["answer"]["error"]
        self.state["answer"] = {"state": state, "error": f"{before}; {error}" if before else error}
        self._next()

    def _refuse(self, why: str) -> None:
        self.state["answer"] = {"state": "failed", "error": why}
        self._end()

    def _failed(self, step: str, came: Came) -> None:
        self._refuse(came.message)

    def _acted(self, step: str, result: Values) -> None:
        if flag(result.get("unreachable")):
            self.state["reached"] = False
            self._end()
            return
        found = mapping(next(iter(items(result.get("results"))), None))
        for order in self._part["methods"]:
            # Of those that were asked: an answer of many others would fill the screen.
            if words := text(mapping(found.get("would")).get(order["id"])):
                self._say(words, order["id"])
        self.state["doubts"] += items(found.get("doubts"))[: len(self._part["methods"])]
        answer = answers.of_engine(result, self.state["action"])
        if answer["state"] == "failed":
            # Said already, by the method that would be refused.
            self.state["answer"] = answer
        self._next()

    def _staged(self, stage: str, came: Came) -> None:
        if came.lost:
            self.state["reached"] = False
            self._end()
            return
        answer = mapping(self.kind.judge(came.answer, stage, self.state["method"]))
        if came.failed or answer["state"] == "failed":
            self._answer("failed", came.failure or answer["error"])
            return
        if answer["state"] == NOT_YET:
            self._say(f"would wait: {answer['error']}")
            self._next()
            return
        said = text(mapping(came.answer).get("would"))
        self._say("; ".join(filter(None, (said or self.kind.would(answer.get("finding")), self._remarks(answer, came)))))
        self._next()

    def _next(self) -> None:
        if self._part["last"]:
            if why := unproven(self.state["doubts"], self.request.get("serves", "")):
                self._say(why, "would fail")
                self.state["answer"] = {"state": "failed", "error": why}
            self._end()
        else:
            self.state["segment"] += 1
            self._enter()
