"""Packages: tools are read from source code and manifests from registries' files, and nothing is run."""

from __future__ import annotations

import textwrap

import pytest

from repertoire.ingestion import scripts, technologies
from repertoire.ingestion.packages import manifest, node_tools, python_tools, readme_tools
from repertoire.ingestion.packages.package_files import belonging, is_manifest
from repertoire.ingestion.packages.registered_tools import RegisteredTool, merged, programs
from repertoire.ingestion.signatures import signatures
from repertoire.syntax import parse


def found(texts: dict[str, str]) -> dict[str, RegisteredTool]:
    parsed, failed = programs({path: textwrap.dedent(text) for path, text in texts.items()})
    assert not failed
    python = [program for program in parsed if program.language == "python"]
    node = [program for program in parsed if program.language != "python"]
    return {tool.name: tool for tool in merged([*python_tools.tools(python), *node_tools.tools(node)])}


def test_python_tools_are_found_by_decorator_by_call_and_as_values():
    tools = found(
        {
            "names.py": """
                class Names(str, Enum):
                    STATUS = "git_status"
                LATER = "added_" + "later"
                """,
            "server.py": '''
                from names import LATER, Names
                @mcp.tool()
                async def plain(path: str, limit: int = 3, ctx: Context = None) -> str:
                    """Read a file.

                    And more of it."""
                @self.server.tool(name=Names.STATUS.value, description="Shows " "the status")
                @timed
                def status(repo: Annotated[str, Field(description="where")]): ...
                @mcp.tool("positional")
                def other(): """Docs."""
                def added(query): """Adds."""
                mcp.add_tool(added, name=LATER)
                mcp.tool()(added)
                TOOL = types.Tool(
                    name="as_value",
                    description=f"Takes {COUNT} things",
                    inputSchema={"type": "object", "properties": {"a": {}, "b": {}}},
                )
                LISTED = [{"name": "as_mapping", "description": "d", "inputSchema": SCHEMA}]
                @agent.tool
                def of_an_agent(): ...
                Tool(name="of_a_framework", func=f, description="d")
                Tool(name=computed(), description="d", inputSchema={})
                @mcp.prompt()
                def prompt(): ...
                @register_tool("own_way", Schema)
                def wrapped(title: str): """Wrapped."""
                self.tool(made_here, name="handed-over", description="h")
                class Handler(Base):
                    def __init__(self):
                        super().__init__("of_its_class")
                    def described(self):
                        return Tool(name=self.name, description="o", inputSchema={})
                class Other(Base):
                    name = "stated"
                    def described(self):
                        return Tool(name=self.name, description="s", inputSchema={})
                ''',
        }
    )
    assert set(tools) == {
        *("plain", "git_status", "positional", "added_later", "added", "as_value", "as_mapping"),
        *("own_way", "handed-over", "of_its_class", "stated"),
    }
    assert tools["plain"] == RegisteredTool("plain", "Read a file.\n\nAnd more of it.", ("path: str", "limit: int"))
    assert tools["git_status"] == RegisteredTool("git_status", "Shows the status", ("repo: str",))
    assert tools["added_later"].description == "Adds."
    assert tools["as_value"] == RegisteredTool("as_value", "Takes … things", ("a", "b"))


def test_node_tools_are_found_by_call_in_lists_as_classes_and_in_loops():
    tools = found(
        {
            "names.js": "export const QUERY = 'query-docs'; export const NAMES = {later: `added_${'later'}`};",
            "server.ts": """
                const schema = z.object({path: z.string().describe("where"), deep: z.boolean()});
                const config = {title: "Echo", description: ["Echoes", "back"].join(" "), inputSchema: schema};
                export function register(server: McpServer): void {
                  server.registerTool("echo", config, async (args) => ({}));
                  server.tool(QUERY, "Asks " + `the docs`, {question: z.string()}, handler);
                  server.tool("bare", handler as any);
                  server.tool(NAMES.later, {a: z.string()}, cb);
                  server.addTool({
                    name: "added", description: 'It\\'s added', parameters: z.object({x: z.number()}), execute,
                  });
                  registerAppTool(server, "app", {description: "d"}, cb);
                  logger.tool("not one");
                  server.tool(computed(), "d", {}, cb);
                }
                export class SearchTool extends MCPTool<Input> {
                  name = "of_class"; description = "c"; schema = {q: {}};
                }
                """,
            "list.js": """
                const name = "listed";
                server.setRequestHandler(ListToolsRequestSchema, async () => ({tools: [
                  {name, description: "d", inputSchema: {type: "object", properties: {a: {type: "string"}}}},
                  {name: "from_zod", description: "e", inputSchema: zodToJsonSchema(Input)},
                ]}));
                const Input = z.object({b: z.string()});
                """,
            "loop.mjs": """
                const all = [{name: "looped", description: "l", schema: {c: z.string()}, handler: run}];
                for (const tool of all) server.tool(tool.name, tool.description, tool.schema, tool.handler);
                """,
        }
    )
    assert set(tools) == {
        *("echo", "query-docs", "bare", "added_later", "added", "app", "of_class", "listed", "from_zod", "looped"),
    }
    assert tools["echo"] == RegisteredTool("echo", "Echoes back", ("path", "deep"))
    assert tools["query-docs"] == RegisteredTool("query-docs", "Asks the docs", ("question",))
    assert tools["added"] == RegisteredTool("added", "It's added", ("x",))
    assert (tools["listed"].arguments, tools["from_zod"].arguments) == (("a",), ("b",))
    assert (tools["looped"].arguments, tools["of_class"].description) == (("c",), "c")


