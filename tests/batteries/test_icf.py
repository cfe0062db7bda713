"""Iometer's configuration files: read, refused by line, written, and read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from flashtwin.batteries.base import registry
from flashtwin.batteries.iometer import Parameters
from flashtwin.batteries.iometer.icf import parse, text_of
from flashtwin.cli.app import app
from flashtwin.errors import FlashtwinError

# As Iometer saves one: blanks behind the version, headings of columns, sections that say nothing
# of the loads, two workers' worth of targets.
FILE = """Version 2006.07.27
'TEST SETUP ====================================================================
'Test Description
\tfile server
'Run Time
'\thours      minutes    seconds
\t0          1          30
'Ramp Up Time (s)
\t5
'Default Disk Workers to Spawn
\tNUMBER_OF_CPUS
'Record Results
\tALL
'Worker Cycling
'\tstart      step       step type
\t1          1          LINEAR
'Queue Depth Cycling
'\tstart      end        step       step type
\t1          32         2          EXPONENTIAL
'Test Type
\tNORMAL
'END test setup
'RESULTS DISPLAY ===============================================================
'Bar chart 1 statistic
\tTotal I/Os per Second
'END results display
'ACCESS SPECIFICATIONS =========================================================
'Access specification name,default assignment
\t4K, 67% read,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t4096,100,67,100,0,1,4096,0
'Access specification name,default assignment
\tstream,ALL
'size,% of size,% reads,% random,delay,burst,align,reply
\t131072,100,0,0,0,1,0,0
'Access specification name,default assignment
\tnobody's,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t512,100,100,0,0,1,0,0
'END access specifications
'MANAGER LIST ==================================================================
'Manager ID, manager name
\t1,HOST
'Worker
\tWorker 1
'Number of outstanding IOs,test connection rate,transactions per connection
\t16,DISABLED,1
'Disk maximum size,starting sector
\t2097152,0
'Assigned access specs
\t4K, 67% read
\tstream
'End assigned access specs
'END manager list
"""


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(FILE.splitlines(), 1) if text in line)


def test_a_file_is_a_battery() -> None:
    setup = parse(FILE, "x.icf")
    assert setup.battery == (
        "iometer:access=4k-67r-100x+128k-0r-0x,depths=16,seconds=90s,size=1GiB"
    )
    assert setup.notes == ["the ramp of 5 s before each load is left out"]
    (request,) = registry.parse(setup.battery)
    assert request.plain()["size"] == 2097152 * 512


def test_depths_are_cycled_where_the_test_type_says_so() -> None:
    text = FILE.replace("\tNORMAL", "\tCYCLE_OUTSTANDING_IOS")
    assert "depths=1+2+4+8+16+32," in parse(text, "x.icf").battery
    linear = text.replace("1          32         2          EXPONENTIAL", "2 8 3 LINEAR")
    assert "depths=2+5+8," in parse(linear, "x.icf").battery


def test_without_an_assignment_all_specifications_are_taken() -> None:
    text = FILE.partition("'MANAGER LIST")[0]
    assert parse(text, "x").battery == (
        "iometer:access=4k-67r-100x+128k-0r-0x+512-100r-0x,seconds=90s"
    )


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("Version 2006.07.27", "Version 3.0", "no version of an Iometer"),
        ("Version 2006.07.27", "[global]", "no version of an Iometer"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,100,67,100,0,1,4096,512", "reply of 512"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,100,67,100,10,1,4096,0", "delay of 10"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,100,67,100,0,8,4096,0", "burst of 8"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,100,67,50,0,1,4096,0", "% random of 50"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,60,67,100,0,1,4096,0", "% of size of 60"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,100,67,100,0,1,65536,0", "align of 65536"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,100,67", "8 whole numbers"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4000,100,67,100,0,1,0,0", "4000 bytes"),
        ("\tNORMAL", "\tCYCLE_TARGETS", "test type CYCLE_TARGETS"),
        ("\t2097152,0", "\t2097152,2048", "begins at sector 2048"),
        ("\t16,DISABLED,1", "\t0,DISABLED,1", "0 outstanding I/Os"),
        ("\t0          1          30", "\tsoon", "3 whole numbers"),
        (
            "\t1          32         2          EXPONENTIAL",
            "\t1 32 1 EXPONENTIAL",
            "cannot go from 1 to 32 by 1",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_refused_by_line(old: str, new: str, why: str) -> None:
    with pytest.raises(FlashtwinError) as refused:
        parse(FILE.replace(old, new), "x.icf")
    assert why in refused.value.message
    assert refused.value.message.startswith(f"x.icf:{line_of(old)}: ")
    assert refused.value.hint and refused.value.exit_code == 2


def test_two_rows_of_one_specification_are_refused() -> None:
    row = "\t4096,100,67,100,0,1,4096,0\n"
    with pytest.raises(FlashtwinError, match="has several rows"):
        parse(FILE.replace(row, row + row), "x.icf")


@pytest.mark.parametrize("text", ["", "Version 1.1.0\n", "Version 1.1.0\n'Assigned access specs\n"])
def test_a_file_without_loads_is_refused(text: str) -> None:
    with pytest.raises(FlashtwinError):
        parse(text, "x.icf")


@pytest.mark.parametrize("preset", ["", ":preset=545s", ":depths=4", ":depths=2+5+8,seconds=1h"])
def test_what_is_written_is_read_back(preset: str) -> None:
    (request,) = registry.parse(f"iometer{preset}")
    assert isinstance(request.parameters, Parameters)
    (back,) = registry.parse(parse(text_of(request.parameters), "x.icf").battery)
    for name in ("access", "depths", "seconds"):
        assert back.plain()[name] == request.plain()[name]


def test_depths_without_a_step_cannot_be_written() -> None:
    (request,) = registry.parse("iometer:depths=1+4+32")
    with pytest.raises(FlashtwinError, match="cannot cycle"):
        text_of(request.parameters)


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["icf", *words])


def test_the_command_reads_and_writes(tmp_path: Path) -> None:
    source, out = tmp_path / "in.icf", tmp_path / "out.icf"
    source.write_text(FILE)
    done = run(str(source))
    assert done.exit_code == 0 and done.stdout.startswith("--battery iometer:access=4k-67r-100x+")
    assert "the ramp of 5 s" in done.stderr
    told = json.loads(run(str(source), "--json").stdout)
    done = run("--battery", told["battery"], "--out", str(out), "--json")
    assert json.loads(done.stdout)["written"] == str(out)
    assert "access=4k-67r-100x+128k-0r-0x,depths=16," in run(str(out)).stdout
    assert run().exit_code == 2
    assert run(str(source), "--out", "x").exit_code == 2
    assert run("--battery", "fill", "--out", str(out)).exit_code == 2
    assert run(str(tmp_path / "nothing.icf")).exit_code == 2
