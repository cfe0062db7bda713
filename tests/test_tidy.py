"""The habits of the tree that no linter knows: layering, sizes, dead links, words, addresses.

Each check returns its complaints as lines that name a file, so that a failure reads as a list of
what to mend. The tables on top are the architecture: change them when it changes, and only then.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "flashtwin"
LABORATORY = ROOT / "lab" / "flashtwin_lab"
CRATES = ROOT / "crates"
MANIFESTS = [*sorted(CRATES.glob("*/Cargo.toml")), ROOT / "fuzz" / "Cargo.toml"]
# A worktree's .git is a file that says where the repository lies.
GENERATED = {".git", "__pycache__", "target", "dist", "flashtwin-runs", "node_modules", "site"}

# Python: a room may import its own modules and those of the rooms above it in this list.
ROOMS = (
    "_core",
    "model",
    "catalogue",
    "analysis",
    "charts",
    "hypothesis",
    "batteries",
    "drives",
    "runs",
    "runner",
    "study",
    "fio",
    "report",
    "load",
    # A run that a program starts shows itself in the command line's block.
    "cli",
    "api",
)
# What every room may use: errors, arguments of programs, the system, and the doors to files.
LEAVES = {"arguments", "errors", "inputs", "outputs", "system"}
# Numbers from anywhere have to do for the analysis; a page's figures know no drive.
FORBIDDEN = {"analysis": ("_core", "catalogue"), "charts": ("_core", "catalogue", "analysis")}

# Who else may open a file for writing than `outputs`, which writes beside and renames: what grows
# line by line, what is measured, what a child process or nobody reads, what a worker handed over.
WRITERS = {
    "outputs",
    "runs.writer",  # the journal
    "runs.blocks",  # what the steps measured, which grows like the journal
    "drives.real.real_file",  # the file that is measured, and probes of where it may be
    "drives.device.held",  # a device that is to be measured
    "drives.real.real_fio",  # what fio says, in a directory of its own
    "drives.snapshots",  # an entry's directory is put in its place
    "study.sweep.executors",  # a run's directory is put in its place
    "load.record",  # a recording, which grows; the switches of tracefs
    "cli.app",  # stdout where the shell closed it
}
# Who else may parse JSON or TOML than `inputs`: what flashtwin wrote itself, held against a check
# or a digest before; its own package's data; what its own child process answers.
PARSERS = {
    "inputs",
    "runs.journal",  # lines that `inputs.is_plain` looked at before, or `parse_json`
    "runs.summary",  # sealed files
    "runs.listing",
    "runs.listing_index",  # sealed
    "runs.condition",  # what `runs.query` asks its child
    "runs.query",
    "runner.replay",  # a value of ours, to text and back
    "catalogue.validated",  # data of the package
    "study.ranking",
}
_PARSING_CALLS = re.compile(
    r"(^|\.)(json\.(loads?|JSONDecoder)|tomllib\.loads?|tomlkit\.(parse|loads?)"
    r"|(msgspec\.)?json\.(decode|Decoder)|(msgspec\.)?toml\.decode)$"
)
_WRITING_CALLS = {
    *("write_text", "write_bytes", "touch", "mkstemp", "NamedTemporaryFile"),
    *("os.replace", "os.rename", "shutil.move", "shutil.copy", "shutil.copyfile", "shutil.copy2"),
}
_WRITING_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}

# Rust: what each crate may depend on, also in its tests.
CRATE_DIRECTIONS = {
    "base": set(),
    "nand": {"base"},
    "ftl": {"base", "nand"},
    "drive": {"base", "nand", "ftl"},
    "workload": {"base"},
    "host": {"base", "workload"},
    "tables": set(),
    "drawn": set(),
    "timeline": {"base", "drive"},
    "serve": {"base", "ftl", "drive"},
    "page": {"base", "workload", "drive", "host"},
    "python": {"base", "workload", "drive", "host", "page", "serve", "tables", "timeline"},
    "soak": {"base", "nand", "ftl", "workload", "drive", "host", "serve"},
    "bench": {"base", "nand", "ftl", "workload", "drive", "host"},
    "fuzz": {"base", "workload", "drive", "host", "serve", "drawn"},
}

# The tests of a drive close the loop around it, those of the host draw jobs; their code does not.
TESTED_WITH = {"drive": {"host", "workload"}, "host": {"drawn"}}

# Errors that are raised with a hint; those with one of their class are others.
ERRORS = {"FlashtwinError", "UnknownNameError", "MachineError", "RefusedError", "UsageError"}
# Words that say that something is there and not what it is: no variable or parameter bears one.
# A field may: fields of documents and of stored files are keys that others read.
VAGUE = {
    *("found", "said", "told", "asked", "heard", "given", "made", "kept", "gone"),
    *("one", "thing", "what", "whole", "some", "many", "mine", "ours", "theirs"),
}

MOST_LINES, MOST_COLUMNS = 800, 100
# Modules that a battery is a part of: those of the command fio.
COMPANIONS = {
    "fio": ("fio.drives", "cli.fio_run"),
}
SIZED = {".py", ".rs", ".js", ".css", ".html", ".j2"}
TEXT = SIZED | {".toml", ".md", ".pyi", ".lock", ".json", ".svg", ""}
UNFINISHED = re.compile(
    r"\b(todo|fixme|xxx|placeholder|NotImplementedError|unimplemented|not yet implemented)\b", re.I
)
ADDRESSES = re.compile(
    r"artifactory|pythonhosted|pypi\.org/simple|(index|static)\.crates\.io|--(extra-)?index-url"
    r"|registry\.npmjs|deb\.debian\.org|find-links"
)
# Files that `./dev docs` puts into the site beside its pages.
MADE_BY_DOCS = {"play/bx500-240.html"}
CONFLICT = re.compile(r"^(<{7}|>{7}|\|{7}) ", re.M)
OUTSIDE = re.compile(r"\.\./shared|/work/(shared|main)\b")
CARGO_SOURCE = 'source = "registry+https://github.com/rust-lang/crates.io-index"'


def files(*suffixes: str) -> Iterator[Path]:
    """Every file of the tree that somebody wrote, this one left out: it has to name the words."""

    def walk(folder: Path) -> Iterator[Path]:
        for entry in sorted(folder.iterdir()):
            if entry.name in GENERATED:
                continue
            if entry.is_dir():
                if entry.name == ".ci" or not entry.name.startswith("."):
                    yield from walk(entry)
            elif entry.suffix in suffixes and not entry.name.startswith("LICENSE"):
                yield entry

    yield from (path for path in walk(ROOT) if path != Path(__file__).resolve())


def named(path: Path, line: int, what: str) -> str:
    return f"{path.relative_to(ROOT)}:{line}: {what}"


def lines_matching(pattern: re.Pattern[str], *suffixes: str) -> list[str]:
    return [
        named(path, number, line.strip()[:120])
        for path in files(*suffixes)
        if pattern.search(text := path.read_text())
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line) and line != CARGO_SOURCE
    ]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Every node of a file of Python: several of the checks go through them."""
    return list(ast.walk(tree_of(path)))


