"""What becomes of each option where fio itself runs the jobs: on a path, on files of our own.

fio's options reach far beyond the file under test: they overwrite other files (`mem=mmapshared:`),
change the host (`ioscheduler`), start programs (`exec_prerun`), pin memory (`lockmem`). So nothing
is passed on because it is not known to do harm. An option is passed on because somebody looked at
what fio does with it and wrote it down here; one that is not listed is refused. Invariants:

- fio gets a line that we print from the typed value, never the text of a job file;
- text is passed on only where all of it follows a grammar that has no `$`, `;`, `#`, `\\` or
  control character, and no path: those are what fio reads within a value;
- every row of the option table is ruled upon (`tests/fio/test_on_path.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from flashtwin.fio.language.options import Option
from flashtwin.fio.language.table import ROWS

# Engines that reach a file by its name.
LOCAL = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "libaio", "io_uring", "posixaio")


class Fate(Enum):
    """What becomes of an option."""

    PASSED = "passed on"
    OURS = "set by flashtwin"
    LOG = "moved"
    LEFT_OUT = "left out, with a note"
    REFUSED = "refused"
    HARMFUL = "refused for safety"


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """The fate of an option, and why.

    `only`: the values that are passed on where all others are refused. `grammar`: what text that is
    passed on has to match.
    """

    fate: Fate
    says: str = ""
    only: tuple[Any, ...] = ()
    grammar: str | None = None


_CPUS = r"[0-9,:-]+"
_NODES = r"[0-9,-]+"
# What is written for a reader: no character that fio reads, and short of the lines that fio takes.
PLAIN = r"(?! )(?:(?![$;#\\])[^\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029])+(?<! )"
# Numbers and text; between single quotes fio would read a file of that name.
_BYTES = r'(?:[0-9a-fA-FxX-]|%o|"[A-Za-z0-9 ._-]*")+'

_FILES = "the files are made, filled and removed by flashtwin"
_NO_TRACE = "does nothing without a trace"
_NO_ZONES = "belongs to zonemode=zbd, and a file has no zones"
_NO_CGROUP = "does nothing without cgroup"
_PROFILE = "belongs to a profile, and does nothing alone"
_DROPPED = "fio dropped it"
_MERGE = "reads and writes the files that it names"
_GROUPS = "fio would run as somebody else, whom flashtwin may not end"

# The requests of a job and when they come, what is counted and told of them, how the host hands
# them over: numbers, words and grammars of their own, which reach the file under test alone.
_PASSED = """
rw bs ba bsrange bssplit bs_unaligned bs_is_seq_rand iodepth iodepth_batch
iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low serialize_overlap numjobs size
io_size filesize offset offset_increment offset_align number_ios loops runtime time_based ramp_time
startdelay rwmixread rwmixwrite rw_sequencer percentage_random random_distribution norandommap
softrandommap random_generator randrepeat allrandrepeat randseed file_service_type zonesize
zonerange zoneskip rate rate_min rate_iops rate_iops_min rate_process rate_cycle
rate_ignore_thinktime thinktime thinktime_spin thinktime_blocks thinktime_blocks_type
thinktime_iotime flow flow_id flow_sleep fsync fdatasync end_fsync fsync_on_close sync zero_buffers
refill_buffers buffer_compress_percentage buffer_compress_chunk scramble_buffers dedupe_mode
dedupe_percentage dedupe_working_set_percentage dedupe_global stonewall exitall exit_what
exitall_on_error steadystate steadystate_duration steadystate_ramp_time max_latency latency_target
latency_window latency_percentile latency_run create_only

group_reporting new_group stats clat_percentiles lat_percentiles slat_percentiles percentile_list
significant_figures disable_lat disable_clat disable_slat disable_bw_measurement gtod_reduce
unified_rw_reporting bwavgtime iopsavgtime per_job_logs log_avg_msec log_hist_msec
log_hist_coarseness log_max_value log_offset log_prio log_unix_epoch log_alternate_epoch
log_alternate_epoch_clock_id log_entries log_compression log_store_compressed kb_base unit_base
disk_util error_dump continue_on_error block_error_percentiles

