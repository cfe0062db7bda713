"""Ctrl-C after the last step: what was measured is kept, and the message says how to show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashtwin import report
from flashtwin.cli import main


def test_a_signal_while_the_page_is_drawn_says_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*given: object, **more: object) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(report, "build", interrupted)
        battery = "fill:patterns=1m-q1,passes=1"
        words = ["test", "bx500-240", "--scale", "1/16", "--battery", battery]
        with pytest.raises(SystemExit) as end:
            main([*words, "--quiet", "--out", str(tmp_path / "run")])
    assert end.value.code == 130
    told = capsys.readouterr().err
    assert f"all was measured and is in {tmp_path / 'run'}" in told
    assert f"flashtwin report {tmp_path / 'run'} makes its page" in told
    with pytest.raises(SystemExit) as end:
        main(["report", str(tmp_path / "run")])
    assert end.value.code == 0 and (tmp_path / "run" / "report.html").exists()
