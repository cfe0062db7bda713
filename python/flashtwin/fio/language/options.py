"""What a row of the option table says, and the rows of the options that do something on a twin.

Those are the options that decide which requests a job makes, and when; and those that decide what
is reported: groups, percentiles, logs, units.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from flashtwin.fio.language.kinds import (
    Choice,
    Directions,
    Flag,
    Kind,
    Names,
    Prefix,
    Real,
    Reals,
    Size,
    Text,
    Time,
    TimeRange,
    Whole,
)
from flashtwin.fio.language.patterns import (
    Distribution,
    DistributionKind,
    FileSizeKind,
    Pattern,
    PatternKind,
    RangeKind,
    Service,
    ServiceKind,
    SplitKind,
    ThresholdKind,
)


class Role(Enum):
    """What an option does on a simulated drive."""

    STREAM = "changes the requests"
    OUTPUT = "changes what is reported"
    SILENT = "no effect"
    NOTED = "no effect, with a note"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option: `says` is what it does here, why it does nothing, or why it is refused.

    `inert` are values at which a noted or refused option says or refuses nothing, as fio's own
    defaults. `engines` names the engines that an option belongs to; fio knows it under no other.
    """

    name: str
    kind: Kind
    role: Role
    says: str
    aliases: tuple[str, ...] = ()
    default: Any = None
    inert: tuple[Any, ...] = ()
    engines: tuple[str, ...] = ()


_UINT = 2**32 - 1


def row(
    role: Role,
    name: str,
    kind: object,
    says: str,
    default: object = None,
    *aliases: str,
    inert: tuple[object, ...] = (),
    engines: tuple[str, ...] = (),
) -> Option:
    """A row of the table."""
    return Option(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        role=role,
        says=says,
        aliases=aliases,
        default=default,
        inert=inert,
        engines=engines,
    )


def _stream(name: str, kind: object, says: str, default: object = None, *aliases: str) -> Option:
    return row(Role.STREAM, name, kind, says, default, *aliases)


def _output(name: str, kind: object, says: str, default: object = None, *aliases: str) -> Option:
    return row(Role.OUTPUT, name, kind, says, default, *aliases)


_BARE = Flag(bare=True)
_PAIRS = Directions(each=Whole(most=_UINT))

