"""`flashtwin submit` and the check of what it made, on made-up runs of files and twins."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from changed_runs import rewrite
from stored_runs import finding, store, usual

from flashtwin import _core
from flashtwin.errors import FlashtwinError
from flashtwin.report import page
from flashtwin.runs.rundir import Run
from flashtwin.runs.submission.check import check
from flashtwin.runs.submission.submit import compact, submit

assert _core.load_spec, "these tests need the compiled part"

NAME = "Crucial MX500 1 TB"
# What no reader of a catalogue may learn; all of it is in the run's own files.
SECRET = {
    "directory": "/home/mallory/flashtwin-runs/x",
    "path": "/mnt/vault7/probe",
    "arguments": ["test", "/mnt/vault7/probe"],
    "file": {"path": "/mnt/vault7/probe", "size_bytes": 10**9, "mark": "feedfacefeedface"},
    "device": "sda",
    "device_serial": "S3Z8NB0K123456",
    "kernel": "6.1.0-mallorys-kernel",
    "cpus": 2,
}
WORDS = ("mallory", "vault7", "S3Z8NB0K", "feedface", "probe")


def measured(path: Path, **more: Any) -> Run:
    findings = [
        *usual(),
        finding("fill.stalls[1m-q1]", 3.0, "", note="at /mnt/vault7/probe, by mallory"),
    ]
    host = {**SECRET, **more.pop("host", {})}
    return store(path, target="probe", kind="file", host=host, findings=findings, **more)


def texts(folder: Path) -> str:
    return "".join(path.read_bytes().decode("latin-1") for path in sorted(folder.iterdir()))


def lines(folder: Path) -> list[str]:
    return [fault.text.removeprefix(f"{folder}/") for fault in check(folder).faults]


def test_a_submission_has_the_run_and_names_no_machine(tmp_path: Path) -> None:
    run = measured(tmp_path / "run", parameters={"trace": "/srv/share/a.csv"})
    before = texts(tmp_path / "run")
    assert all(word in before for word in WORDS), "the run itself has them"
    folder = submit(run, tmp_path / "mx500-1tb", drive=NAME)
    text = texts(folder)
    assert not [word for word in (*WORDS, "/srv/share") if word in text]
    document = json.loads((folder / "submission.json").read_text())
    assert document["drive"]["name"] == NAME and not document["simulated"]
    assert document["conditions"]["batteries"][1]["departs"] == ["fewer runs"]
    assert document["conditions"]["measured_bytes"] == 10**9
    assert document["host"]["kernel"] == "6.1.0" and document["host"]["cpus"] == 2
    findings = json.loads((folder / "findings.json").read_text())["findings"]
    assert [row["id"] for row in findings] == [row.id for row in run.findings]
    assert findings[-1]["note"] == "at (left out), by (left out)"
    assert check(folder).submissions == 1 and lines(folder) == []


def test_the_folder_is_called_by_drive_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = measured(tmp_path / "run", host={"device_model": "CT1000MX500SSD1"})
    place = submit(run)
    assert place == Path(f"ct1000mx500ssd1-{str(run.origin)[:8]}")
    with pytest.raises(FlashtwinError, match="is not empty"):
        submit(run)


def test_a_drive_without_a_name_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FlashtwinError, match="does not say which drive") as raised:
        submit(measured(tmp_path / "run"), tmp_path / "out")
    assert "--drive" in str(raised.value.hint)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["MX500 of mallory", "disk at /home/eve", "serial: S3Z8NB0K99"])
def test_a_name_that_tells_whose_it_is_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FlashtwinError, match="would hold") as raised:
        submit(measured(tmp_path / "run"), tmp_path / "out", drive=name)
    assert raised.value.exit_code == 4
    assert not (tmp_path / "out").exists()


@pytest.fixture
def on_pc7(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine and a user with short names, as they are the harder ones."""
    monkeypatch.setattr("socket.gethostname", lambda: "pc7.example.org")
    monkeypatch.setattr("os.getuid", lambda: 77)
    monkeypatch.setattr("pwd.getpwuid", lambda uid: SimpleNamespace(pw_name="al"))


