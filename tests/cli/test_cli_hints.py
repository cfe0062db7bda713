"""A path at which nothing lies is one sentence and a hint, whichever command it is given to."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from flashtwin.cli.app import app


@pytest.mark.parametrize(
    "words",
    [
        *["infer {}", "check {}.toml", "test {}.toml", "show {}.toml", "diff bx500-240 {}.toml"],
        *["report {}", "runs show {}", "runs {}", "compare {} {}", "fio {}.fio --on bx500-240"],
        *["smart {}", "replay {}", "icf {}", "fit {} -o b.toml", "rank {}", "trace {}", "cost {}"],
        *["sweep {}.toml --vary op=0.1", "ask bx500-240 --workload {}", "conclude {}", "submit {}"],
        *["same bx500-240 {}", "test bx500-240 --resume {}", "export {} --format csv", "infer ."],
        *["infer /dev/null", "smart .", "explain fill.cache_size --run {}", "new", "validate {}"],
    ],
)
def test_what_is_not_there_is_one_sentence_and_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, words.replace("{}", "a/missing").split())
    assert (done.exit_code, done.stdout) == (2, ""), done.stderr
    sentence, hint = done.stderr.splitlines()
    assert sentence.startswith("error: ") and hint.startswith("hint: ")
    assert not list(tmp_path.iterdir())
