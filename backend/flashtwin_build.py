"""The build backend of pyproject.toml is maturin's, which finds the scripts of the charts made.

pip and uv call these hooks (PEP 517) with what `[build-system]` requires at hand.
"""

from __future__ import annotations

from typing import Any

import commit
import maturin
import page_scripts
from maturin import (
    get_requires_for_build_editable as get_requires_for_build_editable,
)
from maturin import (
    get_requires_for_build_sdist as get_requires_for_build_sdist,
)
from maturin import (
    get_requires_for_build_wheel as get_requires_for_build_wheel,
)
from maturin import (
    prepare_metadata_for_build_editable as prepare_metadata_for_build_editable,
)
from maturin import (
    prepare_metadata_for_build_wheel as prepare_metadata_for_build_wheel,
)


def build_wheel(*given: Any, **more: Any) -> str:
    """A wheel with the scripts in it."""
    page_scripts.make()
    with commit.written():
        name: str = maturin.build_wheel(*given, **more)
    return name


def build_editable(*given: Any, **more: Any) -> str:
    """An editable install of a checkout that has the scripts."""
    page_scripts.make()
    name: str = maturin.build_editable(*given, **more)
    return name


def build_sdist(*given: Any, **more: Any) -> str:
    """A source archive; who builds from it makes the scripts."""
    with commit.written():
        name: str = maturin.build_sdist(*given, **more)
    return name
