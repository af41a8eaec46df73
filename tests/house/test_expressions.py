"""Expressions meet text that strangers wrote: none of the package may take longer than in proportion to it."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
import signal
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import repertoire
from house.hostile_strings import hostile
from repertoire import linear
from repertoire.lazy_pattern import LazyPattern

PACKAGE = Path(repertoire.__file__).parent
LENGTH = 40_000
BOUND = 120  # times a scan that looks at one character after the other: a match of RE2 a character costs 28 of them
SCREENED = 400  # of this length all strings are tried, of the whole one those that took longest
SLOWEST = 2
ONCE = ("search", "match", "fullmatch")
MANY = ("finditer", "findall", "sub", "subn", "split")
SCAN = re.compile(r"\w|\W")

Expression = re.Pattern[str] | LazyPattern | linear.LinearPattern


class Slow(Exception):
    """It took so long that nobody needs to know how long."""


ONLY = os.environ.get("ONLY", "repertoire")


@cache
def expressions() -> dict[str, tuple[Expression, tuple[str, ...]]]:
    """Return every compiled expression that a module of the package holds, and how it is called."""
    found: dict[str, tuple[Expression, tuple[str, ...]]] = {}
    calls = called()
    for module in pkgutil.walk_packages(repertoire.__path__, "repertoire."):
        if module.name.endswith("__main__") or not module.name.startswith(ONLY):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            for place, expression in enumerate(held(value)):
                methods = calls[module.name if name.startswith("_") else ""].get(name, set())
                ways = ("finditer",) if methods & set(MANY) or not methods else ()
                found[f"{module.name}.{name}[{place}]"] = (expression, (*ways, *sorted(methods & set(ONCE))))
    return found


def held(value: Any, depth: int = 0) -> Iterator[Expression]:
    if isinstance(value, (re.Pattern, LazyPattern, linear.LinearPattern)):
        yield from [value] if isinstance(value.pattern, str) else []
    elif depth <= 4 and not isinstance(value, type):
        for item in within(value):
            yield from held(item, depth + 1)


def within(value: Any) -> list[Any]:
    """Return what a value is made of, where an expression may be among it."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (tuple, list, set, frozenset)):
        return list(value)
    if getattr(value, "__closure__", None):  # a reader made for one expression
        return [cell.cell_contents for cell in value.__closure__]
    return [getattr(value, name, None) for name in getattr(value, "__dataclass_fields__", ())]


def called() -> defaultdict[str, dict[str, set[str]]]:
    """Return the methods that are called on names, by module, and under no module's name wherever they are called."""
    methods: defaultdict[str, dict[str, set[str]]] = defaultdict(dict)
    for path in PACKAGE.rglob("*.py"):
        module = ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in (*ONCE, *MANY):
                name = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
                for place in (module, ""):
                    methods[place].setdefault(name, set()).add(node.attr)
    return methods


def cost(call: Callable[[], Any], most: float) -> float:
    """Return the processor seconds that a call takes; infinity where they are more than that."""

    def stop(*_: object) -> None:
        raise Slow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, most)
    began = time.thread_time()  # of a process with such a timer the clock moves in ticks of 4 ms alone
    try:
        call()
    except Slow:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return time.thread_time() - began


def cost_of_scan(text: str) -> float:
    """Return the processor seconds of looking at each character: the median, as a busy machine makes some slow."""
    return statistics.median(cost(lambda: sum(1 for _ in SCAN.finditer(text)), 60) for _ in range(9))


def use(expression: Expression, method: str, text: str) -> Callable[[], Any]:
    if method == "finditer":
        return lambda: sum(1 for _ in expression.finditer(text))
    return lambda: getattr(expression, method)(text)


def slowest(expression: Expression, method: str, scan: float) -> tuple[float, str]:
    """Return the highest cost of an expression on strings of the full length, in scans, and the string's beginning."""
    flags = 0 if isinstance(expression, linear.LinearPattern) else expression.flags
    screened = []
    for one in hostile(expression.pattern, flags):
        screened.append((cost(use(expression, method, one.text(SCREENED)), BOUND * scan), one))
        if screened[-1][0] == float("inf"):
            return float("inf"), one.text(60)
    worst = (0.0, "")
    for _, one in sorted(screened, reverse=True)[:SLOWEST]:
        times = cost(use(expression, method, one.text(LENGTH)), BOUND * scan) / scan
        worst = max(worst, (times, one.text(60)))
        if times == float("inf"):  # what others take says no more
            break
    return worst


@pytest.mark.skipif(not hasattr(signal, "SIGPROF"), reason="this system has no timer of processor time")
def test_no_expression_of_the_package_takes_longer_than_in_proportion_to_a_hostile_text():
    scan = cost_of_scan("a~ \n" * (LENGTH // 4))

    slow = []
    for name, (expression, methods) in sorted(expressions().items()):
        for method in methods:
            times, beginning = slowest(expression, method, scan)
            if times > BOUND:  # what only a busy machine made slow is not slow twice
                times, beginning = slowest(expression, method, scan)
            if times > BOUND:
                slow.append(f"{name}.{method}: {times:.0f} scans on {beginning!r}")

    assert not slow, "\n".join(slow)


def test_a_quadratic_expression_is_caught():
    scan = cost_of_scan("a" * LENGTH)

    assert slowest(re.compile(r"<!--.*?-->", re.DOTALL), "finditer", scan)[0] > BOUND
    assert slowest(re.compile(r"\s+$"), "search", scan)[0] > BOUND
    assert slowest(linear.compile(r"(?s)<!--.*?-->"), "finditer", scan)[0] <= BOUND


def test_every_expression_stands_where_it_can_be_found():
    """A call such as `re.search(PATTERN, text)` inside a function would escape the test above."""
    inside = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("re", "linear")
        and node.args
        and isinstance(node.args[0], ast.Constant)
    ]

    assert not inside
