"""`flashtwin smart`: what a drive's SMART data mean, in sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from flashtwin.cli import options, terminal
from flashtwin.drives.device import health
from flashtwin.drives.device.drive import looked_at
from flashtwin.drives.device.facts import is_device
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.inputs import parse_json, read_regular
from flashtwin.model import smart
from flashtwin.model.document import Document
from flashtwin.study.health import Sentence, explained

# smartctl -x of a drive with long logs is 200 kB.
MOST_BYTES = 8 << 20


class SmartData(Document, frozen=True):
    """flashtwin smart FILE|DEVICE --json"""

    sentences: list[Sentence]


@click.command(
    "smart",
    epilog=options.examples(
        "flashtwin smart /dev/nvme0",
        "smartctl --json --all /dev/sda > sda.json; flashtwin smart sda.json",
    ),
)
@click.argument("source", type=options.FilePath(), metavar="FILE|DEVICE")
@options.as_json
def command(source: Path, as_json: bool) -> None:
    """Explain SMART data: what was written, the wear, write amplification, years left.

    FILE is what smartctl --json or nvme smart-log --output-format=json printed; a DEVICE is asked
    by smartctl. Values that contradict each other are marked as doubtful.
    """
    rows = explained(_of_device(source) if is_device(source) else _of_file(source))
    if as_json:
        terminal.print_json(SmartData(sentences=rows))
        return
    for row in rows:
        terminal.say(f"doubtful: {row.text}" if row.about == "doubtful" else row.text)


def _of_device(path: Path) -> dict[str, Any]:
    data = health.of(looked_at(path, ()))
    if not data:
        raise FlashtwinError(
            f"{path} gives no SMART data here",
            hint=f"flashtwin doctor {path} says how to get them",
            exit_code=ENVIRONMENT,
        )
    return data


def _of_file(path: Path) -> dict[str, Any]:
    try:
        data = parse_json(read_regular(path, most_bytes=MOST_BYTES))
    except ValueError as error:
        raise FlashtwinError(
            f"{path}: {error}",
            hint="give what smartctl --json --all /dev/NAME printed",
            exit_code=USAGE,
        ) from error
    if isinstance(data, dict) and smart.is_nvme_cli(data):
        return smart.of_nvme_cli(data)
    if not isinstance(data, dict) or not smart.has_counters(data):
        raise FlashtwinError(
            f"{path} holds no SMART data",
            hint="write it with smartctl --json --all DEVICE, or nvme smart-log DEVICE"
            " --output-format=json",
            exit_code=USAGE,
        )
    return data