@pytest.mark.usefixtures("on_pc7")
@pytest.mark.parametrize(
    "name",
    [
        *("mallory-ssd", "ssd_of_Mallory", "MALLORY_1", "pc7", "PC7-disk", "disk_pc7"),
        *("al's MX500", "al_1", "MX500-al", "pc7.example.org"),
    ],
)
def test_a_name_within_a_joined_word_is_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(FlashtwinError, match="would hold the name") as refused:
        submit(measured(tmp_path / "run"), tmp_path / "out", drive=name)
    assert refused.value.exit_code == 4 and not (tmp_path / "out").exists()


@pytest.mark.usefixtures("on_pc7")
def test_what_only_contains_a_short_name_is_left_alone(tmp_path: Path) -> None:
    note = "all channels are idle, al dente; see also the manual"
    run = store(
        tmp_path / "run",
        target="probe",
        kind="file",
        host=SECRET,
        findings=[finding("fill.stalls[1m-q1]", 3.0, "", note=f"{note} of al-pc7")],
        parameters={"pattern": "seq-al", "of": "pc70 al"},
    )
    folder = submit(run, tmp_path / "out", drive="Realtek Alpha 1 TB")
    (row,) = json.loads((folder / "findings.json").read_text())["findings"]
    assert row["note"] == note + " of (left out)-(left out)"
    battery = json.loads((folder / "submission.json").read_text())["conditions"]["batteries"][0]
    assert battery["parameters"]["pattern"] == "seq-(left out)"
    assert battery["parameters"]["of"] == "pc70 (left out)"


@pytest.mark.usefixtures("on_pc7")
def test_a_job_that_is_called_after_somebody_is_refused(tmp_path: Path) -> None:
    run = measured(tmp_path / "run", parameters={"jobs": [{"name": "al_write"}]})
    with pytest.raises(FlashtwinError, match="a name in the parameters of fill is 'al_write'"):
        submit(run, tmp_path / "out", drive=NAME)


@pytest.mark.parametrize("host", ["localhost", "ubuntu", "ssd", "x", "42"])
def test_names_that_anybody_has_alarm_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: host)
    assert submit(measured(tmp_path / "run"), tmp_path / "o", drive=f"A {host} SSD").exists()


@pytest.mark.parametrize("name", ["MX500 \udcff", "MX500\n# of mine", "MX\x1b[2J"])
def test_a_name_that_is_no_text_is_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(FlashtwinError, match="holds what is no text") as refused:
        submit(measured(tmp_path / "run"), tmp_path / "out", drive=name)
    assert refused.value.exit_code == 2


def test_a_twin_is_refused_unless_it_is_meant_and_then_says_so(tmp_path: Path) -> None:
    run = store(tmp_path / "run")
    with pytest.raises(FlashtwinError, match="run of a twin") as raised:
        submit(run, tmp_path / "out")
    assert "--twin" in str(raised.value.hint)
    with pytest.raises(FlashtwinError, match="does not say so"):
        submit(run, tmp_path / "out", twin=True)
    folder = submit(run, tmp_path / "out-simulated", twin=True)
    assert "SIMULATED" in (folder / "README.md").read_text()
    assert json.loads((folder / "submission.json").read_text())["simulated"] is True
    assert lines(folder) == []
    hidden = folder.rename(tmp_path / "out")
    assert lines(hidden) == [
        "submission.json: it is simulated, and its folder does not say so"
        " (hint: call the folder out-simulated)"
    ]


def test_any_simulation_is_refused_whatever_its_kind_is_called(tmp_path: Path) -> None:
    run = store(tmp_path / "run", kind="model")
    manifest = json.loads((run.path / "manifest.json").read_text())
    manifest["target"]["can"] = {"whole_drive": True, "virtual_time": True}
    rewrite(run.path, "manifest.json", manifest)
    with pytest.raises(FlashtwinError, match="no hardware was measured"):
        submit(Run(run.path), tmp_path / "out")
    assert "simulated" in page.render([Run(run.path)]).lower()