def test_a_readme_lists_tools_where_the_source_names_none():
    readme = """# Server
- `not_yet`: before any heading that announces tools
## Tools
### Pages
- **open_page**
  - Title: Open
  - Description: Opens a page
  - `nested_parameter` (string): none of them
1. `read_page` - Reads it
| Tool | What |
| --- | --- |
| `page_table` | In a table |
#### `page_title`
## Licence
- **not_any_more**: MIT
"""
    listed = {tool.name: tool.description for tool in readme_tools.tools(readme)}
    assert listed == {
        "open_page": "Opens a page",
        "read_page": "Reads it",
        "page_table": "In a table",
        "page_title": "",
    }


def test_programs_that_are_broken_or_made_to_hurt_are_read_as_far_as_they_go():
    added = " + ".join(["'x'"] * 3_000)
    parsed, failed = programs(
        {
            "broken.py": '@mcp.tool()\ndef good():\n    """d"""\n\ndef bad(:\n  x = (((\n@mcp.tool()\ndef a(): pass',
            "deep.py": "x = " + "(" * 50_000,  # a query would take twelve seconds
            "deep.js": "`${" * 50_000,
            "nots.js": "!" * 100_000 + "a",
            "round.py": f"A = B\nB = A\nC = ''.join([C])\nD = {added}\nTool(name=D, description=A)",
            "many.js": f"e={'t+' * 10}e;var e=t+e,t=e+t;" * 400 + "s.tool(e, 'd', {}, cb)",
            "half.js": "s.registerTool('\\ud800\\u{110000}x', {description: 'd'}, cb)",
        }
    )
    tools = list(python_tools.tools([program for program in parsed if program.language == "python"]))
    assert not list(node_tools.tools([program for program in parsed if program.language != "python"]))
    assert [tool.name for tool in tools][:1] == ["good"]
    assert failed == [
        "deep.py: not python, or too broken to be read",
        "deep.js: not javascript, or too broken to be read",
    ]


def test_a_program_whose_texts_grow_by_joining_them_again_and_again_fills_no_memory():
    many = ",".join(["a"] * 400)
    joined = f"a = '{'x' * 2_000}'\nb = ''.join([{many}])\nc = b.join([{many.replace('a', 'b')}])\n"
    added = f"a = '{'x' * 20_000}'\n" + "".join(f"b{number} = a + a\n" for number in range(4_000))

    parsed, failed = programs({"joined.py": joined, "added.py": added})

    held = [dict(program.names.texts()) for program in parsed]
    assert not failed
    assert {len(text) for text in held[0].values()} == {2_000, 20_000}
    assert sum(len(text) for text in held[1].values()) <= 4 * (len(added) + 20_000)


def test_a_program_too_large_is_told_and_the_others_are_read():
    parsed, failed = programs({"large.js": "x" * 2_000_001, "small.js": "s.tool('a', 'b', {}, c)", "x.rb": "y"})
    assert [program.path for program in parsed] == ["small.js"]
    assert failed == ["large.js: larger than 2,000,000 characters"]


def test_a_package_json_says_what_it_brings():
    read = manifest.of_package_json(
        '{"name": "@acme/mcp-files", "version": "1.2.0", "bin": "dist/index.js", "license": "MIT",'
        '"engines": {"node": ">=20"},'
        '"repository": {"url": "git+https://github.com/acme/files.git"},'
        '"exports": {".": "./x.js", "./package.json": "."},'
        '"dependencies": {"@modelcontextprotocol/sdk": "^1"}, "keywords": ["mcp"], "mcpName": "io.acme/files"}'
    )
    assert read is not None
    assert (read.programs, read.repository) == ({"mcp-files": "dist/index.js"}, "github.com/acme/files")
    assert (read.engines, read.exports, read.server) == ({"node": ">=20"}, (".",), "io.acme/files")
    assert read.uses_sdk
    assert manifest.of_package_json('{"private": true}') is None


