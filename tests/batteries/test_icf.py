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
        "iometer:access=4k-67r-100x+128k-0r-0x+512-100r-0x,depths=1,seconds=90s"
    )


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("Version 2006.07.27", "Version 3.0", "no version of an Iometer"),
        ("Version 2006.07.27", "[global]", "no version of an Iometer"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,100,67,100,0,1,4096,512", "reply of 512"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,100,67,100,10,1,4096,0", "delay of 10"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,100,67,100,0,8,4096,0", "burst of 8"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,60,67,100,0,1,4096,0", "make 60 %"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,100,67,50,0,1,65536,0", "align of 65536"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,100,167,50,0,1,0,0", "% reads of 167"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4096,100,67", "8 whole numbers"),
        ("\t4096,100,67,100,0,1,4096,0", "\t4000,100,67,100,0,1,0,0", "4000 bytes"),
        ("\tNORMAL", "\tCYCLE_TARGETS", "test type CYCLE_TARGETS"),
        ("\t2097152,0", "\t0,2048", "begins at sector 2048 and has no size"),
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
    text = FILE.replace(old, new)
    if "EXPONENTIAL" in old:
        text = text.replace("\tNORMAL", "\tCYCLE_OUTSTANDING_IOS")
    with pytest.raises(FlashtwinError) as refused:
        parse(text, "x.icf")
    assert why in refused.value.message
    assert refused.value.message.startswith(f"x.icf:{line_of(old)}: ")
    assert refused.value.hint and refused.value.exit_code == 2


SETUP = "Version {version} \n'TEST SETUP ====\n'Run Time\n\t0 1 0\n'Test Type\n\t{type}\n"
SPECS = {
    "file server": "512,10,80,100,0,1,0,0 1024,5,80,100,0,1,0,0 2048,5,80,100,0,1,0,0"
    " 4096,60,80,100,0,1,0,0 8192,2,80,100,0,1,0,0 16384,4,80,100,0,1,0,0"
    " 32768,4,80,100,0,1,0,0 65536,10,80,100,0,1,0,0",
    "web server": "512,22,100,100,0,1,0,0 1024,15,100,100,0,1,0,0 2048,8,100,100,0,1,0,0"
    " 4096,23,100,100,0,1,0,0 8192,15,100,100,0,1,0,0 16384,2,100,100,0,1,0,0"
    " 32768,6,100,100,0,1,0,0 65536,7,100,100,0,1,0,0 524288,2,100,100,0,1,0,0",
    "workstation": "8192,100,80,80,0,1,0,0",
    "all in one": " ".join(
        f"{size},5,{reads},0,0,1,0,0"
        for size in (512, 4096, 16384, 32768)
        for reads in (100, 75, 50, 25, 0)
    ),
    "stream": "65536,100,100,0,0,1,0,0",
    "log": "65536,40,100,0,0,1,0,0 4096,60,0,100,0,1,0,0",
    "torn": "65536,50,100,0,0,1,0,0 4096,50,100,100,0,1,0,0",
    "thirds": "512,33,67,33,0,1,0,0 4096,67,50,33,0,1,0,0",
    "far": "4096,100,0,100,0,1,65536,0",
}


def worker(
    name: str, *specs: str, depth: str = "4,DISABLED,1", kind: str = "DISK", targets: str = ""
) -> str:
    """A worker as Iometer saves it; targets are separated by semicolons."""
    rows = [f"'Worker\n\t{name}\n'Worker type\n\t{kind}\n'Default target settings for worker"]
    if depth:
        rows.append(
            "'Number of outstanding IOs,test connection rate,transactions per connection,use fixed"
            f" seed,fixed seed value\n\t{depth}"
        )
    rows += ["'End default target settings for worker", "'Assigned access specs"]
    rows += [f"\t{spec}" for spec in specs]
    rows += ["'End assigned access specs", "'Target assignments"]
    rows += [
        f"'Target\n\t{name}\n'Target type\n\tDISK\n'End target"
        for name in targets.split(";")
        if name
    ]
    return "\n".join([*rows, "'End target assignments", "'End worker", ""])


def configuration(*parts: str, version: str = "1.1.0", type: str = "NORMAL") -> str:
    """A file with all of `SPECS`, which a part that begins with a worker or a manager assigns."""
    specs = "".join(
        "'Access specification name,default assignment\n"
        f"\t{name},NONE\n'size,% of size,% reads,% random,delay,burst,align,reply\n"
        + "".join(f"\t{row}\n" for row in rows.split())
        for name, rows in SPECS.items()
    )
    return (
        SETUP.format(version=version, type=type)
        + f"'ACCESS SPECIFICATIONS ====\n{specs}'END access specifications\n"
        + "'MANAGER LIST ====\n"
        + "".join(parts)
        + "'END manager list\n"
    )


def jobs_of(text: str, *targets: str) -> tuple[list[dict[str, str]], list[str]]:
    """The jobs of a file, each a table of its options, and the notes."""
    setup = parse(text, "x.icf", targets)
    assert setup.battery is None and setup.jobs is not None
    jobs = []
    for section in setup.jobs.split("\n\n"):
        lines = section.strip().splitlines()
        options = dict(line.partition("=")[::2] for line in lines[1:])
        jobs.append({"name": lines[0].strip("[]"), **options})
    assert jobs[0]["name"] == "global"
    return jobs[1:], setup.notes


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        (
            "file server",
            {
                "rw": "randrw",
                "rwmixread": "80",
                "bssplit": "512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10",
            },
        ),
        (
            "web server",
            {
                "rw": "randread",
                "bssplit": "512/22:1k/15:2k/8:4k/23:8k/15:16k/2:32k/6:64k/7:512k/2",
            },
        ),
        (
            "workstation",
            {"rw": "randrw", "rwmixread": "80", "bs": "8k", "percentage_random": "80,80"},
        ),
        ("all in one", {"rw": "rw", "rwmixread": "50", "bssplit": "512/25:4k/25:16k/25:32k/25"}),
        ("log", {"rw": "randrw", "rwmixread": "40", "bs": "64k,4k", "percentage_random": "0,100"}),
        ("far", {"rw": "randwrite", "bs": "4k", "blockalign": "65536"}),
    ],
)
def test_shares_and_parts_at_random_are_jobs(spec: str, options: dict[str, str]) -> None:
    ((job,), notes) = jobs_of(configuration(worker("Worker 1", spec)))
    name = job.pop("name")
    assert job == {**options, "iodepth": "4", "size": "100%"} and not notes
    assert name == f"worker-1-{spec.replace(' ', '-')}-q4"


