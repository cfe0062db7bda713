"""SMART data in the form of `smartctl --json`: what is in them, wherever they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# Where the OCP log of a drive is kept beside what smartctl prints.
OCP = "ocp_smart_log"
NVME, ATA = "nvme_smart_health_information_log", "ata_smart_attributes"
_KELVIN = 273
# nvme-cli's names of the log that smartctl calls otherwise.
_OF_NVME_CLI = {
    "avail_spare": "available_spare",
    "spare_thresh": "available_spare_threshold",
    "percent_used": "percentage_used",
    "host_read_commands": "host_reads",
    "host_write_commands": "host_writes",
}


def has_counters(data: Mapping[str, Any]) -> bool:
    """Whether there is a table of attributes or a log in it."""
    return isinstance(data.get(NVME), dict) or isinstance(data.get(ATA), dict)


def is_nvme_cli(data: Mapping[str, Any]) -> bool:
    """Whether it is `nvme smart-log --output-format=json`."""
    return "critical_warning" in data and "data_units_written" in data


def of_nvme_cli(data: Mapping[str, Any], model: str = "", firmware: str = "") -> dict[str, Any]:
    """nvme-cli's log in smartctl's form."""
    log = {_OF_NVME_CLI.get(key, key): plain(value) for key, value in data.items()}
    # Some versions print a warning's bits one by one.
    if isinstance(log.get("critical_warning"), dict):
        log["critical_warning"] = plain(log["critical_warning"].get("value", 0))
    kelvin = log.get("temperature")
    if isinstance(kelvin, int) and kelvin > _KELVIN - 100:
        log["temperature"] = kelvin - _KELVIN
    names = {"model_name": model, "firmware_version": firmware}
    return {NVME: log, **{key: value for key, value in names.items() if value}}


def plain(value: Any) -> Any:
    """A number as a number: nvme-cli prints those of 128 bits as text, some with separators."""
    if isinstance(value, str) and value.replace(",", "").isdecimal():
        return int(value.replace(",", ""))
    return value


def raw_values(data: Mapping[str, Any]) -> dict[int, int]:
    """The raw values of ATA's attributes by their numbers; a row of another program says nothing,
    nor does a number that no attribute can have."""
    return {
        number: raw["value"]
        for number, row in _rows(data)
        if isinstance(raw := row.get("raw"), dict) and _is_count(raw.get("value"))
    }


def normalized(data: Mapping[str, Any]) -> dict[int, int]:
    """What makers make of ATA's attributes, usually 100 on a new drive."""
    return {number: row["value"] for number, row in _rows(data) if _is_count(row.get("value"))}


def _rows(data: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    attributes = data.get(ATA)
    table = attributes.get("table") if isinstance(attributes, dict) else None
    for row in table if isinstance(table, list) else ():
        if isinstance(row, dict) and _is_count(row.get("id")):
            yield row["id"], row


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def names(data: Mapping[str, Any]) -> str:
    """The model and, where smartctl knows it, its family, on a line each."""
    words = (data.get("model_name"), data.get("model_family"))
    return "\n".join(word for word in words if isinstance(word, str))
