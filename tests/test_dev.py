"""`./dev`: what it counts, what it calls stale, what a failed part stops.

The script is loaded as a module; nothing here installs or builds anything.
"""

from __future__ import annotations

import importlib.util
import io
import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DEV = Path(__file__).resolve().parent.parent / "dev"

CARGO_LOG = """\
test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s
"""
PYTEST_LOG = """\
tests/test_a.py ....                                                     [100%]
E   assert "7 passed" == text
=========== 1 failed, 40 passed, 3 skipped, 1 error in 61.20s (0:01:01) ===========
"""


@pytest.fixture
def dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module that keeps its logs in a folder of this test."""
    loader = SourceFileLoader("dev_under_test", str(DEV))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setitem(sys.modules, loader.name, module)
    loader.exec_module(module)
    monkeypatch.setattr(module, "TOOLS", tmp_path)
    return module


def part_with_log(dev: ModuleType, name: str, log: str, result: str = "ok"):
    part = dev.Part(name=name, work=lambda out: 0, result=result)
    part.log.parent.mkdir(exist_ok=True)
    part.log.write_text(log)
    return part


def test_counts_of_cargo_add_up(dev: ModuleType) -> None:
    part = part_with_log(dev, "cargo test", CARGO_LOG)
    assert dev.tally(part) == {"passed": 15, "failed": 2}


def test_closing_line_counts_errors_as_failures(dev: ModuleType) -> None:
    part = part_with_log(dev, "pytest", PYTEST_LOG)
    assert dev.closing_line(part) == "40 passed, 2 failed, 3 skipped"


def test_closing_line_when_pytest_never_ran(dev: ModuleType) -> None:
    part = part_with_log(dev, "pytest", "", result="not run: extension failed")
    assert dev.closing_line(part) == "0 passed, 0 failed: pytest not run: extension failed"


def test_contents_make_it_stale_and_times_do_not(dev: ModuleType, tmp_path: Path) -> None:
    source = tmp_path / "lib.rs"
    source.write_text("one")
    before = dev.digest([source])
    source.touch()
    assert dev.digest([source]) == before
    source.write_text("two")
    assert dev.digest([source]) != before


def test_the_table_says_what_a_part_took_of_the_processors(
    dev: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    dev.show(dev.run_tracks([[dev.command_part("busy", sys.executable, "-c", busy)]]))
    (line,) = (one for one in capsys.readouterr().err.splitlines() if one.startswith("busy  "))
    spent = re.search(r"([0-9.]+) cpu s  ok", line)
    assert spent is not None and float(spent[1]) >= 0.3


def test_processes_of_the_tests_keep_what_python_compiles(
    dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    (tmp_path / "imported.py").touch()
    dev.keep_bytecode()
    command = [sys.executable, "-c", "import imported"]
    with open(tmp_path / "log", "wb") as out:
        assert dev.run(command, out, PYTHONPATH=str(tmp_path)) == 0
    assert list((tmp_path / "__pycache__").iterdir()) != []


def test_users_get_a_release_and_tests_what_is_there(
    dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []
    monkeypatch.setattr(dev, "EXTENSION_STAMP", tmp_path / "extension.stamp")
    monkeypatch.setattr(dev, "ensure_uv", lambda out: None)
    monkeypatch.setattr(dev, "ensure_cargo", lambda: None)
    monkeypatch.setattr(dev, "run", lambda command, *_: built.append(command[2]) or 0)
    for ensure in (
        dev.ensure_extension_of_tests,  # Nothing is there.
        dev.ensure_extension_of_tests,
        dev.ensure_extension,
        dev.ensure_extension,
        dev.ensure_extension_of_tests,
    ):
        ensure(io.BytesIO())
    assert built == ["--profile=dev", "--profile=release"]


def test_sources_that_change_during_a_build_are_built_again(
    dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = iter(["before", "after", "after"])
    built: list[str] = []
    monkeypatch.setattr(dev, "EXTENSION_STAMP", tmp_path / "extension.stamp")
    monkeypatch.setattr(dev, "extension_digest", lambda: next(digests))
    monkeypatch.setattr(dev, "ensure_uv", lambda out: None)
    monkeypatch.setattr(dev, "ensure_cargo", lambda: None)
    monkeypatch.setattr(dev, "run", lambda command, *_: built.append(command[2]) or 0)
    for _ in range(3):
        dev.ensure_extension(io.BytesIO())
    assert built == ["--profile=release"] * 2


@pytest.mark.parametrize(
    ("works", "said"),
    [
        ((), "cargo could not fetch the crates of Cargo.lock; is there a network?"),
        (("cargo",), "the extension module does not build"),
    ],
)
def test_crates_that_do_not_come_are_no_fault_of_the_sources(
    dev: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    works: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.setattr(dev, "EXTENSION_STAMP", tmp_path / "extension.stamp")
    monkeypatch.setattr(dev, "ensure_uv", lambda out: None)
    monkeypatch.setattr(dev, "ensure_cargo", lambda: None)
    monkeypatch.setattr(dev, "run", lambda command, *_: int(command[0] not in works))
    with pytest.raises(dev.DevError, match=re.escape(said)):
        dev.ensure_extension(io.BytesIO())
    assert not dev.EXTENSION_STAMP.exists()


def test_a_failure_stops_only_what_needs_it(dev: ModuleType) -> None:
    ran: list[str] = []

    def part(name: str, code: int, *needs: str):
        def work(out: object) -> int:
            ran.append(name)
            return code

        return dev.Part(name=name, work=work, needs=needs)

    def impossible(out: object) -> int:
        raise dev.DevError("cargo is lacking")

    tracks = [
        [part("build", 7), part("browser", 0, "build"), part("after", 0)],
        [part("lint", 0), dev.Part(name="setup", work=impossible)],
    ]
    results = {p.name: p.result for p in dev.run_tracks(tracks)}
    assert results == {
        "build": "FAILED (7)",
        "browser": "not run: build failed",
        "after": "ok",
        "lint": "ok",
        "setup": "FAILED: cargo is lacking",
    }
    assert sorted(ran) == ["after", "build", "lint"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "no such command: nonsense"),
        (["check", "x"], "takes no arguments"),
        (["bench", "--page", "--jsno"], "takes --json"),
    ],
)
def test_wrong_arguments_exit_2_and_keep_stdout_clean(arguments: list[str], said: str) -> None:
    done = subprocess.run(
        [sys.executable, str(DEV), *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_help_names_every_command(dev: ModuleType) -> None:
    for command in (
        "demo",
        "test",
        "check",
        "bench",
        "soak",
        "abuse",
        "page",
        "wheel",
        "flashtwin",
    ):
        assert f"./dev {command}" in (dev.__doc__ or "")


def test_builders_are_told_of_in_one_line(
    dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    """What the demo says is what somebody who has just cloned reads first."""
    monkeypatch.setattr(dev, "ONE_LINE_AFTER_S", 0.0)
    log = tmp_path / "logs" / "build.log"
    with dev.in_one_line(log) as out:
        for number in range(900):
            dev.tell(out, f"Compiling crate-{number}")
    assert len(capfd.readouterr().err.splitlines()) <= 1
    assert len(log.read_text().splitlines()) == 900
    monkeypatch.setattr(dev, "ONE_LINE_AFTER_S", 60.0)
    with pytest.raises(dev.DevError), dev.in_one_line(log) as out:
        dev.tell(out, "error: it does not build")
        raise dev.DevError("the extension module does not build")
    assert "error: it does not build" in capfd.readouterr().err


def test_a_demo_of_what_is_built_says_nothing_before(
    dev: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    with dev.in_one_line(tmp_path / "logs" / "build.log"):
        pass
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("there", "refused", "installed"),
    [
        ({"fio", "chromium"}, (), []),
        ({"fio"}, (), [["chromium-headless-shell"]]),
        ({"fio"}, ("chromium-headless-shell",), [["chromium"]]),
        (set(), ("chromium-headless-shell",), [["fio", "chromium"]]),
    ],
)
def test_the_whole_chromium_does_where_its_shell_is_not_to_be_had(
    dev: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    there: set[str],
    refused: tuple[str, ...],
    installed: list[list[str]],
) -> None:
    done: list[list[str]] = []

    def install(packages: list[str], out: Any) -> None:
        if set(packages) & set(refused):
            raise dev.DevError("apt could not install")
        done.append(packages)

    monkeypatch.setattr(dev, "apt_install", install)
    monkeypatch.setattr(dev.shutil, "which", lambda name: name if name in there else None)
    dev.ensure_programs(sys.stderr.buffer)
    assert done == installed


@pytest.mark.parametrize(
    ("there", "refused", "asked"),
    [
        ({"cargo", "cc", "rustup"}, (), [["rustup", "clippy"]]),
        ({"cargo", "cc"}, (), [["rust-web-clippy"]]),
        ({"cargo", "cc"}, ("rust-web-clippy",), [["rust-web-clippy"], ["rust-clippy"]]),
    ],
)
def test_a_linter_that_the_system_has_apart_is_fetched(
    dev: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    there: set[str],
    refused: tuple[str, ...],
    asked: list[list[str]],
) -> None:
    """Debian has Rust's formatter and linter in packages of their own."""
    done: list[list[str]] = []

    def install(packages: list[str], out: Any) -> None:
        done.append(packages)
        if set(packages) & set(refused):
            raise dev.DevError("apt could not install")

    (tmp_path / "rustfmt").touch()
    monkeypatch.setattr(dev, "rust_folder", lambda: tmp_path)
    monkeypatch.setattr(dev, "apt_install", install)
    monkeypatch.setattr(
        dev, "run", lambda command, out: done.append([command[0], command[-1]]) or 0
    )
    monkeypatch.setattr(dev.shutil, "which", lambda name: name if name in there else None)
    dev.ensure_rust_tools(sys.stderr.buffer)
    assert done == asked