def test_shares_that_fio_rounds_are_told() -> None:
    ((job,), notes) = jobs_of(configuration(worker("W", "thirds")))
    assert job["rwmixread"] == "56" and job["bssplit"] == "512/40:4k/60,512/25:4k/75"
    assert "thirds: the share of a size is rounded to whole percents" in notes


def test_an_order_that_depends_on_the_size_is_refused() -> None:
    text = configuration(worker("W", "torn"))
    line = text.splitlines().index("\t4096,50,100,100,0,1,0,0") + 1
    with pytest.raises(FlashtwinError, match=f"^x.icf:{line}: 'torn' has .* cannot have both"):
        parse(text, "x.icf")


def test_workers_run_at_once_and_specifications_one_after_another() -> None:
    text = configuration(
        worker("Worker 1", "stream", "workstation", depth="1,DISABLED,1"),
        worker("Worker 2", "Idle", "log", "file server", depth="16,DISABLED,1"),
    )
    jobs, notes = jobs_of(text)
    told = [(job["name"], "stonewall" in job, job["iodepth"]) for job in jobs]
    assert told == [
        ("worker-1-stream-q1", False, "1"),
        ("worker-1-workstation-q1", True, "1"),
        ("worker-2-log-q16", False, "16"),
        ("worker-2-file-server-q16", True, "16"),
    ]
    assert not notes


def test_a_specification_that_is_not_there_is_refused_by_line() -> None:
    text = configuration(worker("W", "stream", "nowhere"))
    line = text.splitlines().index("\tnowhere") + 1
    with pytest.raises(FlashtwinError, match=f"^x.icf:{line}: .*'nowhere' is not there"):
        parse(text, "x.icf")


def test_workers_cycle_through_depths_together() -> None:
    text = configuration(worker("A", "stream"), worker("B", "stream"), type="CYCLE_OUTSTANDING_IOS")
    text = text.replace(
        "'Test Type", "'Queue Depth Cycling\n'\tstart end\n\t1 4 2 LINEAR\n'Test Type"
    )
    jobs, _ = jobs_of(text)
    told = [(job["name"], "stonewall" in job) for job in jobs]
    assert told == [
        ("a-stream-q1", False),
        ("b-stream-q1", False),
        ("a-stream-q3", True),
        ("b-stream-q3", False),
    ]


def test_no_depth_is_one_and_network_workers_are_left_out() -> None:
    text = configuration(
        worker("Worker 1", "stream", depth=""),
        worker("Worker 2", "torn", kind="NETWORK,TCP"),
        worker("Worker 3", "torn", kind="NETWORK,VI"),
    )
    setup = parse(text, "x.icf")
    assert setup.battery == "iometer:access=64k-100r-0x,depths=1,seconds=1m"
    assert setup.notes == [
        "Worker 2 is a network worker (TCP) and is left out",
        "Worker 3 is a network worker (VI) and is left out",
    ]
    with pytest.raises(FlashtwinError, match="no worker of a disk"):
        parse(configuration(worker("W", "stream", kind="NETWORK,TCP")), "x.icf")


