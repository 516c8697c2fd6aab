# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What method kubernetes makes of a node and its pods: which are evicted next, and how far a drain or an undo is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from .....module_utils._scheduled_events.core.printable_text import printable
from .....module_utils._scheduled_events.core.types import Data, Values
from .....module_utils._scheduled_events.journal.record_schema import NOT_YET, PLAIN_ID
from ...._core import plain_values
from ...answers import AWAY_WITHIN, Answer, StageAnswer

# Names of nodes, as the API server checks them.
NODE = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
# What the API server says about a pod that two budgets select. Whatever they allow, it is never evicted.
SEVERAL_BUDGETS = "more than one PodDisruptionBudget"
# It was evicted, is gone, or another pod has its name by now.
AWAY = (200, 201, 404, 409)
BUSY, FORBIDDEN = 429, 403
BUDGET = "DisruptionBudget"
# What a 403 is for, that another time does not meet: a cause or a reason of its Status.
FOR_NOW = (BUDGET, "NamespaceTerminating", "TooManyRequests")
# Evictions that are tried before anything is changed.
MOST_TRIED = 50
NOT_READY = "it is not ready itself: unhealthyPodEvictionPolicy AlwaysAllow of that budget lets it go"
RIGHTS = "Give the API server's user the rights in docs/drain-methods.md, kubernetes"
NO_ROOM = "one more replica, or maxUnavailable 1, helps where it never allows one"
MOST_NAMED, LONGEST = 5, 200


class View(TypedDict):
    """What a stage of the method does next."""

    lost: str
    """Why nothing is known of the node; empty where it is."""
    away: StageAnswer | Data
    """What find.yml answers where the API server has answered in this drain and does not now; else empty."""
    refused: str
    """Why the drain does not begin, or cannot end; empty where nothing is against it."""
    found: Data
    would: str
    """What a drain would do."""
    to_evict: list[dict[str, str]]
    to_try: list[dict[str, str]]
    """Those that the API server is asked about before anything is changed."""
    checked: StageAnswer
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
    ready: bool

    @property
    def ids(self) -> dict[str, str]:
        """What an eviction names."""
        return {"namespace": self.namespace, "name": self.name, "uid": self.uid}

    @property
    def place(self) -> str:
        """Its name, for messages."""
        return printable(f"{self.namespace}/{self.name}", LONGEST)


