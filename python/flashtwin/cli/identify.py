"""`flashtwin identify`: what a device says that it is, and what nobody knows without measuring."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.catalogue import models
from flashtwin.cli import options, terminal
from flashtwin.drives.device import health
from flashtwin.drives.device.drive import looked_at
from flashtwin.drives.device.facts import is_device
from flashtwin.drives.device.refusals import refusals
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.document import Document
from flashtwin.model.units import readable_size
from flashtwin.study.health import Sentence, explained

# Questions that the label leaves open, and the battery that answers each.
OPEN = (
    ("the size and the kind of its cache", "discover"),
    ("the rate past the cache", "fill"),
    ("how much of it the map cache covers", "reach"),
    ("its write buffer", "buffer"),
)


class Identified(Document, frozen=True):
    """flashtwin identify DEVICE --json"""

    device: str
    model: str
    serial: str
    firmware: str
    capacity_bytes: int
    link: str
    labels: list[str]
    remarks: list[str]
    catalogue: str | None
    refusals: list[str]
    smart: list[Sentence]
    to_measure: list[str]


@click.command(
    "identify",
    epilog=options.examples(
        "flashtwin identify /dev/nvme0n1", "flashtwin identify /dev/sda --json"
    ),
)
@click.argument("device", type=options.FilePath(), metavar="DEVICE")
@options.as_json
def command(device: Path, as_json: bool) -> None:
    """What DEVICE says that it is: label, link, SMART data, and what the catalogue knows of it.

    It writes and stores nothing. It says why DEVICE could not be written to, and what would have
    to be measured.
    """
    if not is_device(device):
        raise FlashtwinError(
            f"{device} is no block device",
            hint="lsblk lists those of this machine",
            exit_code=USAGE,
        )
    facts = looked_at(device, [("the running system", Path("/"))])
    data = health.of(facts)
    spec = models.of_model(facts.model, facts.size_bytes)
    reasons = [refusal.reason for refusal in refusals(facts)]
    if as_json:
        terminal.print_json(
            Identified(
                device=facts.name,
                model=facts.model,
                serial=facts.serial,
                firmware=facts.firmware,
                capacity_bytes=facts.size_bytes,
                link=facts.link,
                labels=list(facts.labels),
                remarks=list(facts.remarks),
                catalogue=None if spec is None else spec.id,
                refusals=reasons,
                smart=explained(data) if data else [],
                to_measure=[battery for _, battery in OPEN],
            )
        )
        return
    model, serial = facts.words
    rows = [("device", facts.name), ("model", model), ("serial", serial)]
    rows += [("firmware", facts.firmware), ("size", readable_size(facts.size_bytes))]
    rows += [("link", facts.link), ("partitions", facts.table), ("labels", ", ".join(facts.labels))]
    rows.append(("catalogue", "not in it" if spec is None else f"{spec.id} ({spec.name})"))
    for name, text in rows:
        if text:
            terminal.say(f"{name:<11}{text}")
    for remark in facts.remarks:
        terminal.say(f"note       {remark}")
    for sentence in explained(data)[1:] if data else ():
        terminal.say(f"SMART      {sentence.text}")
    for reason in reasons:
        terminal.say(f"in use     {reason}")
    for question, battery in OPEN:
        terminal.say(f"to measure {question}: --battery {battery}")