def managers(*workers: str) -> str:
    """Each worker with a manager of its own."""
    parts = (
        f"'Manager ID, manager name\n\t{number},HOST{number}\n'Manager network address\n\t\n{text}"
        "'End manager\n"
        for number, text in enumerate(workers, 1)
    )
    return configuration(*parts)


def test_several_targets_are_refused_until_one_is_named() -> None:
    text = configuration(
        worker("A", "stream", targets='C: "";D: ""'), worker("B", "log", targets='C: ""')
    )
    line = text.splitlines().index('\tD: ""') + 1
    with pytest.raises(
        FlashtwinError, match=f'^x.icf:{line}: the file has 2 targets.*C: ""; D: ""'
    ):
        parse(text, "x.icf")
    assert (
        parse(text, "x.icf", ('D: ""',)).battery == "iometer:access=64k-100r-0x,depths=4,seconds=1m"
    )
    jobs, _ = jobs_of(text, 'C: ""')
    assert [job["name"] for job in jobs] == ["a-stream-q4", "b-log-q4"]
    # Both stand for the drive: the worker keeps its outstanding I/Os on each of them.
    jobs, _ = jobs_of(text, 'C: ""', 'D: ""')
    assert [job["name"] for job in jobs] == ["a-stream-q4", "a-stream-q4-2", "b-log-q4"]
    with pytest.raises(FlashtwinError, match="'E:' is not there"):
        parse(text, "x.icf", ("E:",))


def test_disks_of_several_managers_are_several_disks() -> None:
    text = managers(worker("A", "stream", targets="C:"), worker("B", "log", targets="C:"))
    with pytest.raises(FlashtwinError, match="HOST1: C:; HOST2: C:"):
        parse(text, "x.icf")
    ((job,), _) = jobs_of(text, "HOST2: C:")
    assert job["name"] == "host2-b-log-q4"
    with pytest.raises(FlashtwinError, match="HOST1; HOST2"):
        parse(managers(worker("A", "stream"), worker("B", "log")), "x.icf")


@pytest.mark.parametrize(
    "version", ["1998.10.08", "1999.10.20", "2004.07.30", "2006.07.27", "1.1.0-rc1"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_versions_and_ends_of_lines(version: str, end: str) -> None:
    text = configuration(worker("W", "stream"), version=version).replace("\n", end)
    for start in ("", "\ufeff"):
        setup = parse(start + text, "x.icf")
        assert setup.battery == "iometer:access=64k-100r-0x,depths=4,seconds=1m"


def test_old_specifications_have_no_names() -> None:
    text = (
        "Version 1998.05.01 \n'ACCESS SPECIFICATIONS ====\n"
        "'size,% of size,% reads,% random,delay,burst\n"
        "2048 60 67 100 0 1\n4096 40 67 100 0 1\n65536 100 100 0 0 1\n'MANAGER LIST\n"
    )
    jobs, notes = jobs_of(text)
    assert [(job["rw"], job.get("bssplit", job.get("bs"))) for job in jobs] == [
        ("randrw", "2k/60:4k/40"),
        ("read", "64k"),
    ]
    assert notes == [
        "there is no worker: each specification is run by one",
    ]


def test_workers_without_a_list_run_what_is_assigned_by_default() -> None:
    text = configuration(worker("W")).replace("log,NONE", "log,DISK")
    with pytest.raises(FlashtwinError, match="no worker of a disk"):
        parse(text, "x.icf")
    without = text.replace("'Assigned access specs\n'End assigned access specs\n", "")
    ((job,), notes) = jobs_of(without)
    assert job["name"] == "w-log-q4"
    assert notes == ["W runs the specifications that are assigned by default"]


def test_the_jobs_run(tmp_path: Path) -> None:
    source = tmp_path / "in.icf"
    source.write_text(
        configuration(
            *(worker(f"W{place}", name) for place, name in enumerate(SPECS) if name != "torn")
        )
    )
    done = run(str(source))
    assert done.exit_code == 0 and "flashtwin fio JOBFILE" in done.stderr
    told = json.loads(run(str(source), "--json").stdout)
    assert told["battery"] is None and told["jobs"].rstrip() == done.stdout.rstrip()
    jobs = tmp_path / "jobs.fio"
    jobs.write_text(done.stdout.replace("runtime=60", "runtime=10ms"))
    words = ["fio", str(jobs), "--on", "bx500-240", "--scale", "1/64", "--output-format=json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.stdout)["jobs"]) == len(SPECS) - 1


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


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_refused_by_its_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.icf"
    path.write_text(FILE, encoding=encoding)
    refused = run(str(path))
    assert refused.exit_code == 2
    assert "x.icf is UTF-16" in refused.output and "hint: save it as" in refused.output
