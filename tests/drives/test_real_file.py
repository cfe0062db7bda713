"""The target file: what is refused, what is made, and that it goes."""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import pytest
from processes import children, lives
from thinning import thinned

from flashtwin.drives.real import engines, real_file, real_fio
from flashtwin.drives.real.jobfile import job_file
from flashtwin.drives.real.real import Real
from flashtwin.errors import ENVIRONMENT, REFUSED, USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.step import Job, Run

MIB = 1 << 20
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def refusal(path: Path | str, size: int = 16 * MIB) -> FlashtwinError:
    with pytest.raises(FlashtwinError) as caught:
        Real(path, size, say=lambda text: None).open()
    return caught.value


def test_character_device() -> None:
    error = refusal("/dev/null")
    assert (error.exit_code, error.message) == (REFUSED, "/dev/null is a character device")
    assert error.hint


def test_block_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "disk"
    try:
        os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(7, 250))
    except OSError:
        found = SimpleNamespace(st_mode=stat.S_IFBLK | 0o600)
        monkeypatch.setattr(os, "lstat", lambda path: found)
    error = refusal(path)
    assert error.exit_code == REFUSED
    assert "block device" in error.message
    assert "data would be lost" in error.message
    assert error.hint == "name a directory on it"


def test_existing_file_keeps_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "precious"
    path.write_text("mine")
    error = refusal(path)
    assert (error.exit_code, path.read_text()) == (REFUSED, "mine")
    assert "is there already" in error.message


def test_a_file_of_ours_that_a_killed_run_left(tmp_path: Path) -> None:
    left = tmp_path / real_file.NAME
    left.touch()
    error = refusal(tmp_path)
    assert error.exit_code == REFUSED
    assert error.hint is not None and f"rm {left}" in error.hint


@pytest.mark.parametrize("points_at", ["file", "directory", "nothing"])
def test_symbolic_links(tmp_path: Path, points_at: str) -> None:
    goal = tmp_path / "goal"
    if points_at == "file":
        goal.write_text("mine")
    if points_at == "directory":
        goal.mkdir()
    link = tmp_path / "link"
    link.symlink_to(goal)
    for path in (link, f"{link}/"):
        error = refusal(path)
        assert error.exit_code == REFUSED
        assert "symbolic link" in error.message
    assert sorted(tmp_path.iterdir()) == sorted({goal, link} & set(tmp_path.iterdir()))


def test_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    error = refusal(tmp_path / "pipe")
    assert error.exit_code == REFUSED
    assert "not a regular file" in error.message


def test_no_such_directory(tmp_path: Path) -> None:
    error = refusal(tmp_path / "no" / "where")
    assert error.exit_code == USAGE
    assert f"{tmp_path / 'no'} is not a directory" in error.message


def test_too_small(tmp_path: Path) -> None:
    assert refusal(tmp_path, MIB - 1).exit_code == USAGE


@needs_fio
def test_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=4_096_000))
    error = refusal(tmp_path, 64 * MIB)
    missing = 64 * MIB + real_file.MARGIN_BYTES - 4_096_000
    assert error.exit_code == ENVIRONMENT
    assert f"{units.readable_size(missing, 3)} are missing" in error.message
    assert list(tmp_path.iterdir()) == []


def test_a_file_put_in_its_place_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "target"
    file = real_file.create(path, MIB)
    assert file.is_there()
    os.rename(path, tmp_path / "moved")
    path.write_text("not ours")
    assert not file.is_there()
    real_file.remove(file)
    assert path.read_text() == "not ours"


def test_only_the_process_that_made_it_removes_it(tmp_path: Path) -> None:
    file = real_file.create(tmp_path / "target", MIB)
    child = os.fork()
    if child == 0:
        real_file.remove_all()
        os._exit(0)
    os.waitpid(child, 0)
    assert file.is_there()
    real_file.remove(file)
    real_file.remove(file)
    assert not (tmp_path / "target").exists()