def module_name(path: Path) -> str:
    """`battery.step` for python/flashtwin/model/step.py; a package's __init__ is the package."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, *, typing: bool = True) -> Iterator[tuple[int, str]]:
    """(line, module below flashtwin) for every import, also those inside of functions.

    Without `typing` those are left out that only the type checker reads.
    """
    home = ["flashtwin", *path.relative_to(PACKAGE).parts[:-1]]
    for node in nodes_of(path) if typing else nodes_at_run_time(tree_of(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = home[: len(home) + 1 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{source}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("flashtwin."):
                yield node.lineno, name.removeprefix("flashtwin.")


def nodes_at_run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement of a program but those under `TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if not isinstance(node, ast.expr):
            yield node
            yield from nodes_at_run_time(node)


def cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """Modules of which each imports the next, and the last the first; none where none do."""
    try:
        TopologicalSorter({name: graph[name] - {name} for name in graph}).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]
    return []


def layer(package: str) -> int:
    """How far down a package lies; the package flashtwin itself (its version) is at the bottom."""
    return -ROOMS.index(package) if package in ROOMS else 0


def is_leaf(module: str) -> bool:
    return any(module == leaf or module.startswith(f"{leaf}.") for leaf in LEAVES)


def wrong_direction(importer: str, imported: str) -> bool:
    mine, theirs = importer.partition(".")[0], imported.partition(".")[0]
    if not mine:
        # The package itself is the face of its interface, and of nothing else.
        return theirs != "api"
    if is_leaf(importer):
        return not is_leaf(imported)
    if theirs in FORBIDDEN.get(mine, ()):
        return True
    return not (mine == theirs or is_leaf(imported) or layer(theirs) > layer(mine))


def test_python_packages_import_downwards_only() -> None:
    wrong = [
        named(path, line, f"{module_name(path)} imports {imported}")
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, imported in imports(path)
        if wrong_direction(module_name(path), imported)
    ]
    assert wrong == []


def test_what_ships_imports_nothing_of_the_laboratory() -> None:
    wrong = [
        named(path, node.lineno, ast.unparse(node))
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.Import | ast.ImportFrom) and "flashtwin_lab" in ast.unparse(node)
    ]
    assert wrong == []


def test_a_battery_is_a_plug_in() -> None:
    """Nobody imports a battery, but its own modules and what it is a part of."""
    batteries = {path.parent.name for path in PACKAGE.glob("batteries/*/__init__.py")} - {"base"}
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = module_name(path)
        for line, imported in imports(path):
            room, _, rest = imported.partition(".")
            battery = rest.partition(".")[0]
            own = f"{name}.".startswith(f"batteries.{battery}.")
            foreign = not own and name not in COMPANIONS.get(battery, ())
            if room == "batteries" and battery in batteries and foreign:
                wrong.append(named(path, line, f"{name} imports {imported}"))
    assert wrong == []


def test_no_modules_import_one_another() -> None:
    # What stands under TYPE_CHECKING is never executed, and annotations may name each other's
    # types: the face of the package names the types of its interface like that.
    paths = {module_name(path): path for path in PACKAGE.rglob("*.py")}

    def module_of(name: str) -> str:
        while name not in paths:
            name = name.rpartition(".")[0]
        return name

    graph = {
        name: {module_of(imported) for _, imported in imports(path, typing=False)}
        for name, path in paths.items()
    }
    assert " imports ".join(cycle(graph)) == ""


def test_the_rule_of_cycles_itself() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert cycle({"a": {"b"}, "b": {"a"}, "c": set()})[0] in ("a", "b")


def test_every_python_package_has_a_layer() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders <= set(ROOMS)


@pytest.mark.parametrize(
    ("importer", "imported", "wrong"),
    [
        ("analysis.fill", "model.finding", False),
        ("analysis.fill", "batteries.fill", True),
        ("analysis.fill", "_core.Twin", True),
        ("batteries.fill", "runner.run", True),
        ("batteries.fill", "drives.contract", True),
        ("runs.journal", "model.step.Job", False),
        ("runs.journal", "runner.run", True),
        ("drives.real.real", "fio.plan", True),
        ("model.step", "drives.contract", True),
        ("cli.app", "__version__", False),
        ("", "api.Run", False),
        ("", "runner.run", True),
        ("runner.run", "api.Run", True),
    ],
)
def test_the_layering_rule_itself(importer: str, imported: str, wrong: bool) -> None:
    assert wrong_direction(importer, imported) is wrong


def writes(node: ast.AST) -> str | None:
    """How a node of a program makes or replaces a file, if it does."""
    if isinstance(node, ast.Attribute) and node.attr in _WRITING_FLAGS:
        return node.attr
    if not isinstance(node, ast.Call):
        return None
    called = ast.unparse(node.func)
    name = called.rpartition(".")[2]
    if name == "open":
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        words = [one.value for one in values if isinstance(one, ast.Constant)]
        modes = [word for word in words if isinstance(word, str) and set(word) <= set("rwxabt+")]
        return "open" if any(set(mode) & set("wxa+") for mode in modes) else None
    if name == "rename" and len(node.args) == 1 and not isinstance(node.args[0], ast.Dict):
        return "rename"
    return next((one for one in (called, name) if one in _WRITING_CALLS), None)


def test_what_is_shown_goes_through_one_place() -> None:
    commands = [path for path in (PACKAGE / "cli").glob("*.py") if path.name != "terminal.py"]
    shown = re.compile(r"click\.echo\(|\bprint\(")
    assert [
        named(path, number, line.strip())
        for path in commands
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if shown.search(line) and "console.print(" not in line
    ] == []


def test_every_path_of_a_command_may_not_be_empty() -> None:
    commands = [*(PACKAGE / "cli").glob("*.py"), *(LABORATORY / "commands").glob("*.py")]
    assert [
        named(path, number, line.strip())
        for path in commands
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if "click.Path(" in line
    ] == []


def test_one_module_opens_files_for_writing() -> None:
    found = [
        (path, node.lineno, what)
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.expr) and (what := writes(node))
    ]
    others = [
        named(path, line, f"{what} outside of flashtwin.outputs")
        for path, line, what in found
        if module_name(path) not in WRITERS
    ]
    assert others == []
    assert {module_name(path) for path, _, _ in found} == WRITERS, "the list names who needs it"


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("open(path, 'w')", "open"),
        ("path.open(mode='ab')", "open"),
        ("path.open('rb')", None),
        ("tarfile.open(fileobj=sink, mode='r')", None),
        ("path.write_text(text)", "write_text"),
        ("os.open(path, os.O_RDONLY | os.O_CREAT)", "O_CREAT"),
        ("os.replace(part, path)", "os.replace"),
        ("part.rename(path)", "rename"),
        ("text.replace('a', 'b')", None),
        ("estimate.write_bytes", None),
    ],
)
def test_the_writing_rule_itself(source: str, kind: str | None) -> None:
    assert next(filter(None, map(writes, ast.walk(ast.parse(source)))), None) == kind


def variables(nodes: Collection[ast.AST]) -> Iterator[tuple[int, str]]:
    """(line, name) of every variable and parameter of a program, but for fields of classes."""
    bodies = [node.body for node in nodes if isinstance(node, ast.ClassDef)]
    fields = {
        id(line.target) for body in bodies for line in body if isinstance(line, ast.AnnAssign)
    }
    for node in nodes:
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield from [] if id(node) in fields else [(node.lineno, node.id)]


def test_variables_say_what_they_hold() -> None:
    assert [
        named(path, line, f"{name} does not say what it holds")
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, name in variables(nodes_of(path))
        if name.strip("_").lower() in VAGUE
    ] == []


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(one, *, what=1): pass", ["one", "what"]),
        ("[made for made in rows]", ["made"]),
        ("class Row:\n    found: int", []),
        ("class Row:\n    def f(self, told): self.kept = told", ["told"]),
        ("finding = told", []),
    ],
)
def test_the_rule_of_variables_itself(source: str, names: list[str]) -> None:
    known = [name for _, name in variables(list(ast.walk(ast.parse(source))))]
    assert [name for name in known if name in VAGUE] == names


def test_crates_depend_downwards_only() -> None:
    wrong = []
    for manifest in MANIFESTS:
        crate, content = manifest.parent.name, tomllib.loads(manifest.read_text())
        for table in ("dependencies", "dev-dependencies", "build-dependencies"):
            ours = {name for name in content.get(table, {}) if name.startswith("flashtwin-")}
            directions = CRATE_DIRECTIONS.get(crate, set())
            if table == "dev-dependencies":
                directions = directions | TESTED_WITH.get(crate, set())
            allowed = {f"flashtwin-{name}" for name in directions}
            wrong += [f"{crate} [{table}]: {other}" for other in sorted(ours - allowed)]
    assert wrong == []


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.parent.name)
def test_no_test_of_a_crate_is_left_out(manifest: Path) -> None:
    """Where cargo is told which tests there are, each file has to stand in the one that is run."""
    if tomllib.loads(manifest.read_text())["package"].get("autotests", True):
        return
    tests = manifest.parent / "tests"
    named = set(re.findall(r"^mod (\w+);", (tests / "all.rs").read_text(), re.MULTILINE))
    assert {path.stem for path in tests.glob("*.rs")} - {"all"} <= named


EXAMPLE = ROOT / "examples" / "windowed-greedy" / "Cargo.toml"


@pytest.mark.parametrize("manifest", [*MANIFESTS, EXAMPLE], ids=lambda path: path.parent.name)
def test_what_cargo_does_not_test_has_no_tests(manifest: Path) -> None:
    """A library without tests is not compiled once more for them, and rustdoc looks for none."""
    library = tomllib.loads(manifest.read_text()).get("lib", {})
    text = "\n".join(path.read_text() for path in sorted((manifest.parent / "src").rglob("*.rs")))
    unit_tests = re.search(r"#\[(cfg\()?test\b|proptest!", text)
    doc_tests = re.search(r"^ *//[/!]( *(```|~~~)| {5,}\S)", text, re.M)
    assert bool(unit_tests) == library.get("test", True)
    assert bool(doc_tests) == library.get("doctest", True)


def test_every_crate_has_a_direction_and_the_shared_lints() -> None:
    manifests = {path.parent.name: path.read_text() for path in MANIFESTS}
    assert set(manifests) <= set(CRATE_DIRECTIONS)
    lints = {name: tomllib.loads(text).get("lints") for name, text in manifests.items()}
    assert {name for name, value in lints.items() if value != {"workspace": True}} == set()


def test_files_are_short() -> None:
    counts = {path: len(path.read_text().splitlines()) for path in files(*SIZED)}
    long = {path: count for path, count in counts.items() if count > MOST_LINES}
    assert [named(path, count, f"over {MOST_LINES} lines") for path, count in long.items()] == []


def test_lines_are_short() -> None:
    sources = [*files(".py", ".rs", ".pyi"), ROOT / "dev"]
    assert [
        named(path, number, f"{len(line)} columns")
        for path in sources
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > MOST_COLUMNS
    ] == []


def test_python_modules_say_what_they_are() -> None:
    silent = []
    for path in files(".py"):
        code = re.sub(r"\A(?:#.*\n|\s)*", "", path.read_text())
        if code and not code.startswith('"""'):
            silent.append(str(path.relative_to(ROOT)))
    assert silent == []


