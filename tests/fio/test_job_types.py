"""The types of fio's job are those of the core, where they are declared."""

from __future__ import annotations

from flashtwin_lab.make import fio_job as maker

AGAIN = "make it again: .venv/bin/python -m flashtwin_lab.make.fio_job"


def test_the_types_are_made_of_their_declarations() -> None:
    assert maker.MODULE.read_text() == maker.module(), AGAIN


def test_all_of_a_job_is_declared_and_no_default_is_lost() -> None:
    known = maker.items()
    assert known["Fio"].kind == "struct" and known["Format"].kind == "enum"
    text = maker.module()
    assert "    cycle_ns: int = 1_000_000_000\n" in text
    assert '    event: str = "D"\n' in text and "    blocks: int | None = 1\n" in text
    assert "    uses: tuple[bool, bool, bool] = (True, True, True)\n" in text
