"""What a package carries: completions, manual page, citation, schema, and a release of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import click
import pytest

import flashtwin
from flashtwin.catalogue.label import SCHEMA
from flashtwin.cli.app import COMMANDS, app

ROOT = Path(__file__).resolve().parents[2]
SHARE = ROOT / "packaging" / "data" / "share"
COMPLETIONS = {
    "bash": SHARE / "bash-completion/completions/flashtwin",
    "zsh": SHARE / "zsh/site-functions/_flashtwin",
    "fish": SHARE / "fish/vendor_completions.d/flashtwin.fish",
}
LINES = (
    "Crucial BX500 240 GB: ",
    "bx500-240-nocache: ",
    "How sure: ",
    "Next: ",
    "Page: ",
)


def output(*words: str) -> str:
    from click.testing import CliRunner

    return CliRunner().invoke(app, words).stdout


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_the_package_has_the_completions_that_the_program_prints(shell: str) -> None:
    text = output("completions", shell)
    if os.environ.get("FLASHTWIN_BLESS"):
        COMPLETIONS[shell].write_text(text)
    assert COMPLETIONS[shell].read_text() == text


def test_the_manual_page_has_every_command_and_option() -> None:
    page = output("help", "man").replace("\\-", "-")
    root = click.Context(app, info_name="flashtwin")
    for name in COMMANDS:
        assert f".SS flashtwin {name} " in page, name
        command = app.get_command(root, name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.opts[0] in page, f"{name} {parameter.opts[0]}"


def test_roff_takes_no_line_of_the_manual_page_for_an_order() -> None:
    orders = re.compile(r"\.(TH|SH|SS|PP|TP|B|nf|fi)\b|[^.']|\\&|$")
    assert [line for line in output("help", "man").splitlines() if not orders.match(line)] == []


def test_version_says_model_commit_and_build() -> None:
    from flashtwin import _core

    head, model, commit, build = output("--version").strip().split(", ")
    assert head == f"flashtwin {flashtwin.__version__}"
    assert model == f"model {_core.MODEL}"
    assert re.fullmatch(r"commit ([0-9a-f]{12}(-dirty)?|unknown)", commit)
    assert re.fullmatch(r"(debug|release) build for [a-z0-9_]+(-[a-z0-9_]+){2,3}", build)


def test_citation_has_the_version_of_the_package() -> None:
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {flashtwin.__version__}" in lines
    assert "cff-version: 1.2.0" in lines


def test_a_new_spec_names_the_schema_by_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    label = ["--capacity", "1 TB", "--interface", "sata", "--cell", "tlc", "--dram", "yes"]
    output("new", "mine", *label)
    first, *_ = Path("mine.toml").read_text().splitlines()
    assert first == f"#:schema {SCHEMA}"
    schema = json.loads((ROOT / "docs/reference/spec.schema.json").read_text())
    assert schema["$id"] == SCHEMA
    # The draft that it names is one that editors' validators know.
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    later = ('"$defs"', '"prefixItems"', '"dependentRequired"', '"unevaluatedProperties"')
    assert [word for word in later if word in json.dumps(schema)] == []


def test_classifiers_are_ones_that_the_index_knows() -> None:
    from trove_classifiers import classifiers

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["classifiers"]) <= set(classifiers)


@pytest.mark.full
def test_the_wheel_is_for_old_glibc_and_has_what_belongs_to_it(wheel: Path) -> None:
    assert re.fullmatch(r"flashtwin-.*-cp311-abi3-manylinux2014_.*\.whl", wheel.name)
    auditwheel = ROOT / ".tools" / "wheel" / "bin" / "auditwheel"
    shown = subprocess.run([auditwheel, "show", wheel], capture_output=True, text=True, check=True)
    assert "manylinux_2_17" in shown.stdout
    names = zipfile.ZipFile(wheel).namelist()
    for ending in (
        *("flashtwin/commit.txt", "kit/vega.js.gz", "drives/bx500-240.toml"),
        *("share/man/man1/flashtwin.1", "completions/flashtwin", "licenses/LICENSE-MIT"),
    ):
        assert any(name.endswith(ending) for name in names), ending
    assert not any("tests/" in name or name.endswith(".rs") for name in names)
    assert not (ROOT / "python/flashtwin/commit.txt").exists()
    assert wheel.stat().st_size < 8_000_000


@pytest.mark.full
def test_the_demo_of_the_wheel_runs_from_nothing(wheel: Path, tmp_path: Path) -> None:
    uvx = shutil.which("uvx") or str(ROOT / ".tools" / "bin" / "uvx")
    command = [uvx, "--python", sys.executable, "--from", str(wheel), "flashtwin"]
    clean = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home")}
    kept = {name: os.environ[name] for name in os.environ if name.startswith(("UV_", "SSL_"))}
    # Packages that uv keeps are not fetched again; flashtwin itself is not of them.
    cache = {"UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache/uv"))}
    done = subprocess.run(
        [*command, "demo"],
        cwd=tmp_path,
        env=cache | kept | clean,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.startswith(begin) for line, begin in zip(lines, LINES, strict=True)] == [True] * 5
    page = Path(lines[-1].removeprefix("Page: "))
    assert page.is_file() and page.is_relative_to(tmp_path)
    version = subprocess.run([*command, "--version"], env=cache | kept | clean, **_TEXT)
    assert "release build for x86_64" in version.stdout
    assert "commit unknown" not in version.stdout


_TEXT = {"capture_output": True, "text": True, "check": True}
