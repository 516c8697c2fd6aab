# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What each HTTP status of the service means, and how to respond."""

from __future__ import annotations

import re
import typing as t

from ..core.errors import ScheduledEventsError, describe_body

if t.TYPE_CHECKING:
    from .transport import Answer

RETRYABLE = frozenset((404, 410, 429, 500, 503, 504))
HOPELESS = frozenset((400, 401, 403, 405))
ADVICE = {
    400: "The service calls the request malformed; asking again cannot help. For an approval: the event may just be gone.",
    404: "The service does not know this path; check that the endpoint is Azure's metadata service.",
    405: "The service does not take this kind of request here; check the endpoint.",
    410: "The service is being updated; that may take a few minutes.",
    429: "More than five requests a second came from this VM; other agents share that limit.",
    500: "The metadata service has trouble; try again in a while.",
    503: "The metadata service has trouble; try again in a while.",
    504: "The metadata service has trouble, or a proxy answered in its place.",
}


def check_answer(answer: Answer, request: str) -> None:
    """Raise ScheduledEventsError unless the answer is a success."""
    if 200 <= answer.status < 300:
        return
    came = f"{request} was answered with status {answer.status} and {describe_body(answer.body)}."
    if 300 <= answer.status < 400:
        raise ScheduledEventsError(
            "{} It points to {}; redirects are not followed, because the metadata service sends none. Look for a proxy or a captive portal in between.".format(
                came, describe_body(answer.headers.get("location", ""))
            ),
            "redirected",
            answer.status,
        )
    if rejects_version(answer):
        raise ScheduledEventsError(came + " It does not know this api-version.", "version_rejected", answer.status)
    raise ScheduledEventsError(
        "{} {}".format(came, ADVICE.get(answer.status, "Check what answers at this address.")),
        "bad_request" if answer.status in HOPELESS else "http_status",
        answer.status,
        retryable=answer.status in RETRYABLE,
        retry_after=_retry_after(answer),
    )


def rejects_version(answer: Answer) -> bool:
    """Return whether the answer rejects the api-version: 400 names it; older services answer 404 "Not found. Invalid version requested" (fact b4)."""
    if answer.status not in (400, 404):
        return False
    return re.search(rb"api-?version|newest-versions|invalid version", answer.body, re.IGNORECASE) is not None


def _retry_after(answer: Answer) -> float | None:
    text = answer.headers.get("retry-after", "").strip()
    return float(text) if re.match(r"^[0-9]{1,6}$", text) else None
