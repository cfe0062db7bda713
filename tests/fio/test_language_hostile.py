"""Job files that nobody means well: each is refused in a sentence with its line, soon."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
import real_fio
from abuse.targets import check_job_file

from flashtwin.fio.language.errors import JobFileError
from flashtwin.fio.language.lines import read
from flashtwin.fio.language.script import script, typed
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import plan

DRIVE = Target(name="twin", bytes=240_000_000_000)
EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples" / "fio").rglob("*.fio"))

NINES, ZEROS = "9" * 5000, "0" * 5000
# Lines of one job, and what is said of them.
LINES = [
    (f"size={NINES}", "a number of 5000 digits is more than 64 bits hold"),
    (f"size=0x{'f' * 5000}", "more than 64 bits hold"),
    (f"size={NINES}%", "more than 64 bits hold"),
    (f"runtime={NINES}", "more than 64 bits hold"),
    (f"direct={NINES}", "more than 64 bits hold"),
    (f"rw=randread:{NINES}", "more than 64 bits hold"),
    (f"bssplit=4k/{NINES}", "more than 64 bits hold"),
    (f"random_distribution=zoned:{NINES}/10", "more than 64 bits hold"),
    (f"latency_percentile={NINES}", "not a finite number"),
    (f"size=({NINES}*2)", "more than 64 bits hold"),
    ("runtime=3200000000", "more than 100 years"),
    ("runtime=101y", "is not a time"),
    ("size=" + "(" * 3000 + "4k" + ")" * 3000, "parts within one another"),
    ("size=(" + "-" * 3000 + "4k)", "parts within one another"),
    ("size=(2" + "^1" * 3000 + ")", "parts within one another"),
    ("size=((((9^64)^64)^64)^64)", "beyond what fio's numbers hold"),
    ("size=(" + "*".join(["999999999999"] * 600) + ")", "beyond what fio's numbers hold"),
    ("size=(1" + "/999999999989" * 600 + ")", "beyond what fio's numbers hold"),
    ("size=(9^65)", "a power beyond 0 to 64"),
    ("runtime=(1/0)", "a division by zero"),
    ("size=$pagesize*1/0", "a division by zero"),
    (f"size=$pagesize*{NINES}", "more than 64 bits hold"),
    ("size=\u0663g", "is not a number"),
    ("size=\uff13g", "is not a number"),
    ("size=\u00b2", "is not a number"),
    ("size=\u0663%", "is not a number"),
    ("runtime=\u0663s", "is not a time"),
    ("size=(\u0663*2)", "in its arithmetic"),
    ("direct=\u0661", "is neither 0 nor 1"),
    ("iodepth=\uff13", "is not a number"),
    ("rw=randread:\u0663", "is not a number of requests"),
    ("bssplit=4k/\u0665\u0660", "is not a percentage"),
    ("random_distribution=zipf:\u0661.5", "is not a number"),
    ("random_distribution=zipf:1_0", "is not a number"),
    ("random_distribution=normal:nan", "is not a number"),
    ("bssplit=" + ":".join(["4k/1"] * 65), "a list of 65 entries, and fio takes 64"),
    ("random_distribution=zoned:" + ":".join(["0/0"] * 257), "fio takes 256"),
    ("nrfiles=65537", "files of all processes together, and 65536 are possible"),
    ("nrfiles=4294967295", "files of all processes together"),
    ("nrfiles=1000\nnumjobs=100", "100000 files of all processes together"),
    ("description=" + "x" * 8200, "a line of 8212 characters, and fio reads 8191"),
    ("size=1\x00g", "control character '\\x00'"),
    ("name=a\x1b[31m", "control character '\\x1b'"),
    ("filename=${LONG}" + "${LONG}" * 100, "more than 65536 characters"),
    ("filename=${LINES}", "control character '\\n'"),
    ("filename=${HALF}", "not text in UTF-8"),
    ("\n".join(["filename=" + "x" * 8000] * 9), "names of 72008 characters together"),
    ("y" * 8000 + "=1", "fio has no option yyy"),
    ("${" * 4000, "fio has no option"),
    ("include nothing\x7f", "control character '\\x7f'"),
]
VARIABLES = {"LONG": "x" * 10_000, "LINES": "a\nexec_prerun=b", "HALF": "\ud800"}


def refused(path: Path) -> JobFileError:
    with pytest.raises(JobFileError) as failed:
        plan(typed(read(str(path)), environment=VARIABLES).jobs, DRIVE)
    assert failed.value.exit_code in (2, 3)
    for text in filter(None, (failed.value.message, failed.value.hint)):
        assert len(text) < 2000 and text.isprintable(), text
    return failed.value


@pytest.mark.parametrize(("line", "said"), LINES, ids=[said for _, said in LINES])
def test_a_line(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "asked.fio"
    path.write_bytes(f"[a]\nrw=randread\nsize=1g\n{line}\n".encode())
    message = refused(path).message
    assert said in message and "asked.fio:" in message


@pytest.mark.parametrize(
    ("option", "bytes_"),
    [(f"size={ZEROS}4096", 4096), ("size=0x" + "0" * 5000 + "1000", 4096)],
)
def test_zeros_before_a_number_are_none_of_its_digits(
    tmp_path: Path, option: str, bytes_: int
) -> None:
    text = f"[a]\n{option}\n"
    assert real_fio.accepts(text, tmp_path)[0]
    (job,) = typed(read(str(tmp_path / "asked.fio")), environment={}).jobs
    assert job["size"] == bytes_


FILES = [
    (b"\xef\xbb\xbf[a]\nsize=1g\n", "asked.fio:1: the file begins with a byte order mark"),
    ("[a]\nsize=1g\n".encode("utf-16"), "asked.fio:1: the file is text in UTF-16"),
    ("[a]\nsize=1g\n".encode("utf-16-be"), "asked.fio:1: the file is text in UTF-16"),
    (b"[a]\rsize=1g\rfilename=\xe4\r", "asked.fio:3: this is not text in UTF-8"),
    (b"[a]\nsize=1g\nfilename=\xe4\n", "asked.fio:3: this is not text in UTF-8"),
    (b"[\xe4]\nsize=1g\n", "asked.fio:1: this is not text in UTF-8"),
    (b"[a\x00b]\nsize=1g\n", "asked.fio:1: the control character"),
    (b"\x00\x01\x02" * 1000, "asked.fio:1: the control character"),
    (b"[a]\nsize=1g\n" * 4097, "more than 4096 sections"),
    (b"[global]\nsize=1g\n" * 4097, "more than 4096 sections"),
    (b"[a]\nsize=1g\n" + b"bs=4k\n" * 50_001, "more than 50000 lines of options"),
    (b"[a]\ndescription=" + b"x" * (3 << 20), "a line of 3145740 characters"),
    (b"#" * ((4 << 20) + 1), "bytes, and may"),
]


@pytest.mark.parametrize(("data", "said"), FILES, ids=[said for _, said in FILES])
def test_a_file(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "asked.fio"
    path.write_bytes(data)
    assert said in refused(path).message


def test_comments_may_be_in_any_encoding(tmp_path: Path) -> None:
    path = tmp_path / "asked.fio"
    path.write_bytes(b"# gr\xfc\xdfe\n[a] ; \xe4\nsize=1g\n")
    assert [job.section for job in typed(read(str(path)), environment={}).jobs] == ["a"]


@pytest.mark.parametrize("kind", ["fifo", "zero", "link", "directory", "gone"])
@pytest.mark.parametrize("how", ["job file", "include"])
def test_what_is_no_regular_file_is_not_opened(tmp_path: Path, kind: str, how: str) -> None:
    odd = tmp_path / "odd"
    if kind == "fifo":
        os.mkfifo(odd)
    elif kind == "link":
        odd.symlink_to("/dev/zero")
    elif kind == "directory":
        odd.mkdir()
    path = Path("/dev/zero") if kind == "zero" else odd
    if how == "include":
        (tmp_path / "asked.fio").write_text(f"[a]\nsize=1g\ninclude {path}\n")
        path = tmp_path / "asked.fio"
    error = refused(path)
    assert error.exit_code == 2
    if kind != "gone":
        assert "not a regular file" in error.message


def test_includes_that_grow_without_end_are_refused(tmp_path: Path) -> None:
    """Each includes the next one twice: 2^40 files."""
    for number in range(41):
        text = f"include {tmp_path}/{number + 1}.fio\n" * 2 if number < 40 else "bs=4k\n"
        (tmp_path / f"{number}.fio").write_text(("[a]\nsize=1g\n" if number == 0 else "") + text)
    assert "16 within one another" in refused(tmp_path / "0.fio").message
    for number in range(10, 41):
        (tmp_path / f"{number}.fio").write_text("bs=4k\n")
    assert "more than 256 includes" in refused(tmp_path / "0.fio").message


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--name=a\nexec_prerun=x", "--size=1g"], "control character '\\n'"),
        (["--name", "a\nb", "--size=1g"], "control character '\\n'"),
        (["--name=a", "--size=1\0g"], "control character '\\x00'"),
        (["--name=a", "--filename=\udce4", "--size=1g"], "not text in UTF-8"),
        (["--name=a", f"--size={NINES}"], "more than 64 bits hold"),
        (["--name=a", "--size=\u0663g"], "is not a number"),
        (["--name=a", "--" + "x" * 100_000], "fio has no option"),
        (["a\x1b.fio"], "control character '\\x1b'"),
    ],
)
def test_words(words: list[str], said: str) -> None:
    with pytest.raises(JobFileError) as failed:
        script(words, environment={})
    assert said in failed.value.message and failed.value.message.isprintable()
    assert len(failed.value.message) < 2000


def test_many_jobs_that_wait_are_planned(tmp_path: Path) -> None:
    """4,096 processes, each waiting for the first: what was quadratic took minutes."""
    path = tmp_path / "asked.fio"
    waiting = "".join(f"[b{number}]\nsize=1m\nwait_for=a\n" for number in range(4095))
    path.write_text(f"[a]\nsize=1m\n{waiting}")
    made = plan(typed(read(str(path)), environment={}).jobs, DRIVE)
    assert len(made.processes) == 4096


TOKENS = (
    *(b"\x00", b"\xff", b"\xed\xa0\x80", b"\r", b"(", b")^64", b"%", b":", b",", b"/", b"-", b"="),
    *(b"9" * 30, b"[", b"]", b"${SIZE}", b"$ncpus", b"\n[x]\n", b"stonewall\n", b"k", b"zoned:"),
    *("\u0663".encode(), b"numjobs=3\n", b"nrfiles=9\n", b"include job.fio\n", b"bssplit=:\n"),
)


def mutated(data: bytes, draw: random.Random) -> bytes:
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(data) + 1)
        match draw.randrange(4):
            case 0:
                data = data[:at] + draw.choice(TOKENS) + data[at:]
            case 1:
                data = data[:at] + data[at + draw.randint(1, 12) :]
            case 2:
                other = draw.randrange(len(data) + 1)
                data = data[:at] + data[other : other + draw.randint(1, 60)] + data[at:]
            case _:
                data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
    return data


@pytest.mark.parametrize("seed", range(4))
def test_mutated_examples_keep_the_promises(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(150):
        data = mutated(draw.choice(EXAMPLES).read_bytes(), draw)
        try:
            check_job_file(data)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {data!r}") from error
