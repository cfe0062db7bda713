"""Outputs: files only, whole or not at all, and within the directory that they belong to."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from entries import entries

from flashtwin import outputs
from flashtwin.errors import FlashtwinError

KINDS = ("directory", "fifo", "socket", "device", "link to a fifo", "link to a device", "loop")
ROOT = os.geteuid() == 0
NOBODY = 65534


def put(kind: str, path: Path) -> Path:
    """Something that is no file, at `path`; devices are the harmless one."""
    plain = kind.rpartition(" ")[2]
    at = path.with_name(f"{path.name}-meant") if kind.startswith("link") else path
    match plain:
        case "directory":
            at.mkdir()
        case "fifo":
            os.mkfifo(at)
        case "socket":
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(os.path.relpath(at))
        case "device" if ROOT:
            os.mknod(at, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        case "device":
            at.symlink_to("/dev/null")
        case "loop":
            at.symlink_to(at.name)
    if at != path:
        path.symlink_to(at.name)
    return path


@contextmanager
def tiny_disk(place: Path, room: str = "64k") -> Iterator[Path]:
    """A file system with hardly any room."""
    place.mkdir()
    if (
        not ROOT
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", str(place)], check=False
        ).returncode
    ):
        pytest.skip("needs the right to mount")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def refused(act: Callable[[], object]) -> FlashtwinError:
    with pytest.raises(FlashtwinError) as caught:
        act()
    return caught.value


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_refused_and_stays(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = put(kind, Path("out"))
    before = entries(Path())
    error = refused(lambda: outputs.write(path, "text"))
    assert error.exit_code == (3 if kind == "loop" else 4) and error.hint
    assert entries(Path()) == before
    assert refused(lambda: outputs.check(path)).exit_code == error.exit_code


@pytest.mark.parametrize("path", ["/dev/null", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_streams_and_devices_of_the_system_are_refused(path: str) -> None:
    assert refused(lambda: outputs.write(Path(path), "text")).exit_code == 4


def test_a_file_is_replaced_with_its_mode_and_a_link_stays(tmp_path: Path) -> None:
    kept, link = tmp_path / "kept", tmp_path / "sub" / "link"
    link.parent.mkdir()
    kept.write_text("old")
    kept.chmod(0o640)
    link.symlink_to("../kept")
    outputs.write(link, "new")
    assert kept.read_text() == "new" and link.is_symlink()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640
    new = tmp_path / "new"
    outputs.write(new, b"1", durable=True)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~umask
    assert sorted(one.name for one in tmp_path.iterdir()) == ["kept", "new", "sub"]


def test_a_link_to_nothing_makes_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("there")
    outputs.write(tmp_path / "link", "text")
    assert (tmp_path / "there").read_text() == "text"


def test_a_file_that_may_not_be_written_is_not_replaced() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mine"
        path.write_text("old")
        path.chmod(0o444)
        Path(folder).chmod(0o777)
        assert as_nobody(lambda: refused(lambda: outputs.write(path, "new")).exit_code) == 3
        assert path.read_text() == "old"


def as_nobody(work: Callable[[], int]) -> int:
    """What a child answers that has no rights of root, which may write to every file."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            if ROOT:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_of_several_files_none_is_there_if_one_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    files: dict[Path, outputs.Data] = {
        tmp_path / "new" / "a": "1",
        tmp_path / "b": "2",
        tmp_path / "new" / "c": "3",
    }
    assert refused(lambda: outputs.write_all(files, folders=True)).exit_code == 4
    assert [one.name for one in tmp_path.iterdir()] == ["b"]


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a")
    files: dict[Path, outputs.Data] = {tmp_path / "a": "1", tmp_path / "link": "2"}
    error = refused(lambda: outputs.write_all(files))
    assert error.exit_code == 4 and "same file" in error.message
    assert not (tmp_path / "a").exists()


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk") as place:
        outputs.write(place / "a", "old")
        files: dict[Path, outputs.Data] = {
            place / "a": "new",
            place / "sub" / "b": b"b" * 30_000,
            place / "sub" / "c": b"c" * 60_000,
        }
        error = refused(lambda: outputs.write_all(files, folders=True))
        assert error.exit_code == 3 and "No space left" in error.message
        assert [one.name for one in place.rglob("*")] == ["a"]
        assert (place / "a").read_text() == "old"


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        outputs.write(tmp_path / "a", "new", durable=True)
    with pytest.raises(KeyboardInterrupt), outputs.replacing(tmp_path / "b") as part:
        part.write_text("half")
        interrupted()
    assert [one.name for one in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.parametrize(
    "name",
    [
        "/tmp/x",
        "../x",
        "sub/../../x",
        "out/x",
        "link",
        "a\nb",
        "a\x1b[2J",
        "",
        ".",
        "\ud800",
        "x" * 256,
    ],
)
def test_a_name_that_nobody_typed_stays_within_its_directory(name: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home" / "out").symlink_to("../elsewhere")
    (tmp_path / "home" / "link").symlink_to("../file")
    error = refused(lambda: outputs.named(tmp_path / "home", name))
    assert error.exit_code == 4
    place = tmp_path / "home" / name
    assert refused(lambda: outputs.write(place, "", within=tmp_path / "home")).exit_code == 4
    assert not (tmp_path / "file").exists() and not any((tmp_path / "elsewhere").iterdir())


def test_a_name_may_have_directories_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    place = outputs.named(tmp_path, "logs/été_bw.1.log")
    outputs.write(place, "1", within=tmp_path)
    assert (tmp_path / "logs" / "été_bw.1.log").read_text() == "1"


@pytest.mark.parametrize(
    "name", ["manifest.json", "steps.jsonl", "x.parquet", "parts/new", "steps.tables"]
)
def test_a_typed_output_is_no_part_of_a_run(name: str, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "steps.jsonl").write_text("")
    assert refused(lambda: outputs.write(tmp_path / name, "x")).exit_code == 4
    outputs.write(tmp_path / "report.html", "a page is none of it")


def test_an_output_is_no_input_and_no_other_output(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[a]")
    (tmp_path / "link").symlink_to("job.fio")
    for how in ("inputs", "others"):
        error = refused(
            lambda how=how: outputs.check(tmp_path / "link", **{how: [tmp_path / "job.fio"]})
        )
        assert error.exit_code == 4
    outputs.check(tmp_path / "new", inputs=[tmp_path / "job.fio"])


def test_text_that_is_no_text_is_written_as_escapes(tmp_path: Path) -> None:
    outputs.write(tmp_path / "a", '{"name": "\udc80é"}')
    assert (tmp_path / "a").read_text() == '{"name": "\\udc80é"}'