def test_the_core_of_pages_says_what_it_takes(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev, "WASM", "wasm32-of-nobody")
    monkeypatch.setattr(dev.shutil, "which", lambda name: None)
    with pytest.raises(dev.DevError, match="rustup target add wasm32-of-nobody"):
        dev.compiler_of_wasm(io.BytesIO())


@pytest.mark.parametrize("there", [{"apt-get", "dpkg-deb"}, {"apt-get", "dpkg-deb", "rustup"}])
def test_where_rustup_does_not_answer_debian_has_a_compiler(
    dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: set[str]
) -> None:
    asked: list[list[str]] = []

    def run(command: list[object], out: object, **variables: str) -> int:
        asked.append([str(word) for word in command])
        return int("rustup" in asked[-1])

    monkeypatch.setattr(dev, "WASM", "wasm32-of-nobody")
    monkeypatch.setattr(dev, "TOOLS", tmp_path)
    monkeypatch.setattr(dev, "run", run)
    monkeypatch.setattr(dev.shutil, "which", lambda name: name if name in there else None)
    words, variables = dev.compiler_of_wasm(io.BytesIO())
    assert ["rustup" in command for command in asked] == [True, False]["rustup" not in there :]
    assert asked[-1][-2:] == [str(dev.RUST_WEB), str(tmp_path / "rust-web")]
    assert words == ["-Zbuild-std=std,panic_abort"]
    assert variables["RUSTC"] == str(tmp_path / "rust-web" / "rustc")
    assert variables["PATH"].startswith(str(tmp_path / "rust-web" / "bin"))
