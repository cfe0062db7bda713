"""What `--json` prints, of the commands that ship and of the laboratory's."""

from __future__ import annotations

from flashtwin.cli import documents
from flashtwin_lab import documents as of_the_laboratory

DOCUMENTS = {**documents.DOCUMENTS, **of_the_laboratory.DOCUMENTS}


def check(value: object, *names: str) -> None:
    """Raise `SchemaError` where a document is of none of these names."""
    documents.check(value, *(DOCUMENTS[name] for name in names))