def test_a_run_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    run = measured(tmp_path / "stopped", state="interrupted")
    with pytest.raises(FlashtwinError, match="not finished: 4 steps") as raised:
        submit(run, tmp_path / "out", drive=NAME)
    assert "--resume" in str(raised.value.hint)
    run = measured(tmp_path / "cut", cut=True)
    with pytest.raises(FlashtwinError, match="cut short by its budget: fill/128k-q32/pass-1"):
        submit(run, tmp_path / "out", drive=NAME)


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("series.parquet", lambda data: bytes([data[0] ^ 1]) + data[1:], "its SHA-256 is not"),
        ("findings.json", lambda data: data.replace(b"461.0", b"561.0"), "its SHA-256 is not"),
        ("submission.json", lambda data: data.replace(b"MX500", b"MX501"), "not what flashtwin"),
        ("submission.json", lambda _: b"[]", "it cannot be read: it holds no JSON object"),
        ("hist.parquet", None, "there is no such file"),
        ("notes.txt", lambda _: b"", "not one of a submission's files"),
    ],
)
def test_what_was_changed_is_seen(tmp_path: Path, name: str, change: Any, fault: str) -> None:
    folder = submit(measured(tmp_path / "run"), tmp_path / "sub", drive=NAME)
    file = folder / name
    if change is None:
        file.unlink()
    else:
        file.write_bytes(change(file.read_bytes() if file.exists() else b""))
    (line,) = lines(folder)
    assert line.startswith(f"{name}: ") and fault in line


def test_files_that_fit_their_checksums_are_still_read(tmp_path: Path) -> None:
    """Somebody makes a submission by hand: checksums alone do not make it one."""
    from flashtwin.runs.storage import digest_of, sealed_bytes

    folder = submit(measured(tmp_path / "run"), tmp_path / "sub", drive=NAME)
    document = json.loads((folder / "submission.json").read_text())
    wrong = {
        "findings.json": b'{"findings": [{"battery": 1}]}',
        "steps.json": b'{"steps": ["/home/eve/disk"]}',
        "series.parquet": b"PAR1",
    }
    for name, data in wrong.items():
        (folder / name).write_bytes(data)
        document["files"][name] = {"sha256": digest_of(data), "bytes": len(data)}
    (folder / "submission.json").write_bytes(sealed_bytes(document, "submission.json"))
    wrong = lines(folder)
    assert [line.split(": ")[0] for line in wrong] == [
        "findings.json",
        "series.parquet",
        "steps.json:1",
    ]
    assert "a path of somebody's machine" in wrong[2]


def test_a_submission_is_found_in_any_folder_below(tmp_path: Path) -> None:
    folder = submit(measured(tmp_path / "run"), tmp_path / "cat/measured/one", drive=NAME)
    shutil.copytree(folder, tmp_path / "cat/measured/Two of them")
    catalogue = check(tmp_path / "cat")
    assert catalogue.submissions == 2
    assert [fault.message for fault in catalogue.faults] == [
        "a submission cannot be called 'Two of them'"
    ]
    (tmp_path / "empty").mkdir()
    with pytest.raises(FlashtwinError, match=r"no drive, no published\.toml"):
        check(tmp_path / "empty")


def test_a_compact_series_keeps_bytes_and_times() -> None:
    rng = np.random.default_rng(7)
    count = 10_001
    table = {
        "step": np.repeat([0, 3], [count, 5]),
        "t_ns": np.concatenate([np.arange(count), np.arange(5)]) * 10,
        "dt_ns": np.full(count + 5, 10),
        "direction": np.ones(count + 5, dtype=np.int64),
        **{name: rng.integers(0, 9, count + 5) for name in ("ios", "bytes", "lat_sum_ns")},
        **{name: rng.integers(1, 9, count + 5) for name in ("lat_min_ns", "lat_max_ns")},
    }
    series, merged = compact(table, 2_000)
    assert merged == 6 and len(series["t_ns"]) == -(-count // 6) + 5
    for name in ("dt_ns", "ios", "bytes", "lat_sum_ns"):
        assert series[name].sum() == table[name].sum()
    first = slice(0, 6)
    least = table["lat_min_ns"][first][table["ios"][first] > 0].min()
    assert (series["lat_min_ns"][0], series["lat_max_ns"][0]) == (
        least,
        table["lat_max_ns"][first].max(),
    )
    assert np.all(np.diff(series["t_ns"][series["step"] == 0]) == 60)
