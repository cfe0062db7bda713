"""Drives that a drive may be: drawn over what nobody prints of it, and over what a fit left open.

What nobody prints stands in `unknowns.toml` with its range, and is drawn where a spec has it only
as a guess (origin `prior`). What a fit left open stands beside the spec that `flashtwin fit` wrote.
Invariant: a drawn drive follows from the seed and its number alone.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from flashtwin import inputs
from flashtwin._core import Spec
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.runner.target import Variant
from flashtwin.study.fit import POSTERIOR

MOST_POSTERIOR_BYTES = 1 << 24
# How often values that no drive has together are drawn again: some ten in a thousand are such.
MOST_TRIES = 32


@cache
def unknowns() -> Mapping[str, Mapping[str, Any]]:
    """The values that nobody prints, with their ranges."""
    path = Path(str(resources.files(__package__))) / "unknowns.toml"
    return inputs.read_toml(path)


def drawn(
    variant: Variant, seed: int, count: int, exists: Callable[[Variant], bool]
) -> Iterator[tuple[int, Variant]]:
    """Drives that this one may be, with a seed each: over what a fit left open of it, and over what
    nobody prints. Values that no drive can have together are drawn again."""
    guessed = {row["key"]: row for row in variant.spec().values() if row["origin"] == "prior"}
    open_keys = {key: row for key, row in unknowns().items() if key in guessed}
    fitted = posterior_of(variant)
    if fitted is not None:
        # A key that differs among the drives of the fit is not drawn by itself.
        open_keys = {key: row for key, row in open_keys.items() if key not in fitted.keys}
    if not open_keys and not fitted:
        return
    source = random.Random(seed)
    turns = {
        key: _in_turn(source, row["words"]) for key, row in open_keys.items() if "words" in row
    }
    for number in range(count):
        share = (number + 0.5) / count
        settings = () if fitted is None else tuple(fitted.at(share, variant.sets))
        tries = (
            replace(
                variant,
                sets=(*settings, *variant.sets, *_drawn_sets(source, open_keys, guessed, turns)),
            )
            for _ in range(MOST_TRIES)
        )
        other = next(filter(exists, tries), None)
        if other is None:
            raise FlashtwinError(
                f"none of {MOST_TRIES} drives that {variant.drive} may be can be made so small",
                hint="leave the drawn drives out: --draws 0",
                exit_code=USAGE,
            )
        yield seed + number + 1, other


def _in_turn(source: random.Random, words: Sequence[str]) -> Iterator[str]:
    """The words in an order that is drawn anew after the last of them: few drives have each."""
    while True:
        yield from source.sample(words, len(words))


def _drawn_sets(
    source: random.Random,
    open_keys: Mapping[str, Any],
    guessed: Mapping[str, Any],
    turns: Mapping[str, Iterator[str]],
) -> Iterator[str]:
    """Settings of one drawn drive; `turns` has the next word of each key that has words."""
    for key, row in open_keys.items():
        if key in turns:
            yield f"{key}={next(turns[key])}"
            continue
        # 90 % of a normal distribution lie within 1.645 deviations.
        factor = math.exp(source.gauss(0, math.log(row["factor"]) / 1.645))
        yield f"{key}={_times(guessed[key], factor)}"


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """The drives that a fit left possible: the run that it was fitted to, settings and weights."""

    run: str
    drives: tuple[tuple[float, Mapping[str, Any]], ...]

    @property
    def keys(self) -> frozenset[str]:
        """The keys that some drive has set."""
        return frozenset(key for _, settings in self.drives for key in settings)

    def at(self, share: float, others: Sequence[str]) -> Iterator[str]:
        """The settings of the drive below which a share of the weights lies; what was set already
        stays as it is."""
        set_before = {text.partition("=")[0] for text in others}
        passed = 0.0
        for weight, settings in self.drives:
            passed += weight
            if passed >= share:
                for key, value in settings.items():
                    if key not in set_before:
                        yield f"{key}={value if isinstance(value, str) else json.dumps(value)}"
                return


def posterior_of(variant: Variant) -> Posterior | None:
    """What `flashtwin fit` wrote beside a spec, if it did; refused where it is of another spec."""
    spec_file = Path(variant.drive)
    if spec_file.suffix != ".toml" or not spec_file.with_suffix(POSTERIOR).is_file():
        return None
    path = spec_file.with_suffix(POSTERIOR)
    try:
        document = inputs.parse_json(inputs.read_regular(path, most_bytes=MOST_POSTERIOR_BYTES))
        rows = [(float(row["weight"]), dict(row["sets"])) for row in document["drives"]]
        run, digest = str(document["run"]), document["hash"]
    except (KeyError, TypeError, ValueError) as error:
        raise FlashtwinError(
            f"{path} is not what flashtwin fit writes: {error}",
            hint="let it write the file again, or remove it",
            exit_code=USAGE,
        ) from error
    if digest != replace(variant, sets=(), firmware=(), scale=None).spec().hash:
        raise FlashtwinError(
            f"{path} belongs to another spec than {spec_file.name}",
            hint="the spec was changed since it was fitted: fit again, or remove the file",
            exit_code=USAGE,
        )
    return Posterior(run=run, drives=tuple(rows))


def _times(row: Any, factor: float) -> str:
    """A value of a spec times a factor, with its unit."""
    number, _, unit = str(row["value"]).partition(" ")
    value = float(number) * factor
    return f"{max(value, 1):.0f} {unit}".strip()


def assumed(spec: Spec) -> list[str]:
    """The values that were drawn because nobody printed them, by their names."""
    guessed = {row["key"] for row in spec.values() if row["origin"] == "prior"}
    return [row["title"] for key, row in unknowns().items() if key in guessed]
