# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What method kubernetes makes of a node and its pods: which are evicted next, and how far a drain or an undo is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from .....module_utils._scheduled_events.core.printable_text import printable
from .....module_utils._scheduled_events.core.types import Data, Values
from .....module_utils._scheduled_events.journal.record_schema import PLAIN_ID
from ...._core import plain_values
from ...answers import Answer

# Names of nodes, as the API server checks them.
NODE = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
# What the API server says about a pod that two budgets select. Whatever they allow, it is never evicted.
SEVERAL_BUDGETS = "more than one PodDisruptionBudget"
# It was evicted, is gone, or another pod has its name by now.
AWAY = (200, 201, 404, 409)
BUSY = 429
MOST_NAMED, LONGEST = 5, 200


class View(TypedDict):
    """What a stage of the method does next."""

    lost: str
    """Why nothing is known of the node; empty where it is."""
    refused: str
    """Why the drain does not begin, or cannot end; empty where nothing is against it."""
    found: Data
    would: str
    """What a drain would do."""
    to_evict: list[dict[str, str]]
    checked: Answer
    undone: Answer


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod on the node."""

    namespace: str
    name: str
    uid: str
    owner: str
    local: bool
    ending: bool

    @property
    def place(self) -> str:
        """Its name, for messages."""
        return printable(f"{self.namespace}/{self.name}", LONGEST)


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of the method."""

    ignore_daemonsets: bool
    delete_emptydir_data: bool
    force: bool
    cordon_only: bool

    def against(self, pod: Pod) -> str:
        """Return the option that keeps the drain from a pod, or an empty text."""
        if pod.owner == "DaemonSet":
            return "" if self.ignore_daemonsets else "ignore_daemonsets"
        if not pod.owner and not self.force:
            return "force"
        return "delete_emptydir_data" if pod.local and not self.delete_emptydir_data else ""


REASONS = {
    "ignore_daemonsets": "belong to a DaemonSet, which would start them here again",
    "force": "have no controller that would start them elsewhere",
    "delete_emptydir_data": "have data in an emptyDir, which would be lost",
}


def view(observed: Any, before: Any, options: Any) -> View:
    """Return what follows from one observation, the finding that the method may use, and the options."""
    seen = plain_values.mapping(next(iter(plain_values.items(observed)), None))
    name, event = plain_values.text(seen.get("asked")) or "", plain_values.text(seen.get("event_id")) or ""
    node, settings = plain_values.mapping(seen.get("node")), _settings(plain_values.mapping(options))
    lost = _lost(seen, name)
    pods = [] if settings.cordon_only else list(_left(seen.get("pods"), settings))
    refused = lost or _refused(node, name, event, pods, settings)
    schedulable = plain_values.flag(node.get("unschedulable")) is not True
    was = plain_values.mapping(plain_values.mapping(seen.get("diff")).get("before"))
    answers = _answers(seen.get("evictions"))
    return {
        "lost": lost,
        "refused": refused,
        "found": {"node": name, **{key: plain_values.flag(was.get(key)) is True for key in ("unschedulable", "ready")}},
        "would": f"would {'leave' if plain_values.flag(was.get('unschedulable')) else 'cordon'} node {name}{_evicted(pods)}",
        "to_evict": [] if refused or schedulable else [{"namespace": one.namespace, "name": one.name, "uid": one.uid} for one in pods if not one.ending],
        "checked": _checked(refused, schedulable, pods, answers),
        "undone": _undone(lost, node, name, event, plain_values.mapping(before)),
    }


def _settings(given: Values) -> Settings:
    # What is no truth leaves alone what it would allow.
    flags = {key: plain_values.flag(given.get(key)) is True for key in ("delete_emptydir_data", "force", "cordon_only")}
    return Settings(ignore_daemonsets=plain_values.flag(given.get("ignore_daemonsets")) is not False, **flags)


def _lost(seen: Values, name: str) -> str:
    if not NODE.fullmatch(name):
        return f"{printable(name, LONGEST) or 'an empty text'} cannot be the name of a node: small letters, digits, - and dots. Option node says it"
    if "pods" not in seen or "node" not in seen:
        return printable(f"node {name}: {plain_values.text(seen.get('msg')) or 'no reason given'}")
    return ""