STREAM = (
    _stream("rw", PatternKind(), "pattern and directions", Pattern(rw="read"), "readwrite"),
    _stream(
        "bs",
        Directions(each=Whole(least=1, name="size")),
        "block size",
        (4096, 4096, 4096),
        "blocksize",
    ),
    _stream(
        "ba",
        Directions(each=Whole(least=1, name="size")),
        "grain of random offsets, the block size if not given",
        None,
        "blockalign",
    ),
    _stream("bsrange", RangeKind(), "block sizes drawn from a range", None, "blocksize_range"),
    _stream("bssplit", SplitKind(), "block sizes drawn with given shares"),
    _stream(
        "bs_unaligned",
        _BARE,
        "sizes of bsrange need not be multiples of the least",
        False,
        "blocksize_unaligned",
    ),
    _stream("bs_is_seq_rand", Flag(), "bs is for sequential, random requests", False),
    _stream(
        "iodepth", Whole(least=1, most=_UINT), "requests kept outstanding; 1 in a sync engine", 1
    ),
    _stream(
        "iodepth_batch",
        Whole(most=_UINT),
        "requests handed over at a time",
        1,
        "iodepth_batch_submit",
    ),
    _stream(
        "iodepth_batch_complete_min",
        Whole(most=_UINT),
        "completions waited for at a time",
        1,
        "iodepth_batch_complete",
    ),
    _stream("iodepth_batch_complete_max", Whole(most=_UINT), "completions taken at a time", 0),
    _stream("iodepth_low", Whole(most=_UINT), "how far the queue drains before it is filled", 0),
    _stream("serialize_overlap", Flag(), "requests that overlap wait for one another", False),
    _stream(
        "ioengine",
        Text(),
        "a synchronous engine keeps one request outstanding, whatever iodepth says; else no effect",
        "psync",
    ),
    _stream(
        "numjobs", Whole(least=1, most=_UINT), "copies of the job, each with its own stream", 1
    ),
    _stream("size", Size(), "bytes of all files together; 100% is the whole target"),
    _stream("io_size", Size(), "bytes to ask for, more or fewer than size", None, "io_limit"),
    _stream("filesize", FileSizeKind(), "bytes of each file"),
    _stream("fill_device", Flag(), "without a size: the whole target", False, "fill_fs"),
    _stream("offset", Size(), "where in the file it begins", 0, "fileoffset"),
    _stream("offset_increment", Size(), "added to offset for each copy of numjobs", 0),
    _stream("offset_align", Whole(most=_UINT), "grain to which an offset in percent is raised", 0),
    _stream("number_ios", Whole(), "requests after which the job ends", 0),
    _stream("loops", Whole(most=_UINT), "how often the job is repeated", 1),
    _stream("runtime", Time(), "time after which the job ends", 0, "timeout"),
    _stream("time_based", _BARE, "goes on over size until runtime is over", False),
    _stream("ramp_time", Time(), "beginning that is left out of the results", 0),
    _stream("startdelay", TimeRange(), "the job begins so much later; drawn from a range", (0, 0)),
    _stream("rwmixread", Whole(most=100), "reads in a hundred of a mix", 50),
    _stream("rwmixwrite", Whole(most=100), "writes in a hundred of a mix", 50),
    _stream("rw_sequencer", Choice(words=("sequential", "identical")), "with rw=…:N", "sequential"),
    _stream(
        "percentage_random",
        Directions(each=Whole(most=100, name="percentage")),
        "random requests in a hundred of a random job",
        (100, 100, 100),
    ),
    _stream(
        "random_distribution",
        DistributionKind(),
        "how random offsets are spread",
        Distribution(name="random"),
    ),
    _stream("norandommap", _BARE, "random blocks may come again before all were asked for", False),
    _stream("softrandommap", Flag(), "goes on without a map where there is no room for one", False),
    _stream(
        "random_generator",
        Choice(words=("tausworthe", "lfsr", "tausworthe64")),
        "the generator is the twin's own; lfsr too visits each block once",
        "tausworthe",
    ),
    _stream("randrepeat", Flag(), "each pass draws the same again; --seed chooses what", True),
    _stream("allrandrepeat", Flag(), "a twin repeats what it draws: --seed chooses", False),
    _stream("randseed", Whole(), "seed of the job's streams, which go on from pass to pass", 0x89),
    _stream("filename", Names(), "files; a path of /dev or the target's own is the whole target"),
    _stream("directory", Text(), "part of the files' names; nothing is made there"),
    _stream(
        "filename_format",
        Text(),
        "names of files that are not named",
        "$jobname.$jobnum.$filenum",
    ),
    _stream("nrfiles", Whole(most=_UINT), "files that share size", 1, "nr_files"),
    _stream("openfiles", Whole(most=_UINT), "files that are open at once, all if not given", 0),
    _stream("file_service_type", ServiceKind(), "which file is next", Service(name="roundrobin")),
    _stream("zonesize", Whole(), "bytes asked for in a zone before the next one", 0),
    _stream("zonerange", Whole(), "how long a zone is, zonesize if not given", 0),
    _stream("zoneskip", Whole(), "the gap behind a zone", 0),
    _stream("rate", _PAIRS, "bytes a second at most", None),
    _stream("rate_min", _PAIRS, "ends with an error below so many bytes a second", None, "ratemin"),
    _stream("rate_iops", _PAIRS, "requests a second at most", None),
    _stream("rate_iops_min", _PAIRS, "ends with an error below so many requests a second", None),
    _stream(
        "rate_process",
        Choice(words=("linear", "poisson")),
        "requests of rate evenly, or as a Poisson process",
        "linear",
    ),
    _stream(
        "rate_cycle",
        Whole(most=_UINT, name="milliseconds"),
        "over how long rate_min is taken",
        1000,
        "ratecycle",
    ),
    _stream("rate_ignore_thinktime", Flag(), "the rate does not catch up after thinktime", False),
    _stream("thinktime", Time(unit="us"), "pause between blocks of requests", 0),
    _stream("thinktime_spin", Time(unit="us"), "part of thinktime spent busily: the same here", 0),
    _stream("thinktime_blocks", Whole(most=_UINT), "requests between two pauses", 1),
    _stream(
        "thinktime_blocks_type",
        Choice(words=("complete", "issue")),
        "whether completed or issued requests are counted",
        "complete",
    ),
    _stream("thinktime_iotime", Time(), "time of requests after which a pause comes", 0),
    _stream("flow", Whole(most=1000), "requests in proportion to those of other jobs", 0),
    _stream("flow_id", Whole(most=_UINT), "which jobs share a flow", 0),
    _stream(
        "flow_sleep", Whole(name="microseconds"), "pause of a job that is ahead of its flow", 0
    ),
    _stream(
        "do_verify", Flag(), "with verify: passes end as if what is written were read back", True
    ),
    _stream("fsync", Whole(most=_UINT), "a flush after every so many writes", 0),
    _stream("fdatasync", Whole(most=_UINT), "a flush after every so many writes", 0),
    _stream("end_fsync", Flag(), "a flush at the end", False),
    _stream("fsync_on_close", Flag(), "a flush as each file is closed", False),
    _stream(
        "sync",
        Choice(words=("none", "sync", "dsync"), others=(("0", "none"), ("1", "sync"))),
        "each write counts when it is on flash",
        "none",
    ),
    _stream("zero_buffers", _BARE, "data that compresses away", False),
    _stream("refill_buffers", _BARE, "fresh data for each write: always so on a twin", False),
    _stream(
        "buffer_compress_percentage",
        Whole(most=100, name="percentage"),
        "how compressible the data is",
        0,
    ),
    _stream("stonewall", _BARE, "waits for all jobs before it", False, "wait_for_previous"),
    _stream("wait_for", Text(), "waits for a named job"),
    _stream("exitall", _BARE, "the others end with the first job", False),
    _stream("exit_what", Choice(words=("group", "stonewall", "all")), "what exitall ends", "group"),
    _stream("exitall_on_error", _BARE, "the others end with the first error", False),
    _stream("steadystate", ThresholdKind(), "ends once rates are steady", None, "ss"),
    _stream(
        "steadystate_duration",
        Time(),
        "window over which steadystate is judged",
        0,
        "ss_dur",
    ),
    _stream(
        "steadystate_ramp_time",
        Time(),
        "beginning that steadystate leaves out",
        0,
        "ss_ramp",
    ),
    _stream(
        "max_latency", Directions(each=Time(unit="us")), "ends with an error above this latency"
    ),
    _stream(
        "latency_target", Time(unit="us"), "finds the deepest queue that keeps this latency", 0
    ),
    _stream("latency_window", Time(unit="us"), "over how long latency_target is judged", 0),
    _stream(
        "latency_percentile",
        Real(least=0, most=100),
        "share of requests that must keep latency_target",
        100.0,
    ),
    _stream("latency_run", Flag(), "goes on after latency_target was found", False),
    _stream("create_only", Flag(), "only makes the files: the job asks for nothing", False),
    _stream("read_iolog", Text(), "replays a trace"),
    _stream("replay_no_stall", Flag(), "replays as fast as possible", False),
    _stream(
        "replay_time_scale",
        Whole(least=1, name="percentage"),
        "scales the times of a trace",
        100,
    ),
    _stream("replay_scale", Whole(most=_UINT), "divides the offsets of a trace", 1),
    _stream(
        "replay_align",
        Whole(least=1, power=True, name="size"),
        "grain of the offsets of a trace",
        0,
    ),
    _stream("replay_skip", Text(), "directions of a trace that are left out"),
    _stream("replay_redirect", Text(), "device of a trace; here it is always the target"),
)


PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)


OUTPUT = (
    _output("name", Text(), "the job's name"),
    _output("description", Text(), "printed beside the name"),
    _output("group_reporting", _BARE, "one result for all jobs of a group", False),
    _output("new_group", _BARE, "a new group of results begins", False),
    _output("stats", Flag(), "0 leaves the job out of the results", True),
    _output("clat_percentiles", Flag(), "percentiles of completion latency", True),
    _output("lat_percentiles", Flag(), "percentiles of total latency", False),
    _output("slat_percentiles", Flag(), "percentiles of submission latency", False),
    _output(
        "percentile_list",
        Reals(least=0, most=100),
        "which percentiles",
        tuple(float(one) for one in PERCENTILES),
    ),
    _output("significant_figures", Whole(least=1, most=10), "digits of the normal output", 4),
    _output("disable_lat", Flag(), "leaves out total latency", False),
    _output("disable_clat", Flag(), "leaves out completion latency", False),
    _output("disable_slat", Flag(), "leaves out submission latency", False),
    _output(
        "disable_bw_measurement",
        Flag(),
        "leaves out bandwidth samples of single requests",
        False,
        "disable_bw",
    ),
    _output("gtod_reduce", Flag(), "leaves out latencies, as fio does", False),
    _output(
        "unified_rw_reporting",
        Choice(
            words=("none", "mixed", "both"), others=(("0", "none"), ("1", "mixed"), ("2", "both"))
        ),
        "one result for all directions",
        "none",
    ),
    _output("bwavgtime", Whole(most=_UINT), "milliseconds a bandwidth sample", 500),
    _output("iopsavgtime", Whole(most=_UINT), "milliseconds a sample of requests", 500),
    _output("write_bw_log", Prefix(), "writes a bandwidth log"),
    _output("write_lat_log", Prefix(), "writes latency logs"),
    _output("write_iops_log", Prefix(), "writes a log of requests a second"),
    _output("write_hist_log", Prefix(), "writes a log of latency histograms"),
    _output("write_iolog", Text(), "writes the requests as an iolog"),
    _output("per_job_logs", Flag(), "a log a copy of the job", True),
    _output("log_avg_msec", Whole(most=_UINT), "milliseconds a row of a log", 0),
    _output("log_hist_msec", Whole(most=_UINT), "milliseconds a row of the histogram log", 0),
    _output("log_hist_coarseness", Whole(most=6), "halves the bins of the histogram log", 0),
    _output("log_max_value", Flag(), "rows hold the greatest value and not the mean", False),
    _output("log_offset", Flag(), "rows hold offsets", False),
    _output("log_prio", Flag(), "rows hold the priority, which is 0", False),
    _output(
        "log_unix_epoch",
        Flag(),
        "times count from the beginning of the run, which is a twin's 1970",
        False,
    ),
    _output("log_alternate_epoch", Flag(), "times count from the beginning of the run", False),
    _output(
        "log_alternate_epoch_clock_id",
        Whole(most=_UINT),
        "every clock of a twin begins with the run",
        0,
    ),
    _output(
        "kb_base",
        Choice(words=("1024", "1000")),
        "what k means in what follows, and which prefixes are printed",
        "1024",
    ),
    _output("unit_base", Choice(words=("0", "8", "1")), "prints bytes or bits", "0"),
)
