"""Rules of tasks: what blocks what, without circles, and which tasks are ready."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from repertoire.domain.project import BACKLOG, CLOSED, TODO

Blocking = Iterable[tuple[str, str]]  # (the task that blocks, the task that waits for it)


def circle(blocking: Blocking, source: str, target: str) -> tuple[str, ...]:
    """Return the tasks that would wait for each other if `source` blocked `target`; none if all is well."""
    after: dict[str, list[str]] = {}
    for one, other in blocking:
        after.setdefault(one, []).append(other)
    came_from, waiting = {target: ""}, [target]
    while waiting:
        at = waiting.pop()
        if at == source:
            path = [at]
            while came_from[path[-1]]:
                path.append(came_from[path[-1]])
            return tuple(reversed(path))
        for other in after.get(at, ()):
            if other not in came_from:
                came_from[other] = at
                waiting.append(other)
    return ()


def ready(states: Mapping[str, str], blocking: Blocking) -> set[str]:
    """Return the tasks that may be begun: not begun yet, and nothing unfinished blocks them."""
    held = {target for source, target in blocking if states.get(source, CLOSED[0]) not in CLOSED}
    return {key for key, state in states.items() if state in (BACKLOG, TODO) and key not in held}
