"""fio's own names and words: what its JSON calls global, its engines, its command line, and values
that it refuses or reads otherwise than they look. Held against fio where it is installed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from flashtwin.cli.app import app
from flashtwin.errors import FlashtwinError
from flashtwin.fio.language.lines import read_text
from flashtwin.fio.language.script import Script, script, typed
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import plan

HAS_FIO = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
FILES = {
    "many.fio": "[global]\nioengine=null\nsize=4m\niodepth=4\n[a]\nrw=randread\nbs=4k\niodepth=8\n"
    "[global]\nbs=8k\niodepth=2\nthread\n[b]\nrw=read\nnumjobs=2\n",
    "none.fio": "[a]\nioengine=null\nsize=4m\nfilename=x\nfilename=y\nrw=read\ndescription=of it\n",
    "other.fio": "[global]\nioengine=null\nbs=1k\n[q]\nsize=1m\n",
    "late.fio": "[a]\nioengine=null\nsize=1m\n[global]\nbs=2k\nname=zz\ngroup_reporting=1\n"
    "write_bw_log\nfilename=f\ndirectory=/tmp\nkb_base=1000\n",
    "alias.fio": "[a]\nioengine=null\nsize=1m\nreadwrite=read\nblocksize=8k\niodepth_batch=1\n"
    "kb_base=1000\nnorandommap\ndirectory=/tmp\nfilename=z\n",
}
WORDS = [
    *([name] for name in FILES),
    ["many.fio", "other.fio"],
    ["--iodepth=9", "none.fio", "other.fio"],
    ["--bs=16k", "--name=z", "--ioengine=null", "--size=1m", "many.fio"],
    ["--section=b", "many.fio"],
    ["--ioengine=null", "--size=4m", "--name=a", "--rw=read", "--name=b", "--bs=8k"],
    ["--name=a", "--ioengine=null", "--size=4m", "--rw=read"],
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    return tmp_path


def ours(words: list[str]) -> dict[str, Any]:
    told = [*words, "--output-format=json", "--on", "bx500-240", "--scale", "1/64"]
    done = CliRunner().invoke(app, ["fio", *told])
    assert done.exit_code == 0, done.output
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def told(answer: dict[str, Any]) -> tuple[dict[str, str], list[tuple[str, dict[str, str]]]]:
    """What holds for all jobs, and what each says. fio itself is given a clock by the tests."""
    jobs = [(job["jobname"], dict(job["job options"])) for job in answer["jobs"]]
    common = dict(answer.get("global options", {}))
    common.pop("clocksource", None)
    return common, jobs


@HAS_FIO
@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_the_options_of_all_jobs_and_of_each(words: list[str]) -> None:
    done = subprocess.run(["fio", "--output-format=json", *words], capture_output=True, text=True)
    answer = json.loads(done.stdout)
    assert told(ours(words)) == told(answer)


def test_what_is_global_is_said_once() -> None:
    common, jobs = told(ours(["many.fio"]))
    assert common == {"ioengine": "null", "size": "4m", "iodepth": "2", "bs": "8k"}
    assert "global options" not in ours(["none.fio"])
    assert jobs[0] == ("a", {"rw": "randread", "bs": "4k", "iodepth": "8"})


def test_nothing_that_is_global_holds_for_a_second_file() -> None:
    jobs = script(["--iodepth=9", "many.fio", "other.fio"]).jobs
    assert [job["iodepth"] for job in jobs] == [8, 2, 1]
    assert [job["bs"][0] for job in jobs] == [4096, 8192, 1024]


def read(text: str, **environment: str) -> Script:
    return typed(read_text(f"[a]\nsize=1m\n{text}\n"), environment=environment)


@pytest.mark.parametrize("written", ["linuxaio", "aio", "linuxaio2", "aio-of-mine", "libaio"])
def test_linux_s_engine_has_three_names(written: str) -> None:
    (job,) = read(f"ioengine={written}\niodepth=8").jobs
    (process,) = plan([job], Target(name="a", bytes=1 << 30)).processes
    assert job["ioengine"] == "libaio" and process.job.depth == 8


def test_words_of_fio_s_own() -> None:
    for word in ("--version", "-v", "-version"):
        assert CliRunner().invoke(app, ["fio", word]).stdout == "fio-3.33\n"
    words = ["--name=a", "--rw=read", "--size=1m", "--on", "bx500-240", "--scale", "1/64"]
    done = CliRunner().invoke(app, ["fio", *words, "--append-terse", "--aux-path=x"])
    assert done.exit_code == 0 and "--aux-path does nothing here" in done.stderr
    assert "\n3;fio-3.33;a;" in done.stdout and "Run status group 0" in done.stdout


@pytest.mark.parametrize(
    "line", ["bs=${X}", "filename=${X}", "description=${X}", "directory=${X}${Y}", "rw=${X}"]
)
def test_what_is_nothing_without_its_variable_is_refused(line: str) -> None:
    for environment in ({}, {"X": ""}):
        with pytest.raises(FlashtwinError, match=r"text:3: \$\{X\} is (not set|empty)"):
            read(line, **environment)
    # A part of a value may be empty, as in fio, and is told.
    (note,) = read("filename=f${X}").notes
    assert "X is not set" in note.text


@pytest.mark.parametrize("name", ["filename", "description", "directory", "bs", "ioengine"])
def test_an_empty_value_is_refused_as_by_fio(name: str) -> None:
    with pytest.raises(FlashtwinError, match=f"text:3: {name}: an empty value"):
        read(f"{name}=")
    assert read("write_bw_log=").jobs and read("bssplit=").jobs


@pytest.mark.parametrize(
    ("split", "shares", "noted"),
    [
        ("4k/60:12k-16k/30:64k/10", ((4096, 60), (12288, 30), (65536, 10)), "12k-16k as 12k"),
        ("4k/5.:8k/95", ((4096, 5), (8192, 95)), None),
        ("4k/60.7:8k/40", ((4096, 60), (8192, 40)), "60 percent"),
        ("4k/0:8k/60", ((4096, 40), (8192, 60)), None),
        ("4k/200", ((4096, 100),), "100 percent"),
    ],
)
def test_splits_are_read_as_fio_reads_them(
    split: str, shares: tuple[tuple[int, int], ...], noted: str | None
) -> None:
    result = read(f"bssplit={split}")
    assert result.jobs[0]["bssplit"][0] == shares
    assert [noted in note.text for note in result.notes] == ([True] if noted else [])


@pytest.mark.parametrize("line", ["size=4z", "offset=8Z", "io_size=2z", "offset_increment=1z"])
def test_sizes_in_zones_say_why(line: str) -> None:
    with pytest.raises(FlashtwinError, match="counts zones, and drives with zones are not"):
        read(line)


@pytest.mark.parametrize(
    ("options", "line"),
    [("size=1%\nbs=256m", 2), ("bs=1g\nsize=1%\noffset=10%", 3)],
)
def test_a_block_above_a_percentage_is_told(options: str, line: int) -> None:
    text = f"[a]\n{options}\nfilename=/dev/sda\n"
    jobs = typed(read_text(text), environment={}).jobs
    with pytest.raises(FlashtwinError, match=rf"text:{line}: 1% of /dev/sda is \d+ bytes at most"):
        plan(jobs, Target(name="a", bytes=15 * 10**9))
