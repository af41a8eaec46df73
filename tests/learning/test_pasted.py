"""What a person asks is read apart from the logs, stack traces and output that they pasted with it."""

from __future__ import annotations

import pytest

from repertoire.learning.pasted import without_pasted

ASKED = "do a security review of the auth module"
PASTED = {
    "log": """2026-11-27T10:11:12.123Z ERROR [api] unhandled rejection
[12:00:01] request finished 500 in 32 ms
WARN  pool exhausted, waiting""",
    "javascript": """TypeError: Cannot read properties of undefined (reading 'id')
    at getUser (/app/src/users.ts:42:13)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)""",
    "python": """Traceback (most recent call last):
  File "/app/main.py", line 3, in <module>
    run(load("x"))
ValueError: invalid literal for int() with base 10: 'a'""",
    "java": """org.hibernate.LazyInitializationException: could not initialize proxy
\tat org.hibernate.proxy.AbstractLazyInitializer.initialize(AbstractLazyInitializer.java:164)
\t... 12 more
Caused by: java.sql.SQLException: closed""",
    "git": """On branch main
Changes not staged for commit:
  (use "git add <file>..." to update what will be committed)
\tmodified:   src/auth/login.ts
?? src/auth/new.ts""",
    "shell": """$ npm test
FAIL src/auth/login.test.ts
npm ERR! code 1
3 failed, 12 passed""",
    "fence": "```ts\nconst a = 1;\nexport default a;\n```",
    "diff": "diff --git a/x.py b/x.py\nindex 3b18e51..a1b2c3d 100644\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@",
}


@pytest.mark.parametrize("kind", PASTED)
def test_what_was_pasted_before_or_behind_a_request_is_left_out(kind: str) -> None:
    assert without_pasted(f"{ASKED}\n\n{PASTED[kind]}") == ASKED
    assert without_pasted(f"{PASTED[kind]}\n{ASKED}") == ASKED


@pytest.mark.parametrize("kind", PASTED)
def test_where_hardly_a_word_is_asked_what_was_pasted_is_what_it_is_about(kind: str) -> None:
    prompt = f"fix this\n{PASTED[kind]}"
    assert without_pasted(prompt) == prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "- add a search box to the header\n- make it work on phones\n- write tests for it",
        "# Goal\nAt least three pages, e.g. about: the team, error pages: 404 and 500",
        "at the moment the login is slow: find out why and make it faster",
        "Errors should be shown to the user, and warnings only be logged",
        "add `File` uploads to line 3 of the form",
    ],
)
def test_prose_and_lists_stay_as_they_are(prompt: str) -> None:
    assert without_pasted(prompt) == prompt