def test_python_manifests_in_three_forms_say_the_same():
    project = manifest.of_pyproject(
        '[project]\nname = "mcp-x"\nversion = "1"\ndescription = "Does x."\n'
        'requires-python = ">=3.11"\nkeywords = ["mcp"]\n'
        'dependencies = ["mcp[cli]>=1.2; python_version > \'3\'", "httpx"]\n'
        '[project.scripts]\nmcp-x = "x.server:main"\n'
        '[project.urls]\nSource = "https://github.com/acme/x"\n'
    )
    poetry = manifest.of_pyproject(
        '[tool.poetry]\nname = "mcp-x"\nversion = "1"\ndescription = "Does x."\nkeywords = ["mcp"]\n'
        'repository = "https://github.com/acme/x"\n[tool.poetry.dependencies]\n'
        'python = ">=3.11"\nmcp = "^1.2"\nhttpx = "*"\n'
        '[tool.poetry.scripts]\nmcp-x = "x.server:main"\n'
    )
    wheel = manifest.of_metadata(
        "Metadata-Version: 2.4\nName: mcp-x\nVersion: 1\nSummary: Does x.\nRequires-Python: >=3.11\nKeywords: mcp\n"
        "Project-URL: Source, https://github.com/acme/x\nRequires-Dist: mcp[cli]>=1.2\nRequires-Dist: httpx\n"
        'Requires-Dist: pytest; extra == "dev"\n\n# Read me\n',
        "[other]\na = b:c\n[console_scripts]\nmcp-x = x.server:main\n",
    )
    assert project is not None
    assert poetry is not None
    assert wheel is not None
    assert wheel.readme == "# Read me\n"
    for read in (project, poetry, wheel):
        assert (read.name, read.version, read.description, read.keywords) == ("mcp-x", "1", "Does x.", ("mcp",))
        assert (read.programs, read.engines["python"]) == ({"mcp-x": "x.server:main"}, ">=3.11")
        assert {"mcp", "httpx"} <= set(read.packages)
        assert (read.repository, read.uses_sdk) == ("github.com/acme/x", True)
        assert "pytest" not in read.packages


def test_a_package_has_its_programs_and_neither_its_tests_nor_those_of_a_package_in_it():
    paths = [
        *("package.json", "README.md", "src/index.ts", "src/index.test.ts", "tests/x.ts", "lib/types.d.ts", "a.min.js"),
        *("packages/inner/package.json", "packages/inner/index.js", "docs/x.js", "vite.config.ts", "data.json"),
    ]
    assert belonging("package.json", sorted(paths)) == ("README.md", "src/index.ts")
    assert belonging("packages/inner/package.json", sorted(paths)) == ("packages/inner/index.js",)
    wheel = ["x-1.dist-info/METADATA", "x-1.dist-info/entry_points.txt", "x/__init__.py"]
    assert set(belonging(wheel[0], wheel)) == {"x/__init__.py", "x-1.dist-info/entry_points.txt"}
    assert not is_manifest("x.egg-info/PKG-INFO")


def test_signatures_hold_parameters_types_and_what_is_said_first():
    python = signatures(
        parse(
            'def run(path: str, *, deep=False) -> int:\n    """Run it.\n\n    Well."""\nclass Box:\n    """Holds."""\n'
            "    def put(self, x): ...\n    def _own(self): ...\n@wraps\nasync def later(): ...\ndef _hidden(): ...\n",
            "python",
        ),
        "python",
    )
    assert dict(python) == {
        "run": "run(path: str, *, deep=False) -> int  # Run it.",
        "Box": "class Box  # Holds.",
        "Box.put": "Box.put(self, x)",
        "later": "later()",
    }
    node = signatures(
        parse(
            "/** Opens it.\n * @param a */\nexport async function open(a: string): Promise<void> {}\n"
            "const load = async (x) => 1;\n"
            "export default class Store { get(key: string) {} }\nconst value = 3;",
            "typescript",
        ),
        "typescript",
    )
    assert dict(node) == {
        "open": "open(a: string) -> Promise<void>  # Opens it.",
        "load": "load(x)",
        "Store": "class Store",
        "Store.get": "Store.get(key: string)",
    }


def test_what_programs_are_made_of_is_told_by_imports_and_words():
    texts = {
        "scripts/a.py": "import pandas as pd, sys\nfrom bs4 import BeautifulSoup\nsubprocess.run(x)\ndef go(): ...",
        "scripts/b.ts": "import { z } from 'zod';\nexport const x = async () => fetch('/y');",
        "run.sh": "echo",
        "notes.md": "import react",
        "gone.py": None,
    }
    read = scripts.read(texts, texts.get)
    assert set(read.fields.languages) == {"Python", "TypeScript", "shell"}
    assert read.fields.frameworks == ("Beautiful Soup", "Zod", "pandas")
    assert {"other programs", "asynchronous", "HTTP requests"} <= set(read.fields.patterns)
    assert read.fields.exports == ("go", "x")
    assert "go()" in read.signatures


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ('os.environ["API_KEY"]', True),
        ('os.getenv("API_KEY")', True),
        ('os.getenv("API_KEY", "x")', False),
        ('os.environ.get("API_KEY") or "x"', False),
        ('os.environ["API_KEY"] = "x"', False),
        ("const k = process.env.API_KEY;", True),
        ("process.env.API_KEY ?? 'x'", False),
        ("process.env['API_KEY'] || 'x'", False),
        ("if (process.env.API_KEY === 'x') {}", False),
        ("process.env.API_KEY = 'x'", False),
        ("process.env.LOG_LEVEL", False),
    ],
)
def test_a_key_is_required_where_there_is_nothing_to_fall_back_on(text, needed):
    assert [need.name for need in technologies.required_keys({"a": text})] == (["API_KEY"] if needed else [])
