"""What a user types after --battery, and what is said when it cannot be."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from fakes import FakeDrive

from flashtwin.batteries.base import registry
from flashtwin.cli.app import app
from flashtwin.errors import FlashtwinError


def plain(text: str) -> list[tuple[str, dict[str, object]]]:
    return [(one.name, one.plain()) for one in registry.parse(text)]


def test_names_alone_have_their_defaults() -> None:
    (name, fill), (other, cdm) = plain("fill,crystaldiskmark")
    assert (name, other) == ("fill", "crystaldiskmark")
    assert fill == {
        "patterns": ["128k-q32", "1m-q1"],
        "passes": 2,
        "idle_s": None,
        "sample_s": None,
        "host_us": 5.0,
    }
    assert cdm == {
        "profile": "article",
        "size": None,
        "loops": None,
        "mix": 70,
        "variant": "cdm",
        "fill_percent": 0.0,
        "settle_s": 600.0,
        "host_us": 30.0,
    }


def test_values_with_units_lists_and_a_second_battery() -> None:
    (_, fill), (_, cdm) = plain(
        "fill:patterns=64k-q8+1m-q1,idle_s=10m,sample_s=250ms, crystaldiskmark:size=4GB,mix=off"
    )
    assert fill["patterns"] == ["64k-q8", "1m-q1"]
    assert (fill["idle_s"], fill["sample_s"]) == (600.0, 0.25)
    assert (cdm["size"], cdm["mix"]) == (4 * 10**9, None)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("fil", "there is no battery 'fil' (did you mean fill?)", "dispersion, fill"),
        ("", "there is no battery ''", "fill"),
        ("fill:pattern=1m-q1", "no parameter pattern (did you mean patterns?)", "fill takes"),
        ("fill:zzz=1", "fill has no parameter zzz", "patterns, passes, idle_s"),
        ("fill:patterns=128-q1", "patterns=128-q1 is not patterns", "128k-q32"),
        ("fill:patterns=1m-q1+1m-q1", "is not patterns", "once"),
        ("fill:passes=0", "passes=0 is not a whole number from 1 to 9", "from 1 to 9"),
        ("fill:passes=two", "passes=two is not", "whole number"),
        ("fill:passes=٣", "passes=٣ is not", "whole number"),
        ("fill:passes=0_3", "passes=0_3 is not", "whole number"),
        (f"fill:passes={'9' * 5000}", "passes=9999", "whole number"),
        ("fill:idle_s=soon", "idle_s=soon is not a time", "10m"),
        ("fill:idle_s=99999999h", "idle_s=99999999h is not a time", "at most 10 years"),
        ("fill:sample_s=0", "sample_s=0 is not a time from 1ms to 1h", "from 1ms to 1h"),
        ("power:sample_s=2h", "sample_s=2h is not a time from 1ms to 1h", "from 1ms to 1h"),
        ("fill:host_us=-1", "host_us=-1 is not a number", "from 0"),
        ("fill:host_us=nan", "host_us=nan is not a number", "from 0"),
        ("fill:passes", "'passes' is not key=value", "key=value"),
        ("fill:passes=", "'passes=' is not key=value", "key=value"),
        ("fill:passes=1,passes=2", "passes is set twice", "key=value"),
        ("passes=1", "sets passes before it names a battery", "key=value"),
        ("fill,fill", "fill is asked for twice", "once"),
        ("crystaldiskmark:size=4G", "size=4G is not a size", "4GB for powers of 1000"),
        ("crystaldiskmark:size=big", "size=big is not a size", "4GB"),
        ("crystaldiskmark:profile=nvm", "profile=nvm is not one of", "did you mean nvme?"),
        ("crystaldiskmark:mix=100", "mix=100 is not", "from 1 to 99"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_write(text: str, message: str, hint: str) -> None:
    with pytest.raises(FlashtwinError) as error:
        registry.parse(text)
    assert message in error.value.message
    assert hint in (error.value.hint or "")
    assert error.value.exit_code == 2
    assert not error.value.message.endswith(".")


def test_values_need_no_text() -> None:
    request = registry.request("crystaldiskmark", {"loops": 4, "size": 2**30, "mix": None})
    assert (request.parameters.loops, request.parameters.mix) == (4, None)
    assert registry.request("crystaldiskmark", request.parameters) == request
    with pytest.raises(FlashtwinError, match="loops=99"):
        registry.request("crystaldiskmark", {"loops": 99})
    with pytest.raises(FlashtwinError, match="loops=True"):
        registry.request("crystaldiskmark", {"loops": True})


def test_every_battery_can_be_listed_and_takes_its_own_defaults_back() -> None:
    for name in registry.names():
        battery = registry.get(name)
        rows = battery.rows()
        assert battery.name == name and battery.title and battery.trust in "SPM"
        assert all(row.type and row.default and row.meaning for row in rows)
        again = registry.request(name, {row.name: row.default for row in rows})
        assert again == registry.request(name)


def test_what_departs_is_said() -> None:
    def departs(text: str, drive: FakeDrive) -> str:
        (request,) = registry.parse(text)
        return " | ".join(request.battery.departures(request.parameters, drive.info))

    twin, file = FakeDrive(), FakeDrive(kind="file")
    assert "30 µs a command" in departs("crystaldiskmark", twin)
    assert "filled to 50 %" in departs("crystaldiskmark:fill_percent=50", twin)
    assert "fio on Linux" in departs("crystaldiskmark", file)
    assert "KDiskMark" in departs("crystaldiskmark:variant=kdiskmark", file)
    assert "µs a command" not in departs("fill", file)
    assert "fills a file" in departs("fill", file)


def test_what_runs_where_no_battery_is_named() -> None:
    assert registry.standard() == ["fill", "crystaldiskmark"]
    rows = json.loads(CliRunner().invoke(app, ["batteries", "--json"]).stdout)["batteries"]
    assert {row["name"] for row in rows if row["standard"]} == {"fill", "crystaldiskmark"}
