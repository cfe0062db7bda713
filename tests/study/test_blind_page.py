"""docs/reference/blind.md is of today's prior and analysis; the guide's two files work together."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from flashtwin_lab.blind import detect, generate, judge, run
from flashtwin_lab.make import blind as maker

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "reference" / "blind.md").read_text()
STAMP = re.search(r"prior sha256 (\w+) seed (\d+) drives (\d+) commit ([0-9a-f]+) ", PAGE) or {}
EXAMPLES = ROOT / "examples" / "blind"


def test_the_page_is_of_the_prior_that_ships() -> None:
    stamp = STAMP
    assert stamp[1] == maker.prior_digest(), "run flashtwin_lab.make.blind: the prior has changed"
    assert int(stamp[2]) == maker.seed_of(stamp[4]), "the seed is drawn once the code is frozen"
    findings = {target["finding"] for target in generate.read_prior()["targets"]}
    assert all(f"| {finding} |" in PAGE for finding in findings)


def worst_on_page() -> list[tuple[str, str]]:
    block = PAGE.split("```text\n")[1].split("\n```")[0].splitlines()
    return list(zip(block[::2], block[1::2], strict=True))


@pytest.mark.parametrize(
    "at", [0, *(pytest.param(at, marks=pytest.mark.full) for at in range(1, len(worst_on_page())))]
)
def test_the_worst_drives_are_judged_today_as_the_page_says(at: int) -> None:
    line, drawn = worst_on_page()[at]
    case = maker.case_of(None, int(STAMP[2]), int(line.split(":")[0]))
    today = (maker.worst_line(case), case.sparkline)
    assert today == (line, drawn), "run flashtwin_lab.make.blind: the analysis has changed"


def test_a_page_goes_on_after_the_blocks_that_were_done(tmp_path: Path) -> None:
    def drawn(number: int) -> int:
        if number >= stops_at:
            raise KeyboardInterrupt
        asked.append(number)
        return -number

    def mapped(function: Callable[[int], int], numbers: Sequence[int]) -> list[int]:
        return [function(number) for number in numbers]

    asked: list[int] = []
    count, stops_at = 2 * maker.BLOCK + 7, maker.BLOCK + 3
    with pytest.raises(KeyboardInterrupt):
        maker.kept(tmp_path, mapped, drawn, count)
    asked, stops_at = [], count
    assert maker.kept(tmp_path, mapped, drawn, count) == [-number for number in range(count)]
    assert asked == list(range(maker.BLOCK, count))


def test_the_guides_files_work_with_each_other_and_with_ours() -> None:
    drives = [run._of_program(EXAMPLES / "generator.py", 3, number) for number in range(12)]
    theirs = detect.from_file(EXAMPLES / "detector.py")
    for detector in (theirs, detect.ours):
        judged = [judge.judged(drive, detector(drive)) for drive in drives]
        assert all(all(drive.right.values()) for drive in judged)
        assert max(e for drive in judged for e in drive.errors["cache size"]) < 0.03


def test_a_program_whose_drives_all_have_a_cache_makes_a_campaign_without_negatives() -> None:
    program, detector = EXAMPLES / "generator.py", EXAMPLES / "detector.py"
    done = run.campaign(2, 7, generator=program, detector=detector)
    assert [drive.name for drive in done.drives] == ["two plateaus 0", "two plateaus 1"]


def test_a_simple_detector_is_worse_than_ours_on_disturbed_fills() -> None:
    program = Path(__file__).with_name("synthetic.py")
    drives = [run._of_program(program, 9, number) for number in range(16)]
    theirs = detect.from_file(EXAMPLES / "detector.py")
    wrong = [not all(judge.judged(drive, theirs(drive)).right.values()) for drive in drives]
    assert sum(wrong) > 2


def test_the_guide_names_every_key_of_both_interfaces() -> None:
    guide = (ROOT / "docs" / "guides" / "blind.md").read_text()
    document = runpy.run_path(str(EXAMPLES / "generator.py"))["generate"](1, 0)
    keys = [*document, *(f"truth.{key}" for key in document["truth"])]
    keys += ["cache_bytes", "fold_bytes", "bound_bytes", "plateaus", "cache"]
    assert [key for key in keys if key != "truth" and f"`{key}`" not in guide] == []


def test_few_wrong_of_few_leave_a_share_open() -> None:
    """Closed forms: none of n, and the exact bound of two of 110."""
    assert judge.at_most(0, 22) == pytest.approx(1 - 0.05 ** (1 / 22), abs=1e-6)
    assert judge.at_most(2, 110) == pytest.approx(0.0562, abs=5e-4)
