"""Drives behind one protocol: twins, files measured with fio, and whatever a user writes.

`flashtwin.drives()` lists the catalogue. The call and this package have one name, and Python puts a
package into its parent once it is imported, whatever stood there; so the package can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtwin.catalogue.summary import Summaries


class _Drives(ModuleType):
    def __call__(self) -> Summaries:
        from flashtwin.catalogue.summary import summaries

        return summaries()


sys.modules[__name__].__class__ = _Drives
