# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was compared, and what differed: counted here, printed at the end."""

from __future__ import annotations

import json
import typing as t

from ansible_collections.maintenance.azure.tests.contract.compare import Difference, Rules

RULES = Rules()
COMPARED: list[str] = []
FOUND: list[tuple[Difference, str]] = []
LONGEST = 160
UNJUSTIFIED = "NOT JUSTIFIED"


def judge(case: str, found: t.Iterable[Difference]) -> list[str]:
    """Note a case; the differences that nothing justifies, in words."""
    COMPARED.append(case)
    rows = []
    for difference in found:
        why = RULES.justification(difference)
        FOUND.append((difference, why or UNJUSTIFIED))
        if why is None:
            rows.append(_row(difference))
    return rows


def unjustified(found: t.Iterable[Difference]) -> list[str]:
    """The same without noting a case."""
    return [_row(difference) for difference in found if RULES.justification(difference) is None]


def lines() -> list[str]:
    """The table: one row for each difference, what differs in the same way in many cases together."""
    said = [f"contract: {len(COMPARED)} cases compared both ways, {len({entry.case for entry, _why in FOUND})} of them with a difference"]
    reasons: dict[str, list[Difference]] = {}
    for difference, why in FOUND:
        reasons.setdefault(why, []).append(difference)
    for why, entries in reasons.items():
        said.append(f"- {why} ({len(entries)})")
        shown = entries if why == UNJUSTIFIED else entries[:3]
        said += [f"    {_row(entry)}" for entry in shown]
        said += [f"    and {len(entries) - len(shown)} more like these"] if len(entries) > len(shown) else []
    return said


def _row(difference: Difference) -> str:
    return f"{difference.case} | {difference.key} | {_short(difference.linux)} | {_short(difference.windows)}"


def _short(value: t.Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."
