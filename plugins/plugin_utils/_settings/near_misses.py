# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Find variables that are probably misspelt options of this collection. Ansible ignores such a variable, and so would a run."""

from __future__ import annotations

from collections.abc import Iterable

from .facts import RESULTS, ROLES, options

# Results that the roles leave for a play.
NO_OPTIONS = RESULTS
REPORT = "report_"
PREFIXES = (*(f"{role}_" for role in ROLES), "awx_", "decide_", "drill_", "simulator_", "status_", "watch_")
# Names that are shorter behind their prefix are too near to each other.
SHORTEST = 4
# Of more names, the rest is not looked at: that takes time.
MOST_NAMES = 500
# One letter for so many in the name may be wrong, and two at most.
LETTERS_PER_MISTAKE, MOST_MISTAKES = 8, 2


def warnings(names: Iterable[str], prefixes: tuple[str, ...] = PREFIXES) -> list[str]:
    """Return a warning for each misspelt option."""
    return [warning(name, right) for name, right in misspelt(names, prefixes).items()]


def warning(name: str, right: str) -> str:
    """Return the warning about one misspelt option."""
    return f"The variable {name} is no option of maintenance.azure and has no effect. Did you mean {right}?"


def refused(extra: Iterable[str], names: Iterable[str]) -> str:
    """Return why playbook report refuses variables, or an empty text. C(extra) are the extra variables, C(names) all that no VM chooses.

    Where an option is set, too, what is almost its name is the user's own, but not as an extra variable.
    """
    given, known = frozenset(names), options(("respond",))
    found = {name: right for name, right in misspelt(given, (REPORT,)).items() if right not in given} | misspelt(extra, (REPORT, "respond_"))
    lines = [warning(*pair) for pair in found.items()]
    if unknown := sorted(name for name in extra if name.startswith(REPORT) and name not in known and name not in found):
        ours = sorted(name for name in known if name.startswith(REPORT))
        lines.append(f"No options: {', '.join(unknown)}. Those of playbook report are {', '.join(ours)}")
    return " ".join(lines)


def misspelt(names: Iterable[str], prefixes: tuple[str, ...] = PREFIXES) -> dict[str, str]:
    """Return each name that is no option of this collection and almost one, with the option that was meant. All other names are the user's."""
    ours = {name for name in names if name.startswith(prefixes)}
    known = options((*ROLES, "awx", "simulator", "watch"))
    found = {name: meant(name, known) for name in sorted(ours - known - NO_OPTIONS)[:MOST_NAMES]}
    return {name: right for name, right in found.items() if right}


def meant(name: str, known: Iterable[str]) -> str | None:
    """Return the option that was probably meant by a name, or None. Names that differ in digits are numbered on purpose."""
    prefix = next(one for one in (*PREFIXES, REPORT) if name.startswith(one))
    limit = min(max(len(name) // LETTERS_PER_MISTAKE, 1), MOST_MISTAKES)
    if len(name) - len(prefix) < SHORTEST or any(letter.isdigit() for letter in name):
        return None
    near = ((distance(name, one), one) for one in known if one.startswith(prefix) and abs(len(one) - len(name)) <= limit)
    return min((pair for pair in near if pair[0] <= limit), default=(0, None))[1]


def distance(one: str, other: str) -> int:
    """Return how many letters differ: added, left out, replaced, or two neighbours exchanged."""
    two_above: list[int] = []
    above = list(range(len(other) + 1))
    for place, letter in enumerate(one):
        row = [place + 1]
        for column, wanted in enumerate(other):
            cost = min(above[column + 1] + 1, row[column] + 1, above[column] + (letter != wanted))
            if place and column and letter == other[column - 1] and one[place - 1] == wanted:
                cost = min(cost, two_above[column - 1] + 1)
            row.append(cost)
        two_above, above = above, row
    return above[-1]
