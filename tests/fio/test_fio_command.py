"""`flashtwin fio` as a program: twins, paths, conversion, messages and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from flashtwin.cli.app import app

Run = Callable[..., Result]
TWIN = ("--on", "bx500-240", "--scale", "1/64", "-q")
JOB = "[global]\nioengine=libaio\nsize=8m\n[a]\nrw=randread\niodepth=8\n[b]\nstonewall\nrw=write\n"


@pytest.fixture
def run() -> Run:
    return lambda *words: CliRunner().invoke(app, list(words), prog_name="flashtwin")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.fio").write_text(JOB)
    return tmp_path


def jobs_of(done: Result) -> list[dict[str, object]]:
    assert done.exit_code == 0, done.output
    found: list[dict[str, object]] = json.loads(done.stdout)["jobs"]
    return found


def test_a_job_file_on_a_twin(run: Run, folder: Path) -> None:
    first, second = jobs_of(run("fio", "job.fio", *TWIN, "--output-format=json"))
    assert first["read"]["total_ios"] == second["write"]["total_ios"] == 2048  # type: ignore[index]
    assert (first["groupid"], second["groupid"]) == (0, 1)


def test_a_command_line_on_a_twin(run: Run, folder: Path) -> None:
    words = ("-ioengine=libaio", "--name", "a", "-rw=write", "-thread", "--bs=64k", "--size=1m")
    done = run("fio", *words, *TWIN, "--output-format=json")
    assert jobs_of(done)[0]["write"]["total_ios"] == 16  # type: ignore[index]


def test_the_same_seed_gives_the_same_answer(run: Run, folder: Path) -> None:
    words = ("--name=a", "--rw=randrw", "--size=8m", "--norandommap")
    answers = [
        run("fio", *words, *TWIN, "--output-format=json+", "--seed", seed).stdout
        for seed in ("1", "1", "2")
    ]
    assert answers[0] == answers[1] != answers[2]


def test_the_answer_goes_to_a_file(run: Run, folder: Path) -> None:
    done = run("fio", "job.fio", *TWIN, "--output-format=json", "--output=answer.json")
    assert done.exit_code == 0 and not done.stdout
    assert len(json.loads((folder / "answer.json").read_text())["jobs"]) == 2


def test_notes_are_told_beside_the_answer(run: Run, folder: Path) -> None:
    (folder / "job.fio").write_text("[a]\nsize=1m\niodepth=4\nverify=md5\n")
    done = run("fio", "job.fio", *TWIN[:-1], "--output-format=json")
    assert "note: job.fio:3: ioengine=psync keeps one request" in done.stderr
    assert "note: job.fio:4: verify: " in done.stderr
    assert json.loads(done.stdout)["jobs"]


BAD = [
    ("[a]\nidepth=4\n", 2, "job.fio:2: fio has no option idepth", "did you mean iodepth?"),
    ("[a]\nrw=read\n", 2, "job.fio:1: job a has no size", "filename=bx500-240"),
    ("[a]\nsize=300g\n", 2, "job.fio:2: job a wants 322122547200 bytes", "lower size"),
    (
        "[a]\ninclude job.fio\n",
        2,
        "job.fio:2: the includes go round in a circle: job.fio:2 -> job.fio",
        "leave one",
    ),
    ("[a]\nsize=1m\nbs=1000\nrw=trim\n", 2, "job.fio:3: job a trims pieces of 1000 bytes", "512"),
    ("[a]\nioengine=net\n", 2, "job.fio:2: ioengine=net works on a network", "libaio"),
    ("[a]\nzonemode=zbd\n", 2, "job.fio:2: zonemode is refused", "leave out"),
    ("", 2, "there is no job in job.fio", "[name]"),
]


@pytest.mark.parametrize(("text", "code", "message", "hint"), BAD)
def test_mistakes(run: Run, folder: Path, text: str, code: int, message: str, hint: str) -> None:
    (folder / "job.fio").write_text(text)
    done = run("fio", "job.fio", *TWIN)
    assert done.exit_code == code and not done.stdout
    assert f"error: {message}" in done.stderr and hint in done.stderr.partition("hint: ")[2]


WRONG = [
    (("nothing.fio", *TWIN), 2, "no such file"),
    (("job.fio",), 2, "no target"),
    (("job.fio", "--on", "bx500-24"), 2, "did you mean bx500-240"),
    (("job.fio", *TWIN, "--output-format=yaml"), 2, "none of"),
    (("job.fio", *TWIN, "--readonly"), 2, "--readonly"),
    (("job.fio", *TWIN, "--section=c"), 2, "no section c"),
    (("job.fio", *TWIN, "--status-interval=soon"), 2, "status-interval"),
    (("job.fio", *TWIN, "--client=x"), 2, "client"),
    (("job.fio", *TWIN, "--output=no/where"), 3, "cannot write"),
    (("job.fio", "--on", "/dev/null"), 4, "character device"),
    (("job.fio", "--on", "job.fio"), 4, "there already"),
    (("job.fio", "--convert", "."), 2, "takes a run"),
    (("--convert", "."), 2, "not a run"),
]


@pytest.mark.parametrize(("words", "code", "message"), WRONG)
def test_wrong_words(
    run: Run, folder: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    done = run("fio", *words)
    assert done.exit_code == code, done.output
    assert message in done.stderr and "Traceback" not in done.stderr


def test_only_reading_the_jobs(run: Run, folder: Path) -> None:
    assert run("fio", "job.fio", "--parse-only").exit_code == 0
    (folder / "job.fio").write_text("[a]\nsize=300g\n")
    assert run("fio", "job.fio", "--parse-only").exit_code == 0
    assert run("fio", "job.fio", "--parse-only", *TWIN).exit_code == 2


def test_a_path_is_for_fio_itself(run: Run, folder: Path) -> None:
    (folder / "job.fio").write_text(
        "[global]\nioengine=psync\nsize=1m\nexec_prerun=touch BAD\nwrite_bw_log=rates\n"
        "[a]\nrw=randwrite\nnumjobs=2\n[b]\nstonewall\nfilename=/dev/nothing\nrw=read\n"
    )
    done = run("fio", "job.fio", "--on", "probe.bin", "--output-format=json", "--output=o.json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads((folder / "o.json").read_text())
    ios = [job["read"]["total_ios"] + job["write"]["total_ios"] for job in answer["jobs"]]
    assert ios == [256, 256, 256]
    left = {path.name for path in folder.iterdir()}
    assert left == {"job.fio", "o.json", *(f"rates_bw.{n}.log" for n in (1, 2, 3))}


def test_of_a_path_only_what_holds_there_is_told(run: Run, folder: Path) -> None:
    words = ("--name=a", "--size=64k", "--rw=write", "--verify=md5")
    words += ("--filename=a", "--filename=b")
    twin = run("fio", *words, "--on", "bx500-240", "--parse-only").stderr
    path = run("fio", *words, "--on", "./probe.bin", "--parse-only").stderr
    assert "a twin holds no data" in twin and "filename adds" in twin
    assert "twin" not in path and "filename adds" in path


def test_a_path_needs_sizes_and_engines_of_files(run: Run, folder: Path) -> None:
    for text, word in (
        ("[a]\nfilename=/dev/sda\n", "takes its size from its target"),
        ("[a]\nsize=50%\n", "takes its size from its target"),
        ("[a]\nsize=1m\nioengine=rbd\npool=x\n", "does not reach a file"),
    ):
        (folder / "job.fio").write_text(text)
        done = run("fio", "job.fio", "--on", "probe.bin")
        assert done.exit_code == 2 and word in done.stderr
        assert not (folder / "probe.bin").exists()


def test_a_drive_among_the_job_files_is_told_where_it_goes() -> None:
    done = CliRunner().invoke(app, ["fio", "bx500-240", "file.fio"])
    assert done.exit_code == 2
    assert "bx500-240 is a drive and no job file" in done.stderr
    assert "hint: write flashtwin fio JOBFILE --on bx500-240" in done.stderr
