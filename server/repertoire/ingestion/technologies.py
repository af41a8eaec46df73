"""Finds the technologies of programs by their imports and words: languages, frameworks, patterns, API keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from repertoire import linear
from repertoire.domain.technologies import Technologies
from repertoire.ingestion.parts import ComponentRequirement
from repertoire.syntax import PYTHON, language_of

_LANGUAGES = {
    **dict.fromkeys(("ts", "mts", "cts", "tsx"), "TypeScript"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), "JavaScript"),
    **dict.fromkeys(("sh", "bash", "zsh"), "shell"),
    "py": "Python",
    "rb": "Ruby",
    "go": "Go",
    "rs": "Rust",
    "java": "Java",
    "php": "PHP",
    "pl": "Perl",
    "ps1": "PowerShell",
    "r": "R",
}
_FRAMEWORKS = {
    "@angular/core": "Angular",
    "@anthropic-ai/sdk": "Anthropic SDK",
    "@modelcontextprotocol/sdk": "MCP SDK",
    "@modelcontextprotocol/server": "MCP SDK",
    "@nestjs/core": "NestJS",
    "@prisma/client": "Prisma",
    "ai": "Vercel AI SDK",
    "aiohttp": "aiohttp",
    "anthropic": "Anthropic SDK",
    "boto3": "AWS SDK",
    "bs4": "Beautiful Soup",
    "beautifulsoup4": "Beautiful Soup",
    "click": "Click",
    "commander": "Commander",
    "django": "Django",
    "drizzle-orm": "Drizzle",
    "express": "Express",
    "fastapi": "FastAPI",
    "fastify": "Fastify",
    "fastmcp": "FastMCP",
    "flask": "Flask",
    "hono": "Hono",
    "langchain": "LangChain",
    "langgraph": "LangGraph",
    "llama_index": "LlamaIndex",
    "matplotlib": "Matplotlib",
    "mcp": "MCP SDK",
    "next": "Next.js",
    "numpy": "NumPy",
    "openai": "OpenAI SDK",
    "pandas": "pandas",
    "playwright": "Playwright",
    "puppeteer": "Puppeteer",
    "pydantic": "Pydantic",
    "pytest": "pytest",
    "react": "React",
    "requests": "Requests",
    "scikit-learn": "scikit-learn",
    "selenium": "Selenium",
    "sklearn": "scikit-learn",
    "sqlalchemy": "SQLAlchemy",
    "starlette": "Starlette",
    "svelte": "Svelte",
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "transformers": "Transformers",
    "typer": "Typer",
    "vitest": "Vitest",
    "vue": "Vue",
    "zod": "Zod",
}
_PATTERNS = {
    "standard input and output": "StdioServerTransport stdio_server stdio",
    "streamable HTTP": "StreamableHTTPServerTransport streamable-http streamable_http streamable_http_app",
    "server-sent events": "SSEServerTransport SseServerTransport event-stream EventSource",
    "command-line arguments": "argparse argv click typer commander yargs parseArgs",
    "HTTP requests": "httpx requests aiohttp axios node-fetch undici urllib fetch",
    "other programs": "subprocess child_process execa create_subprocess_exec",
    "asynchronous": "async asyncio",
    "SQL": "sqlite3 psycopg psycopg2 sqlalchemy better-sqlite3 mysql mysql2 asyncpg",
    "OAuth": "OAuth OAuth2 oauth oauth2 OAUTH",
    "retries": "tenacity backoff p-retry async-retry",
    "caching": "lru_cache cachetools node-cache lru-cache",
    "validation of input": "pydantic zod jsonschema ajv",
    "reading web pages": "bs4 cheerio puppeteer playwright selenium readability readabilipy",
}
_OF_WORD = {word: name for name, words in _PATTERNS.items() for word in words.split()}
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_PYTHON_IMPORT = linear.compile(r"(?m)^\s*(?:from\s+([A-Za-z_]\w*)[\w.]*\s+import\b|import\s+([A-Za-z_][\w., ]*))")
_NODE_IMPORT = linear.compile(r"\b(?:from|import|require)\s*\(?\s*[\"']((?:@[\w.-]+/)?[A-Za-z][\w.-]*)")
# Reads of an environment variable without a default value.
_READ = re.compile(
    r"os\.environ\[\s*[\"'](\w+)[\"']\s*\](?!\s*=[^=])|(?:os\.getenv|environ\.get)\(\s*[\"'](\w+)[\"']\s*\)"
    r"(?!\s*(?:or\b|if\b))|process\.env(?:\.(\w+)|\[\s*[\"'](\w+)[\"']\s*\])(?!\s*(?:\|\||\?|[=!]==?|&&|=[^=>]))"
)
_KEY = re.compile(r"^[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PAT|CREDENTIALS?|DSN|CONNECTION_STRING)$")
_DOCUMENTED = re.compile(r"\"env\"\s*:\s*\{([^{}]{1,2000})\}")
_DOCUMENTED_NAME = re.compile(r"\"([A-Z][A-Z0-9_]{2,60})\"\s*:")
_MOST = 200_000  # characters of one program that are searched
_FEW = 12


def is_program(path: str) -> bool:
    """Tell by its name whether a file is a program."""
    return "." in path.rpartition("/")[2] and path.rpartition(".")[2].lower() in _LANGUAGES


def of_programs(texts: Mapping[str, str], *, packages: Iterable[str] = (), exports: Iterable[str] = ()) -> Technologies:
    """Return the technologies of programs; `packages` are the dependencies in their manifest."""
    languages: dict[str, int] = {}
    imported: dict[str, None] = dict.fromkeys(packages)
    patterns: dict[str, None] = {}
    for path, text in texts.items():
        language = _LANGUAGES.get(path.rpartition(".")[2].lower())
        if language is None:
            continue
        languages[language] = languages.get(language, 0) + len(text)
        head = text[:_MOST]
        imported.update(dict.fromkeys(_imports(path, head)))
        patterns.update(dict.fromkeys(_OF_WORD[word] for word in _OF_WORD.keys() & set(_WORD.findall(head))))
    frameworks = dict.fromkeys(_FRAMEWORKS[name.lower()] for name in imported if name.lower() in _FRAMEWORKS)
    return Technologies(
        languages=tuple(sorted(languages, key=lambda name: (-languages[name], name))),
        frameworks=tuple(sorted(frameworks)),
        patterns=tuple(name for name in _PATTERNS if name in patterns),
        exports=tuple(dict.fromkeys(exports)),
    )


def _imports(path: str, text: str) -> Iterator[str]:
    if language_of(path) == PYTHON:
        for source, listed in _PYTHON_IMPORT.findall(text):
            yield from (name.split()[0].partition(".")[0] for name in (source or listed).split(",") if name.split())
    else:
        yield from _NODE_IMPORT.findall(text)


def required_keys(texts: Mapping[str, str]) -> Iterator[ComponentRequirement]:
    """Yield the environment variables from which programs read an API key without a default."""
    found: dict[str, str] = {}
    for path, text in texts.items():
        for names in _READ.findall(text[:_MOST]):
            name = next(filter(None, names), "")
            if _KEY.match(name):
                found.setdefault(name, path)
    for name, path in list(found.items())[:_FEW]:
        yield ComponentRequirement("env", name, 0.6, f"read in {path}")


def documented_keys(readme: str) -> Iterator[ComponentRequirement]:
    """Yield the API keys in the server configuration that a README shows."""
    found: dict[str, None] = {}
    for block in _DOCUMENTED.findall(readme[:_MOST]):
        found.update(dict.fromkeys(name for name in _DOCUMENTED_NAME.findall(block) if _KEY.match(name)))
    for name in list(found)[:_FEW]:
        yield ComponentRequirement("env", name, 0.7, "its README's configuration")