def test_signals_are_given_back(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    file = real_file.create(tmp_path / "target", MIB)
    real_file.remove(file)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == before


def test_a_file_that_is_larger_than_any_may_be(tmp_path: Path) -> None:
    """As on FAT from 4 GiB on; here a limit of the process stands for it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, before[1]))
        with pytest.raises(FlashtwinError, match="File too large") as caught:
            real_file.create(tmp_path / "target", 2 * MIB)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert caught.value.exit_code == ENVIRONMENT
    assert caught.value.hint is not None and "--size" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_file_system_of_a_path(tmp_path: Path) -> None:
    assert real_file.file_system(tmp_path)[0]
    assert real_file.file_system(Path("/proc/self"))[0] in ("proc", "unknown")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("tmpfs t rw,size=1g", ["in memory"]),
        ("btrfs /dev/sda1 rw,compress=zstd:3,space_cache=v2", ["new places", "compresses"]),
        ("btrfs /dev/sda1 rw,compress=no", ["new places"]),
        ("zfs tank/data rw,xattr", ["may compress"]),
        ("nfs4 host:/share rw", ["another machine's"]),
        ("overlay overlay rw,lowerdir=/a,upperdir=/b", ["a layer over"]),
        ("fuseblk /dev/sdb1 rw", ["a program answers"]),
        ("ext4 /dev/sda1 rw", []),
    ],
)
def test_what_a_file_system_does_is_said(
    row: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = f"1 0 8:1 / / rw - ext4 /dev/root rw\n2 1 0:9 / /mnt/ssd rw,noatime - {row}\n"
    monkeypatch.setattr(Path, "read_text", lambda path, **options: told)
    place = Path("/mnt/ssd/target")
    file = real_file.OwnFile(path=place, device=9, inode=1, process=1, handle=-1)
    *notes, unmarked = real_file.remarks(file)
    assert "keeps no mark" in unmarked and "target has to be removed" in unmarked
    assert len(notes) == len(words)
    assert all(word in note for word, note in zip(words, notes, strict=True))


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (r"D:\ssd\flashtwin-target.bin", None),
        (r"\\server\share\a b, c(1).bin", None),
        (r"D:\console\null.aux", None),
        (r"\\.\PhysicalDrive0", "names a device, and"),
        (r"//./C:", "names a device, and"),
        (r"\\?\D:\target.bin", "names a device, and"),
        (r"D:\ssd\NUL", "a device of Windows"),
        (r"D:\com1.txt\target.bin", "a device of Windows"),
        (r"D:\nul \target.bin", "a device of Windows"),
        (r"D:\ssd\report.doc:target", "a stream"),
        (r"D:\Jürgen\target.bin", "letters"),
        (r"D:\$RECYCLE.BIN\target", "letters"),
        (r"D:\a;b\target", "letters"),
    ],
)
def test_paths_that_windows_reads_otherwise_are_refused(path: str, reason: str | None) -> None:
    told = real_file.unfit(PureWindowsPath(path))
    assert told == reason or (reason and told and reason in told)


@needs_fio
def test_fio_takes_a_path_with_a_drive(tmp_path: Path) -> None:
    """Linux takes such a path for a name, and fio splits names at colons on every system."""
    (tmp_path / r"C:\my ssd\t,1.bin").write_bytes(bytes(MIB))
    name = real_file.name_for_fio(tmp_path / r"C:\my ssd\t,1.bin")
    job = Job(name="read", rw="read", block_bytes=4096)
    step = Run(label="read", jobs=(job,))
    engine = engines.Engine(name="psync", direct=False)
    file = job_file(step, capacity_bytes=MIB, engine=engine, filename=name)
    work = tmp_path / "work"
    work.mkdir()
    answer = real_fio.run(real_fio.find(), file.text, work, lambda done: True, readonly=True)
    assert json.loads(answer)["jobs"][0]["read"]["io_bytes"] == MIB
    assert len(list(tmp_path.iterdir())) == 2


ENDLESS = """
import sys
from flashtwin.model.step import Job, Run
from flashtwin.drives.real.real import Real
drive = Real(sys.argv[1], 16 << 20).open()
job = Job(name="endless", rw="randread", block_bytes=4096, runtime_s=600.0)

def watch(progress):
    if progress.drive_s:
        print("running", flush=True)
    return True

drive.do(Run(label="endless", jobs=(job,)), watch)
"""


@needs_fio
@pytest.mark.parametrize(
    ("number", "code"),
    thinned(
        [
            (signal.SIGQUIT, 131),
            (signal.SIGTERM, 143),
            (signal.SIGINT, -signal.SIGINT),
            (signal.SIGHUP, 129),
        ],
        every=4,
    ),
)
def test_a_signal_leaves_neither_file_nor_fio(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    started = children(process.pid)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == code
    assert f"the target is {tmp_path / real_file.NAME}" in said
    assert list(tmp_path.iterdir()) == [scratch]
    assert list(scratch.iterdir()) == []
    assert started and not any(map(lives, started))


def left_by_another_process(path: Path) -> real_file.Leftover:
    """A file of ours whose process was killed: it is there, and nobody here holds it."""
    code = (
        "import json, os, sys\nfrom pathlib import Path\n"
        "from flashtwin.drives.real import real_file\n"
        "file = real_file.create(Path(sys.argv[1]), 1 << 20)\n"
        "real_file.claim(file, Path(sys.argv[2]))\n"
        "print(json.dumps(real_file.left_behind(file, 1 << 20)), flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(path.parent)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    told = json.loads(done.stdout)
    assert path.stat().st_size == 1 << 20
    return real_file.Leftover(**{**told, "path": Path(told["path"]), "run": path.parent})


def marks(tmp_path: Path) -> bool:
    try:
        (tmp_path / "try").touch()
        os.setxattr(tmp_path / "try", "user.flashtwin", b"x")
    except OSError:
        return False
    return True


def test_the_file_of_a_killed_run_is_taken_over_and_removed_at_the_end(tmp_path: Path) -> None:
    if not marks(tmp_path):
        pytest.skip("the file system has no extended attributes")
    left = left_by_another_process(tmp_path / "probe")
    file = real_file.take_over(left)
    assert file is not None and file.is_there()
    real_file.remove(file)
    assert not (tmp_path / "probe").exists()
    assert real_file.take_over(left) is None


@pytest.mark.parametrize("other", ["new", "copy", "longer", "link", "unmarked"])
def test_no_other_file_is_taken_over(tmp_path: Path, other: str) -> None:
    """A new file of the same size at the path often gets even the inode of the old one."""
    path = tmp_path / "probe"
    left = left_by_another_process(path)
    match other:
        case "new":
            path.unlink()
            path.write_bytes(bytes(1 << 20))
        case "copy":
            data = path.read_bytes()
            path.unlink()
            path.write_bytes(data)
        case "longer":
            with path.open("ab") as file:
                file.write(b"mine")
        case "link":
            path.rename(tmp_path / "mine")
            path.symlink_to(tmp_path / "mine")
        case "unmarked":
            left = dataclasses.replace(left, mark=None)
    assert real_file.take_over(left) is None
    if shutil.which("fio"):
        with pytest.raises(FlashtwinError) as refused:
            Real(path, 1 << 20, say=lambda text: None, leftover=left).open()
        assert refused.value.exit_code == REFUSED
    assert path.exists()


def test_a_copy_of_a_run_neither_takes_the_file_nor_removes_it(tmp_path: Path) -> None:
    if not marks(tmp_path):
        pytest.skip("the file system has no extended attributes")
    left = left_by_another_process(tmp_path / "probe")
    (tmp_path / "copy").mkdir()
    copied = dataclasses.replace(left, run=tmp_path / "copy")
    assert left.is_ours and copied.is_there and not copied.is_ours
    with pytest.raises(FlashtwinError, match="belongs to another directory") as refused:
        real_file.take_over(copied)
    assert refused.value.exit_code == REFUSED and "runs adopt" in (refused.value.hint or "")
    # A run that was renamed is the directory that it was.
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    tmp_path.rename(moved)
    renamed = dataclasses.replace(left, path=moved / "probe", run=moved)
    assert renamed.is_ours
    moved.rename(tmp_path)
    assert real_file.adopt([copied]) == [tmp_path / "probe"]
    assert copied.is_ours and not left.is_ours
    file = real_file.take_over(copied)
    assert file is not None
    real_file.remove(file)
    assert not (tmp_path / "probe").exists()
    with pytest.raises(FlashtwinError, match="is not there"):
        real_file.adopt([copied])


def test_of_several_files_those_that_are_there_are_adopted(tmp_path: Path) -> None:
    """None of them changes hands while somebody measures one."""
    if not marks(tmp_path):
        pytest.skip("the file system has no extended attributes")
    (tmp_path / "copy").mkdir()
    left = [left_by_another_process(tmp_path / name) for name in ("a", "b", "c")]
    copied = [dataclasses.replace(row, run=tmp_path / "copy") for row in left]
    (tmp_path / "a").unlink()
    file = real_file.take_over(left[2])
    assert file is not None
    with pytest.raises(FlashtwinError, match="another process is measuring"):
        real_file.adopt(copied)
    assert [row.is_ours for row in left] == [False, True, True]
    real_file.remove(file)
    assert real_file.adopt(copied) == [tmp_path / "b"]
    assert copied[1].is_ours and not left[1].is_ours


def test_a_file_that_is_being_measured_is_nobody_else_s(tmp_path: Path) -> None:
    if not marks(tmp_path):
        pytest.skip("the file system has no extended attributes")
    left = left_by_another_process(tmp_path / "probe")
    file = real_file.take_over(left)
    assert file is not None
    for use in (real_file.take_over, lambda row: real_file.adopt([row])):
        with pytest.raises(FlashtwinError, match="another process is measuring") as refused:
            use(left)
        assert refused.value.exit_code == REFUSED
    # Nobody is told to remove what somebody measures.
    assert "another process" in (refusal(left.path).hint or "")
    assert file.is_there()
    real_file.remove(file)