direct buffered invalidate fadvise_hint pre_read atomic write_hint overwrite openfiles lockfile
create_serialize create_fsync io_submit_mode cpumask cpus_allowed_policy nice prio prioclass
iomem_align hugepage-size clocksource gtod_cpu

verify do_verify verify_interval verify_offset verify_fatal verify_async verify_backlog
verify_backlog_batch experimental_verify

hipri hipri_percentage uncached nowait userspace_reap cmdprio_percentage cmdprio_class cmdprio
fixedbufs registerfiles sqthread_poll sqthread_poll_cpu nonvectored force_async thp
"""


def _text(grammar: str, says: str = "") -> Ruling:
    return Ruling(fate=Fate.PASSED, grammar=grammar, says=says)


def _left(says: str) -> Ruling:
    return Ruling(fate=Fate.LEFT_OUT, says=says)


def _ours(says: str = _FILES) -> Ruling:
    return Ruling(fate=Fate.OURS, says=says)


def _refused(says: str, *only: Any) -> Ruling:
    return Ruling(fate=Fate.REFUSED, says=says, only=only)


def _harmful(says: str, *only: Any) -> Ruling:
    return Ruling(fate=Fate.HARMFUL, says=says, only=only)


def _log(says: str) -> Ruling:
    return Ruling(fate=Fate.LOG, says=says)


_RULED: dict[str, Ruling] = {
    **{name: Ruling(fate=Fate.PASSED) for name in _PASSED.split()},
    # Text with a closed grammar.
    "name": _text(PLAIN),
    "description": _text(PLAIN),
    "wait_for": _text(PLAIN),
    "cpus_allowed": _text(_CPUS),
    "log_compression_cpus": _text(_CPUS),
    "verify_async_cpus": _text(_CPUS),
    "numa_cpu_nodes": _text(rf"all|{_NODES}"),
    "numa_mem_policy": _text(rf"(?:default|local|prefer|bind|interleave)(?::{_NODES})?"),
    "sync_file_range": _text(r"(?:(?:wait_before|write|wait_after)(?::[0-9]+)?,?)+"),
    "ignore_error": _text(r"[A-Z0-9,:]+"),
    "cmdprio_bssplit": _text(r"[0-9kKmMgGiIbB/:,]+"),
    "buffer_pattern": _text(_BYTES, "numbers and text; no file is read"),
    "verify_pattern": _text(_BYTES, "numbers and text; no file is read"),
    # A choice of which some reach further.
    "ioengine": Ruling(fate=Fate.REFUSED, says="only engines of files are passed on", only=LOCAL),
    "mem": _harmful(
        "all but plain memory is a file, a device or outlives fio",
        "malloc",
        "mmap",
        "mmapshared",
        "mmaphuge",
    ),
    "zonemode": _refused(_NO_ZONES, "none", "strided"),
    # Decided here.
    "filename": _ours("fio sees names of ours, which lead to files of ours"),
    "directory": _ours("fio sees names of ours, which lead to files of ours"),
    "filename_format": _ours("fio sees names of ours, which lead to files of ours"),
    "nrfiles": _ours("as many as the job has names"),
    "thread": _ours("always 1: jobs that are processes of their own would outlive fio"),
    "allow_file_create": _ours(),
    "fallocate": _ours(),
    "unlink": _ours(),
    "unlink_each_loop": _ours(),
    "create_on_open": _ours(),
    "allow_mounted_write": _ours("always 0: nothing but files is written to"),
    "verify_state_save": _ours("always 0: its file would go with fio's directory"),
    # Written into fio's own directory.
    "write_bw_log": _log("written in a directory of fio's own, then moved"),
    "write_lat_log": _log("written in a directory of fio's own, then moved"),
    "write_iops_log": _log("written in a directory of fio's own, then moved"),
    "write_hist_log": _log("written in a directory of fio's own, then moved"),
    "write_iolog": _log("written in a directory of fio's own, then moved"),
    # Nothing is lost without them.
    "exec_prerun": _left("commands of a job file are never executed"),
    "exec_postrun": _left("commands of a job file are never executed"),
    "cgroup_weight": _left(_NO_CGROUP),
    "cgroup_nodelete": _left(_NO_CGROUP),
    "unique_filename": _left("belongs to jobs of other machines"),
    "read_iolog_chunked": _left(_NO_TRACE),
    "replay_no_stall": _left(_NO_TRACE),
    "replay_time_scale": _left(_NO_TRACE),
    "replay_scale": _left(_NO_TRACE),
    "replay_align": _left(_NO_TRACE),
    "replay_skip": _left(_NO_TRACE),
    "replay_redirect": _left(_NO_TRACE),
    "verify_dump": _left("its files would go with fio's directory"),
    "verifysort": _left(_DROPPED),
    "verifysort_nr": _left(_DROPPED),
    "flow_watermark": _left(_DROPPED),
    "write_barrier": _left("no engine of fio's does anything for it"),
    "trim_percentage": _left("does nothing without trim_backlog"),
    "trim_verify_zero": _left("belongs to trim_backlog"),
    "trim_backlog_batch": _left("belongs to trim_backlog"),
    "read_beyond_wp": _left(_NO_ZONES),
    "max_open_zones": _left(_NO_ZONES),
    "job_max_open_zones": _left(_NO_ZONES),
    "ignore_zone_limits": _left(_NO_ZONES),
    "zone_reset_threshold": _left(_NO_ZONES),
    "zone_reset_frequency": _left(_NO_ZONES),
    "zonecapacity": _left(_NO_ZONES),
    "threads": _left(_PROFILE),
    "dir": _left(_PROFILE),
    "block": _left(_PROFILE),
    "numruns": _left(_PROFILE),
    # Another stream than the one that was asked for, or none.
    "verify_state_load": _refused("there is no state of an earlier run", False),
    "verify_only": _refused("the file is new, and holds nothing to verify", False),
    "trim_backlog": _refused("a regular file takes no TRIM", 0),
    "merge_blktrace_scalars": _refused(_MERGE),
    "merge_blktrace_iters": _refused(_MERGE),
    "profile": _refused("write its jobs out in a job file"),
    "rwmixcycle": _refused(_DROPPED),
    "cmd_type": _refused("belongs to io_uring_cmd, which reaches devices alone"),
    # Harm.
    "ioscheduler": _harmful("it changes the host, and stays changed"),
    "lockmem": _harmful("it takes memory from the host's other programs", 0),
    "cgroup": _harmful("it makes a control group on the host"),
    "uid": _harmful(_GROUPS),
    "gid": _harmful(_GROUPS),
    "opendir": _harmful("fio would write to all files below a directory"),
    "file_append": _harmful("the file would grow beyond its size", False),
    "fill_device": _harmful("it writes until the file system is full", False),
    "read_iolog": _harmful(
        "a trace names files of its own, which fio would write to wherever they are"
    ),
    "merge_blktrace_file": _harmful(_MERGE),
}

_UNRULED = _refused("nobody has looked at what it does to a host")
_ELSEWHERE = _refused("belongs to an engine that reaches no file")


def ruling(option: Option) -> Ruling:
    """What becomes of an option on a path; what nobody ruled upon is refused."""
    if option.engines and not set(option.engines) & set(LOCAL):
        return _ELSEWHERE
    return _RULED.get(option.name, _UNRULED)


def undecided() -> set[str]:
    """Rows of the table without a ruling, and rulings without a row."""
    reached = {row.name for row in ROWS if not row.engines or set(row.engines) & set(LOCAL)}
    return reached ^ set(_RULED)


def told(option: Option) -> str:
    """The ruling in words, for the page of all options."""
    found = ruling(option)
    words = found.fate.value
    if found.only:
        shown = ", ".join(f"`{option.kind.show(value)}`" for value in found.only)
        words = f"passed on if {shown}, else {words}"
    return f"{words}: {found.says}" if found.says else words
