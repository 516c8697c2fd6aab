# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Method kubernetes: what the controller knows of it. The node comes from the settings, and the node's own annotation says whether it is ours to put back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .....module_utils._scheduled_events.core.types import Data, Values
from .....module_utils._scheduled_events.drain.methods.method import Option
from .....module_utils._scheduled_events.drain.methods.pasted import word
from ...._core import plain_values
from ... import answers
from ...answers import StageAnswer
from ..findings import shown, way_out
from ..kind import NOT_ALLOWED, NOTHING, Agreed, Claim, KindInParts
from .view import NODE, View, view

KEYS = ("node", "unschedulable", "ready")


@dataclass(frozen=True, slots=True)
class Node:
    """A node as it was before the drain."""

    name: str
    unschedulable: bool
    ready: bool

    @property
    def finding(self) -> Data:
        """The finding that says it."""
        return {"node": self.name, "unschedulable": self.unschedulable, "ready": self.ready}


class Kubernetes(KindInParts[Node]):
    """Its finding has one part, the node."""

    name = "kubernetes"
    options: ClassVar[Mapping[str, Option]] = {
        "node": Option("text", default=""),
        "kubeconfig": Option("text", default=""),
        "context": Option("text", default=""),
        "grace_period": Option("whole"),
        "ignore_daemonsets": Option("truth", default=True),
        "delete_emptydir_data": Option("truth", default=False),
        "force": Option("truth", default=False),
        "cordon_only": Option("truth", default=False),
    }
    outside = True
    known_by = ("context", "kubeconfig")
    names_tasks = False
    finds_in_check_mode = True
    controller_modules = ("kubernetes.core.k8s_drain",)
    controller_packages = ("kubernetes",)

    def target(self, given: Values, host: str, by_hand: bool) -> Data:
        return {} if by_hand else {"node": _node(given, host)}

    def claims(self, given: Values, host: str) -> Sequence[Claim]:
        return [Claim(_node(given, host), "node", " ".join(f"in {key} {given[key]}" for key in ("kubeconfig", "context") if given.get(key)))]

    def used(self, before: Any, given: Values, host: str) -> Data:
        return next((part.finding for part in self.named(self.parts(before) or (), given, host)), {})

    def for_replica(self, before: Any) -> Data | None:
        return next((part.finding for part in self.parts(before) or ()), None)

    def agreed(self, copies: Iterable[Any], targets: Sequence[Values]) -> Agreed:
        """Return the node that a copy and the settings name. Its annotation decides what is undone, so copies that differ on the rest do no harm."""
        allowed = {plain_values.text(target.get("node")) for target in targets}
        found = [part for before in copies for part in self.parts(before) or () if part.name in allowed]
        return (min(found, key=lambda part: (part.unschedulable, not part.ready)).finding if found else None), []

    def by_hand(self, before: Values, options: Values, targets: Sequence[Values]) -> str:
        parts = self.parts(before)
        allowed = {plain_values.text(target.get("node")) for target in targets}
        if not parts or parts[0].name not in allowed:
            return NOT_ALLOWED
        if parts[0].unschedulable:
            return NOTHING
        node = word(parts[0].name, "NODE")
        return f"kubectl uncordon {node}, then kubectl annotate node {node} maintenance.azure/event-"

    def judge(self, said: Any, stage: str, method: Values) -> StageAnswer:
        answer, given = answers.of_stage(said, stage, self.name), plain_values.mapping(said)
        away, moved = plain_values.whole(given.get("away")), plain_values.flag(given.get("moved"))
        if away:
            answer["away"] = away
        if moved:
            answer["moved"] = True
        return answer

    def view(self, observed: Sequence[Values], before: Any, options: Any) -> View:
        return view(observed, before, options)

    # The parts of its finding.

    def parts(self, before: Any) -> tuple[Node, ...] | None:
        given = plain_values.mapping(before)
        name, flags = given.get("node"), [plain_values.flag(given.get(key)) for key in KEYS[1:]]
        if set(given) != set(KEYS) or not isinstance(name, str) or not NODE.fullmatch(name) or None in flags:
            return None
        return (Node(str.__str__(name), flags[0] is True, flags[1] is True),)

    def named(self, parts: Iterable[Node], given: Values, host: str) -> tuple[Node, ...]:
        return tuple(part for part in parts if part.name == _node(given, host))

    def names_parts(self, given: Values) -> bool:
        return bool(plain_values.text(given.get("node")))

    def narrowed(self, given: Values, parts: Sequence[Node], host: str) -> Data:
        return {**given, "node": _node(given, host)}

    def is_to_undo(self, part: Node) -> bool:
        return not part.unschedulable

    def unnamed(self, parts: Sequence[Node], host: str) -> str:
        return (
            f"{host}: its record says that node {shown(parts[0].name)} took pods before the drain, and drain_methods does not name it; "
            f"nothing was changed there. {way_out(host)}"
        )


def _node(given: Values, host: str) -> str:
    """Return the name that the settings give a host's node."""
    return plain_values.text(given.get("node")) or host
