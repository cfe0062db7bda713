"""The laboratory: flashtwin held against published figures, closed forms and drawn drives.

It belongs to a checkout and not to the wheel. `flashtwin blind` and `flashtwin validate` come from
here by entry points, `make` has the makers of what ships, and `validate` is for programs. It
imports flashtwin; flashtwin never imports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtwin.api.progress import Progress
    from flashtwin_lab.validation.validate import Validation


def validate(
    *drives: str,
    seed: int = 1,
    sets: Mapping[str, object] | Sequence[str] | None = None,
    progress: Progress = None,
) -> Validation:
    """Hold twins against what was published of their drives: what `flashtwin validate` does.

    `rows` of the answer have the published value, the one that was found, its error and a verdict;
    `missed` counts what nobody has explained. Comparisons of two drives need both.
    """
    from flashtwin.api.progress import progress_shown
    from flashtwin.api.twin import as_sets
    from flashtwin_lab.validation.validate import validate as judged

    return judged(drives, partial(progress_shown, progress, None), seed=seed, sets=as_sets(sets))