@dataclass(frozen=True, slots=True)
class Said:
    """What the API server has answered to an eviction, or to a dry run of one."""

    code: int = 201
    words: str = ""
    kinds: tuple[str, ...] = ()
    """Its reason and its cause."""

    @property
    def never(self) -> bool:
        """Whether it will say the same the next time. What is no answer, is busy or broken is asked again."""
        for_now = self.code == FORBIDDEN and any(kind in FOR_NOW for kind in self.kinds)
        return SEVERAL_BUDGETS in self.words or (400 <= self.code < 500 and self.code not in (*AWAY, 401, BUSY) and not for_now)


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
    answers = _answers(seen.get("evictions"))
    refused = lost or _refused(node, name, event, pods, settings)
    schedulable = plain_values.flag(node.get("unschedulable")) is not True
    was = plain_values.mapping(plain_values.mapping(seen.get("diff")).get("before"))
    leaving = [one for one in pods if not one.ending]
    # The same module, before anything is changed: a dry run of the cordon or of an eviction. Of its other answers nothing is known.
    forbidden = [f"{place}: {one.words}" for place, one in answers.items() if one.code == FORBIDDEN and one.never]
    wrong = f"node {name}: no right to evict {_named(forbidden, '; ')}. {RIGHTS}" if forbidden else ""
    away = _away(seen, lost, name, answers)
    began: StageAnswer | None = {**away, "state": NOT_YET} if away and seen.get("state") in ("begun", "drained") else None
    return {
        "lost": lost,
        "away": began or {},
        "refused": "" if began else refused or wrong,
        "found": {"node": name, **{key: plain_values.flag(was.get(key)) is True for key in ("unschedulable", "ready")}},
        "would": f"would {'leave' if plain_values.flag(was.get('unschedulable')) else 'cordon'} node {name}{_evicted(leaving, answers)}",
        "to_evict": [] if refused or schedulable else [one.ids for one in leaving],
        "to_try": [] if refused else [one.ids for one in leaving[:MOST_TRIED]],
        "checked": away or _checked(refused, schedulable, pods, answers),
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
        flags = {key: plain_values.flag(one.get(key)) is True for key in ("mirror", "finished", "local", "ending", "ready")}
        ignored = names["owner"] == "DaemonSet" and settings.ignore_daemonsets
        if not (flags["mirror"] or flags["finished"] or ignored):
            yield Pod(**names, local=flags["local"], ending=flags["ending"], ready=flags["ready"])


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


def _evicted(leaving: Sequence[Pod], answers: Mapping[str, Said]) -> str:
    if not leaving:
        return ", and evict nothing"
    tried = [(pod, answers[pod.place]) for pod in leaving if pod.place in answers]
    held = [f"{pod.place} is held: {_why(pod, one)}" for pod, one in tried if one.code in (BUSY, FORBIDDEN)]
    unknown = sum(one.code not in (*AWAY, BUSY, FORBIDDEN) for _pod, one in tried) + len(leaving) - len(tried)
    words = [f", and evict {len(leaving)} pod{'s' * (len(leaving) > 1)}: {_named(pod.place for pod in leaving)}", *([_named(held, "; ")] if held else [])]
    words += [f"of {unknown} it is not known whether they are held"] if unknown else []
    return "; ".join([*words, "each was asked about alone, so together fewer may go at once"] if len(tried) > 1 else words)


def _why(pod: Pod, one: Said) -> str:
    if BUDGET not in one.kinds:
        return one.words
    return f"{one.words[:1].lower()}{one.words[1:]} ({NO_ROOM if pod.ready else NOT_READY})"


def _answers(given: Any) -> dict[str, Said]:
    """Return for each pod that was evicted, or was not, what the API server said."""
    found = {}
    for one in map(plain_values.mapping, plain_values.items(given)):
        texts = {key: plain_values.text(one.get(key)) or "" for key in ("namespace", "name", "message", "reason", "cause")}
        said = Said(plain_values.whole(one.get("code")) or 0, printable(texts["message"], LONGEST), (texts["reason"], texts["cause"]))
        found[printable(f"{texts['namespace']}/{texts['name']}", LONGEST)] = said
    return found


def _away(seen: Values, lost: str, name: str, answers: Mapping[str, Said]) -> StageAnswer | None:
    """Return that an API server which has answered in this drain does not now. A refusal is an answer, and so is what the settings have wrong."""
    if not lost or not NODE.fullmatch(name) or seen.get("error_kind") == "refused":
        return None
    return {"state": "draining", "error": lost, "away": AWAY_WITHIN, "moved": any(one.code in (200, 201) for one in answers.values())}


def _checked(refused: str, schedulable: bool, pods: Sequence[Pod], answers: Mapping[str, Said]) -> StageAnswer:
    if refused:
        return {"state": "failed", "error": refused}
    if schedulable:
        return {"state": "lost", "error": "the node takes pods again"}
    never = [f"{place}: {one.words}" for place, one in answers.items() if one.never]
    if never:
        return {"state": "failed", "error": f"not evicted: {_named(never, '; ')}"}
    if not pods:
        return {"state": "drained", "error": None, "moved": True}
    # Those that a budget holds first: they are what an operator can do something about.
    held = [f"{pod.place} ({answers[pod.place].words})" for pod in pods if answers.get(pod.place, Said()).code not in AWAY]
    named = held or [pod.place for pod in pods]
    moved = any(pod.ending for pod in pods) or any(one.code in (200, 201) for one in answers.values())
    return {"state": "draining", "error": f"pods left: {len(pods)}, {'not evicted yet' if held else 'ending'}: {_named(named)}", "moved": moved}


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