def test_rust_modules_say_what_they_are() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in files(".rs")
        if not path.read_text().lstrip().startswith("//!")
    ]
    assert silent == []


def test_nothing_is_unfinished() -> None:
    assert lines_matching(UNFINISHED, *(TEXT - {".lock"})) == []


def test_no_conflict_of_a_merge_is_left() -> None:
    assert lines_matching(CONFLICT, *TEXT) == []


def test_no_registry_address() -> None:
    assert lines_matching(ADDRESSES, *TEXT) == []
    lock = (ROOT / "requirements.lock").read_text()
    assert re.findall(r"\S*://\S*", lock) == []
    sources = re.findall(r"^source = .*$", (ROOT / "Cargo.lock").read_text(), re.M)
    assert set(sources) == {CARGO_SOURCE}


def test_nothing_reaches_outside_of_the_tree() -> None:
    assert lines_matching(OUTSIDE, *TEXT) == []


def test_links_lead_somewhere() -> None:
    dead = []
    for path in files(".md"):
        text = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)|(?:src|href|srcset)=\"([^\"]+)\"", text):
            link = (target[0] or target[1]).partition("#")[0]
            made = path.parent == ROOT / "docs" and link in MADE_BY_DOCS
            if made or not link or re.match(r"[a-z]+:", link):
                continue
            if not (path.parent / link).exists():
                dead.append(f"{path.relative_to(ROOT)}: {link}")
    assert dead == []


