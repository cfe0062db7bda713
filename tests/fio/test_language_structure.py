"""Files, sections, inheritance, includes, environment and the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashtwin.fio.language.errors import JobFileError
from flashtwin.fio.language.lines import read, read_text
from flashtwin.fio.language.script import Script, script, typed


def told(folder: Path, **files: str) -> Script:
    """The first file's jobs; each file is `name` + .fio."""
    for name, text in files.items():
        (folder / f"{name}.fio").write_text(text)
    return script([str(folder / f"{next(iter(files))}.fio")], environment={"DEPTH": "8"})


def test_globals_change_what_comes_after_them(tmp_path: Path) -> None:
    jobs = told(
        tmp_path,
        job="[a]\n[global]\nbs=8k\niodepth=4\n[b]\nbs=1k,\n[global]\nbs=16k,\nrw=write\n[c]\n",
    ).jobs
    assert [job.by_direction("bs") for job in jobs] == [
        (4096, 4096, 4096),
        (1024, 8192, 8192),
        (16384, 8192, 8192),
    ]
    assert [job["iodepth"] for job in jobs] == [1, 4, 4]
    assert [job["rw"].rw for job in jobs] == ["read", "read", "write"]
    assert str(jobs[1].line("iodepth")) == f"{tmp_path}/job.fio:4"
    assert str(jobs[1].line("bs")) == f"{tmp_path}/job.fio:6"


def test_kb_base_counts_before_its_line(tmp_path: Path) -> None:
    jobs = told(tmp_path, job="[a]\nbs=4k\nkb_base=1000\n[b]\nbs=4k\n").jobs
    assert [job.by_direction("bs")[0] for job in jobs] == [4000, 4096]


def test_includes_stand_beside_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "two.fio").write_text("; more\niodepth=${DEPTH}\ninclude three.fio\n")
    (tmp_path / "sub" / "three.fio").write_text("rw=randread")
    found = told(tmp_path, job="[a]\nbs=8k\ninclude sub/two.fio\nsize=1g\n")
    (job,) = found.jobs
    assert (job["iodepth"], job["rw"].rw, job["size"]) == (8, "randread", 1 << 30)
    assert str(job.line("rw")) == (
        f"{tmp_path}/sub/three.fio:1 (included from {tmp_path}/sub/two.fio:3, {tmp_path}/job.fio:3)"
    )


BAD = [
    ({"job": "[a]\ninclude b.fio\n", "b": "include c.fio\n", "c": "\ninclude b.fio\n"}, "circle"),
    ({"job": "[a]\ninclude job.fio\n"}, "circle"),
    ({"job": "[a]\ninclude b.fio\n", "b": "[b]\n"}, "section"),
    ({"job": "[a]\ninclude nothing.fio\n"}, "nothing.fio to include"),
    ({"job": "[a\nbs=4k\n"}, "not a section"),
    ({"job": "bs=4k\n"}, "before any section"),
    ({"job": "[a]\nidepth=4\n"}, "did you mean iodepth?"),
    ({"job": "[a]\nIODEPTH=4\n"}, "small letters"),
    ({"job": "[a]\nbs: 4k\n"}, "equals sign"),
    ({"job": "[a]\nioengine=libiao\n"}, "did you mean libaio?"),
    ({"job": "[a]\ncpuload=5\nioengine=cpuio\n"}, "job.fio:3: ioengine=cpuio works on"),
    ({"job": "[a]\nhipri\n"}, "ioengine=io_uring"),
    ({"job": "[a]\nrw=randrread\n"}, "did you mean randread?"),
    ({"job": "[global]\nbs=4k\n"}, "no job"),
    ({"job": ""}, "no job"),
]


@pytest.mark.parametrize(("files", "word"), BAD)
def test_mistakes_are_told_with_their_place(
    files: dict[str, str], word: str, tmp_path: Path
) -> None:
    from flashtwin.errors import FlashtwinError

    with pytest.raises(FlashtwinError) as found:
        told(tmp_path, **files)
    assert word in f"{found.value.message} {found.value.hint}"
    assert found.value.exit_code == 2 and not found.value.message.endswith(".")
    assert ".fio" in found.value.message


def test_a_circle_is_told_with_its_chain(tmp_path: Path) -> None:
    with pytest.raises(JobFileError) as found:
        told(tmp_path, job="[a]\ninclude b.fio\n", b="\ninclude job.fio\n")
    chain = f"{tmp_path}/job.fio:2 -> {tmp_path}/b.fio:2"
    assert chain in found.value.message and found.value.where.line == 2


