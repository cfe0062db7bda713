"""Makes the golden runs anew after a change of the schema: `python tests/golden/make_runs.py`.

Nothing of this machine stays in their host.json.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS), str(TESTS / "runner")]
STOPPED_AT = "cdm/RND4K-Q1T1/read/1"
TWIN = (
    "fill:patterns=1m-q1,passes=1,sample_s=5s,"
    "crystaldiskmark:profile=real,loops=1,size=64MiB,mix=off"
)


def main() -> None:
    from flashtwin.runs.rundir import HOST
    from flashtwin.runs.storage import sealed_bytes

    place = HERE / "runs"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    words = ["test", "bx500-240", "--scale", "1/16", "--battery", TWIN, "--quiet"]
    words += ["--out", str(place / "finished")]
    environment = {**os.environ, "FLASHTWIN_CACHE": "off"}
    subprocess.run([sys.executable, "-m", "flashtwin.cli", *words], check=True, env=environment)
    (place / "finished" / "report.html").unlink()
    for name, number in (("interrupted", 2), ("killed", 9)):
        code = f"import make_runs; make_runs.stopped({str(place / name)!r}, {number})"
        subprocess.run([sys.executable, "-c", code], check=False, cwd=HERE, env=environment)
    for host in place.glob("*/host.json"):
        kept = {"began": "2026-11-21T18:00:00+00:00", "machine": "x86_64", "system": "Linux"}
        host.write_bytes(sealed_bytes(kept, HOST))
    shutil.rmtree(HERE / "__pycache__", ignore_errors=True)


def stopped(place: str, number: int) -> None:
    """A run of the drive in closed form that a signal ends in the middle."""
    from test_run_batteries import QUICK, StoppedDrive

    from flashtwin.model.target import Interrupted
    from flashtwin.runner.run import run_batteries

    drive = StoppedDrive()
    drive.at, drive.number = STOPPED_AT, number
    try:
        run_batteries(drive, [QUICK], Path(place), command=["flashtwin", "test", "paper"])
    except Interrupted:
        return


if __name__ == "__main__":
    main()