def test_one_version() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    source = (PACKAGE / "__init__.py").read_text()
    assert f'__version__ = "{workspace["version"]}"' in source


def test_every_error_is_raised_with_a_hint() -> None:
    without = [
        named(path, call.lineno, "an error without hint=")
        for path in sorted(PACKAGE.rglob("*.py"))
        for call in nodes_of(path)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ERRORS
        and not {word.arg for word in call.keywords} & {"hint", None}
    ]
    assert not without, "\n".join(without)


def parsing_calls(nodes: Iterable[ast.AST]) -> list[ast.Call]:
    """Where a module parses JSON or TOML by itself."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return [call for call in calls if _PARSING_CALLS.search(ast.unparse(call.func))]


def test_json_and_toml_are_parsed_in_one_place() -> None:
    places = {
        module_name(path): [named(path, call.lineno, ast.unparse(call.func)) for call in calls]
        for path in sorted(PACKAGE.rglob("*.py"))
        if (calls := parsing_calls(nodes_of(path)))
    }
    assert [place for name in places.keys() - PARSERS for place in places[name]] == []
    assert places.keys() >= PARSERS


@pytest.mark.parametrize(
    "text", ["json.loads(x)", "tomllib.load(f)", "msgspec.json.Decoder(T)", "json.JSONDecoder()"]
)
def test_a_place_that_parses_is_found(text: str) -> None:
    assert parsing_calls(ast.walk(ast.parse(text)))
    assert not parsing_calls(ast.walk(ast.parse("inputs.parse_json(x)")))
