"""Writes the log of a commons as one JSON object a line: times, routes, states and ids, and no request's contents."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from datetime import datetime, timezone

REQUESTS = "repertoire.commons.requests"  # the logger with a line for each request
_FIELDS = "fields"  # the attribute of a log record that holds what its line has beside the message


def start_logging() -> None:
    """Write warnings of every part, and a line for each request, to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger(REQUESTS).setLevel(logging.INFO)


def with_fields(**fields: object) -> Mapping[str, Mapping[str, object]]:
    """Return fields of a line as `extra` of a logging call takes them."""
    return {_FIELDS: fields}


class JsonLines(logging.Formatter):
    """Formats a record as a JSON object. Of an error it shows the type and the places, since its text may hold rows."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "name": record.name,
            "message": record.getMessage(),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            line["places"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(record.exc_info[2])
            ]
        return json.dumps(line)
