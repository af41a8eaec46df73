"""Of a request for a component the type and the job are read; what merely speaks of components is a task like any."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.retrieval.component_request import component_request


@pytest.mark.parametrize(
    ("text", "kind", "job"),
    [
        ("is there a skill for creating pull requests?", "skill", "creating pull requests"),
        ("find me a skill that writes changelogs", "skill", "writes changelogs"),
        ("Recommend an MCP server for Postgres", "mcp_server", "Postgres"),
        ("is there a jira mcp server?", "mcp_server", "jira"),
        ("any good agents for security audits?", "agent", "security audits"),
        ("which skill should I use to write changelogs", "skill", "write changelogs"),
        ("what mcp servers do you recommend for a Django project", "mcp_server", "a Django project"),
        ("what plugin would help me write better commit messages", "plugin", "write better commit messages"),
        ("I need a skill that reviews my PRs", "skill", "reviews my PRs"),
        ("can you find me a plugin which formats code on save", "plugin", "formats code on save"),
        ("mcp server for postgres", "mcp_server", "postgres"),
        ("a slash command to draft release notes", "command", "draft release notes"),
        ("are there skills around observability that I can use", "skill", "observability"),
        ("which agent is best for security reviews", "agent", "security reviews"),
        ("Skills for .NET performance investigations.", "skill", ".NET performance investigations"),
        (
            "I am revising for algorithms. Is there a skill that quizzes me?",
            "skill",
            "quizzes me. I am revising for algorithms",
        ),
        ("Our logs live in Datadog. Is there an mcp for that? Any ideas?", "mcp_server", "Our logs live in Datadog"),
        ("skill to generate ADRs, anything decent?", "skill", "generate ADRs"),
        ("pdf form filling skill?", "skill", "pdf form filling"),
        ("is there a Stop hook I could install that runs the tests?", "hook", "runs the tests"),
        ("which mcp servers should I install", "mcp_server", ""),
        ("what plugins should I install for this project", "plugin", ""),
        ("suggest some useful plugins", "plugin", ""),
        ("find a skill for this", "skill", ""),
    ],
)
def test_a_request_for_a_component_tells_its_type_and_its_job(text, kind, job):
    found = component_request(text)
    assert found is not None
    assert (found.type, found.job) == (kind, job)


@pytest.mark.parametrize(
    "text",
    [
        "write a skill that summarises meetings",
        "create an MCP server for our API",
        "I need a hook that blocks rm -rf",
        "which skills do I have installed",
        "uninstall the playwright mcp, I don't use it any more",
        "run the code-reviewer agent on my staged changes",
        "vite plugin order matters? my svgr plugin seems to run after the react one",
        "is it safe to give an mcp server write access to prod?",
        "difference between a skill and a subagent?",
        "are there two slow tests. why?",
        "I want an agent that answers customers",
        "the plugin for payments is broken",
        "find the agent for billing in the code",
        "find bugs in the agent that handles refunds",
        "show me the failing hooks",
        "which hooks run on save?",
        "which plugins are installed",
        "which plugins on this site are exploitable",
        "what is an mcp server",
        "what is the best way to write an agent",
        "what does the plugin for auth do",
        "add a plugin system to the app",
        "find a skill\nand use it",
        "",
    ],
)
def test_what_merely_speaks_of_components_is_no_request_for_one(text):
    assert component_request(text) is None


def test_who_asks_for_a_type_is_served_by_what_claude_code_takes_for_it_too():
    skill, plugin = component_request("a skill to rebase"), component_request("any plugin for rebasing")
    assert skill.handicap("command") == plugin.handicap("plugin") == 0.0
    assert skill.handicap("agent") > skill.handicap("plugin") == plugin.handicap("skill") > 0.0


@given(st.text(max_size=400))
def test_any_text_is_read_without_an_error(text):
    found = component_request(text)
    assert found is None or len(found.job) <= len(text) + len(". ")