def _left(given: Any, settings: Settings) -> Iterable[Pod]:
    """Return the pods that have to leave, as kubectl drain takes them: no mirror of a static pod, none that has ended, and none of a DaemonSet."""
    for one in map(plain_values.mapping, plain_values.items(given)):
        names = {key: plain_values.text(one.get(key)) or "" for key in ("namespace", "name", "uid", "owner")}
        flags = {key: plain_values.flag(one.get(key)) is True for key in ("mirror", "finished", "local", "ending")}
        ignored = names["owner"] == "DaemonSet" and settings.ignore_daemonsets
        if not (flags["mirror"] or flags["finished"] or ignored):
            yield Pod(**names, local=flags["local"], ending=flags["ending"])


def _refused(node: Values, name: str, event: str, pods: Sequence[Pod], settings: Settings) -> str:
    if not PLAIN_ID.fullmatch(event):
        return f"the EventId {printable(event, LONGEST)} has an unusual form"
    if not node:
        return f"the cluster has no node {name}. Option node says how the cluster names it"
    words = []
    for option, reason in REASONS.items():
        against = [pod for pod in pods if settings.against(pod) == option and not pod.ending]
        if against:
            words.append(f"{_named(pod.place for pod in against)} {reason} ({option})")
    return f"node {name}: {'; '.join(words)}" if words else ""


def _evicted(pods: Sequence[Pod]) -> str:
    leaving = [pod.place for pod in pods if not pod.ending]
    return f", and evict {len(leaving)} pod(s): {_named(leaving)}" if leaving else ", and evict nothing"


def _answers(given: Any) -> dict[str, tuple[int, str]]:
    """Return for each pod that was evicted, or was not, what the API server said."""
    found = {}
    for one in map(plain_values.mapping, plain_values.items(given)):
        place = printable(f"{plain_values.text(one.get('namespace')) or ''}/{plain_values.text(one.get('name')) or ''}", LONGEST)
        found[place] = (plain_values.whole(one.get("code")) or 0, printable(plain_values.text(one.get("message")) or "", LONGEST))
    return found


def _checked(refused: str, schedulable: bool, pods: Sequence[Pod], answers: Mapping[str, tuple[int, str]]) -> Answer:
    if refused:
        return {"state": "failed", "error": refused}
    if schedulable:
        return {"state": "lost", "error": "the node takes pods again"}
    never = [f"{place}: {words}" for place, (code, words) in answers.items() if _never(code, words)]
    if never:
        return {"state": "failed", "error": f"not evicted: {_named(never, '; ')}"}
    if not pods:
        return {"state": "drained", "error": None}
    # Those that a budget holds first: they are what an operator can do something about.
    held = [f"{pod.place} ({answers[pod.place][1]})" for pod in pods if answers.get(pod.place, (201, ""))[0] not in AWAY]
    named = held or [pod.place for pod in pods]
    return {"state": "draining", "error": f"pods left: {len(pods)}, {'not evicted yet' if held else 'ending'}: {_named(named)}"}


def _never(code: int, words: str) -> bool:
    """Return whether the API server will say the same the next time. What is no answer, is busy or broken is asked again."""
    return SEVERAL_BUDGETS in words or (400 <= code < 500 and code not in (*AWAY, BUSY))


def _undone(lost: str, node: Values, name: str, event: str, before: Values) -> Answer:
    if lost:
        return {"state": "undoing", "error": lost}
    if not node:
        # Its object went with its VM, perhaps: a node that registers itself again takes pods. Or this is another cluster than the one of the drain.
        return {"state": "undoing", "error": f"the cluster has no node {name}; it is undone when it has registered itself again"}
    if event and plain_values.text(node.get("event")) == event:
        return {"state": "undoing", "error": f"node {name} is still annotated with this event"}
    if plain_values.flag(before.get("ready")) is True and plain_values.flag(node.get("ready")) is not True:
        return {"state": "undoing", "error": f"node {name} is not ready yet"}
    return {"state": "undone", "error": None}


def _named(names: Iterable[str], between: str = ", ") -> str:
    given = list(names)
    more = [f"and {len(given) - MOST_NAMED} more"] if len(given) > MOST_NAMED else []
    return between.join([*given[:MOST_NAMED], *more])