def test_variables(tmp_path: Path) -> None:
    found = told(
        tmp_path, job="[a]\niodepth=${DEPTH}\nsize=${NOTHING}4k\nbs=$pagesize\noffset=2*$pagesize\n"
    )
    (job,) = found.jobs
    assert (job["iodepth"], job["size"], job["offset"]) == (8, 4096, 2 * job["bs"][0])
    assert any("NOTHING is not set" in str(note) for note in found.notes)


def test_several_files_wait_for_one_another(tmp_path: Path) -> None:
    (tmp_path / "one.fio").write_text("[global]\nbs=8k\n[a]\n[b]\n")
    (tmp_path / "two.fio").write_text("[global]\nrw=write\n[c]\n[d]\n")
    words = [str(tmp_path / "one.fio"), str(tmp_path / "two.fio")]
    jobs = script(words).jobs
    assert [job["stonewall"] for job in jobs] == [False, False, True, False]
    assert [job.by_direction("bs")[0] for job in jobs] == [8192, 8192, 4096, 4096]


def test_sections_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[global]\nbs=8k\n[a]\n[b]\nrw=write\n")
    (job,) = script([str(path)], only=["b"]).jobs
    assert (job.name, job["bs"][0]) == ("b", 8192)
    with pytest.raises(JobFileError, match="there is no section c"):
        script([str(path)], only=["c"])


COMMANDS = [
    ("--bs=8k --name=a --rw=randread --name=b --bs=4k", [("a", 8192), ("b", 4096)]),
    ("--name a --bs 4k -rw=read --thread --name=b --thread=0", [("a", 4096), ("b", 4096)]),
    ("--bs=1k --name=global --bs=2k --name=a", [("a", 2048)]),
    ("-numjob=2 -name=a -blocksize=8k", [("a", 8192)]),
    ("--eta=never --debug io --name=a", [("a", 4096)]),
]


@pytest.mark.parametrize(("words", "expected"), COMMANDS)
def test_command_lines(words: str, expected: list[tuple[str, int]]) -> None:
    jobs = script(words.split()).jobs
    assert [(job.name, job.by_direction("bs")[0]) for job in jobs] == expected


def test_options_before_a_name_hold_for_files_too(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[b]\nrw=write\n")
    jobs = script(["--bs=8k", "--name=a", str(path)]).jobs
    assert [(job.name, job.by_direction("bs")[0]) for job in jobs] == [("a", 8192), ("b", 8192)]


@pytest.mark.parametrize("word", ["--client=x", "--trigger=x", "--cmdhelp=bs", "--nme=a", "--bs"])
def test_words_that_are_refused(word: str) -> None:
    with pytest.raises(JobFileError) as found:
        script([word])
    assert word.partition("=")[0].lstrip("-") in found.value.message


def test_nothing_is_executed_or_replaced_on_the_command_line() -> None:
    (job,) = script(["--name=a", "--description=${HOME}; $(ls) # x"]).jobs
    assert job["description"] == "${HOME}; $(ls) # x"


def test_what_is_accepted_with_a_note_says_where(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[a]\nverify=md5\nexec_prerun=rm -rf /\nverify_interval=4k\ndirect=1\n")
    notes = [str(note) for note in typed(read(str(path)), environment={}).notes]
    assert [note.partition(": ")[0] for note in notes] == [f"{path}:2", f"{path}:3"]
    assert "never executed" in notes[1]


MARKS = tuple("[]=:,;#\n\r\0()%- \t\u00e9\ud800")
WORDS = (
    *("global", "include ", "bs", "rw=", "randread:", "bssplit=4k/", "size=", "$ncpus", "0x", "1g"),
    *("random_distribution=zoned:", "ioengine=", "filename=", "percentile_list=", "${", "}"),
)
PIECES = st.sampled_from((*MARKS, *WORDS))


@settings(deadline=None, max_examples=200)
@given(text=st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=30).map("".join))
def test_no_text_breaks_the_reading(text: str) -> None:
    from flashtwin.fio.plan.files import Target
    from flashtwin.fio.plan.plan import plan

    try:
        jobs = typed(read_text(text), environment={}).jobs
        plan(jobs, Target(name="drive", bytes=1 << 34))
    except JobFileError as error:
        assert error.message and error.where.file
