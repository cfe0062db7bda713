"""Whole job files: accepted and refused as the real fio does, and by name where we are stricter."""

from __future__ import annotations

from pathlib import Path

import pytest
import real_fio
from thinning import thinned

from flashtwin.fio.language.errors import JobFileError
from flashtwin.fio.language.lines import read
from flashtwin.fio.language.script import typed

# Option lines of one section [a] that both take.
TAKEN = """bs=4k|bs=4k,8k|bs=,8k|bs=8k,|blocksize=1m|bsrange=4k-64k|blocksize_range=4k-8k,8k-16k
bssplit=4k/50:8k/50|bssplit=4k/10:64k/|bssplit=4k/20:8k/80,16k|ba=4k|bs_unaligned|bs_unaligned=1
rw=randread:4k|rw=randwrite:0|rw=randread:-4
rw=read|readwrite=randrw|rw=randread:8|rw=write:4k|rw=trimwrite|rw=randtrimwrite|rw=randtrim
iodepth=32|iodepth_batch=4|iodepth_batch_submit=2|iodepth_batch_complete=1|iodepth_low=2
size=1g|size=30%|size=0x100000|io_size=2g|io_limit=1g|filesize=1m|filesize=1m-4m|fill_device=1
fill_fs=1|offset=1m|offset=10%|fileoffset=4k|offset_increment=1g|offset_align=4k|number_ios=100
loops=3|numjobs=4|runtime=60|timeout=1m|time_based|time_based=0|ramp_time=500ms|startdelay=5
rwmixread=70|rwmixwrite=30|percentage_random=50|percentage_random=50,20|norandommap|norandommap=1
random_distribution=zipf:1.2|random_distribution=pareto:0.9|random_distribution=normal:30:0.5
random_distribution=zoned:60/10:40/90|random_distribution=zoned_abs:60/1g:40/2g
random_generator=lfsr|randrepeat=0|allrandrepeat=1|randseed=42|softrandommap=1
nrfiles=4|nr_files=2|file_service_type=random:4|openfiles=2|directory=/tmp|filename=/tmp/a:/tmp/b
filename_format=$jobname.$filenum|rate=1m|rate=1m,500k|rate_iops=100|rate_min=1k
rate_process=poisson|rate_cycle=500|ratecycle=100|thinktime=10|thinktime=1ms|thinktime_blocks=4
thinktime_spin=5|thinktime_blocks_type=issue|thinktime_iotime=1s|flow=50|flow_id=1|flow_sleep=100
fsync=32|fdatasync=8|end_fsync=1|fsync_on_close=1|sync=1|sync=dsync|zero_buffers|refill_buffers
scramble_buffers=0|buffer_compress_percentage=50|buffer_compress_chunk=4k|dedupe_percentage=20
dedupe_mode=repeat|buffer_pattern=0xdeadbeef|buffer_pattern="abcd"|stonewall|wait_for_previous
wait_for=b
exitall|exitall=1|exit_what=all|exitall_on_error|steadystate=iops:10%|ss=bw_slope:1%|ss_dur=30
ss_ramp=5s
max_latency=10ms|latency_target=1ms|latency_window=5s|latency_percentile=99.9|latency_run=1
verify=md5|verify=crc32c-intel|verify_interval=512|do_verify=0|verify_pattern=0xff|verify_fatal=1
group_reporting|group_reporting=1|new_group|per_job_logs=0|write_bw_log=x|write_lat_log=x
write_iops_log=x|write_hist_log=x|log_avg_msec=500|log_hist_msec=500|log_max_value=1|log_offset=1
percentile_list=50:99:99.9|clat_percentiles=0|lat_percentiles=1|slat_percentiles=1|disable_lat=1
disable_bw=1|gtod_reduce=1|unified_rw_reporting=1|unified_rw_reporting=both|significant_figures=6
kb_base=1000|unit_base=8|direct=1|buffered=0|thread|thread=1|invalidate=0|fallocate=none|prio=4
cpus_allowed=0-1|cpumask=3|nice=-5|mem=malloc|iomem=shm|iomem_align=4k|clocksource=cpu|lockmem=1g
create_serialize=0|unlink=1|overwrite=1|disk_util=0|ioscheduler=noop|continue_on_error=all
ignore_error=EIO|exec_prerun=true|write_hint=long|description=two words; and a comment
  bs=4k  |iodepth= 32|name=other|ioengine=null|ioengine=sync|hugepage-size=4m|lockfile=none
write_bw_log|write_lat_log|write_iops_log|write_hist_log|size=50%%|threads=2|dir=/x|block=4k
zonemode=strided|zonesize=1m|zoneskip=2m|zonerange=512k
file_service_type=zipf:1.2:0.5|file_service_type=gauss:10
zonemode=none|trim_percentage=10|replay_no_stall=1|replay_time_scale=50|pre_read=1|atomic=0"""

# What both refuse.
DROPPED = """bs=0|bs=|bs|bsx=4k|BS=4k|bs:4k|rw=READ|rw=randred|rw = randread|rw=|bsrange=4k|size=k
iodepth=0|iodepth=10%|direct=yes|direct=2|direct|thread=yes|rwmixread=101|runtime=s|runtime=
random_distribution=zipf:1|random_distribution=pareto:1|random_distribution=gauss:3
random_distribution=zipf:x|random_distribution=zoned:60/10:30/20|random_distribution=zipf:1.2,0.5
percentile_list=101|percentile_list=x|steadystate=iops|steadystate=x:1|verify=md6|verify_interval=1
sync=2|exit_what=none|write_hint=1|fallocate_=none|use_os_rand=1|rwmixcycle=3|cpuload=50|hipri
ioengine=nothing|file_service_type=1|significant_figures=11|log_entries=10|percentage_random=200
kb_base=1001|unified_rw_reporting=3"""

# What fio takes and reads as something else, or what a twin cannot do: refused by name.
STRICTER = """size=1.5m|size=0x10k|size=1,2|runtime=1min|runtime=1.5s|runtime=1:30|bs=4k-8k|bs=1e3
size = 4k|rw=randread:x|bs=4k,8k,16k,32k|direct=1x|bssplit=4k/60:8k/60
rate_cycle=1s|bw=4k;|opendir=/tmp|file_append=1|verify_only=1|zonemode=zbd
merge_blktrace_file=x|trim_backlog=5|ioengine=cpuio|ioengine=filecreate|profile=act
latency_percentile=50:60"""


def cases(table: str) -> list[str]:
    return [case for line in table.splitlines() for case in line.split("|")]


def ours(path: Path) -> str:
    """Empty if we take the file, else what we say."""
    try:
        typed(read(str(path)), environment={})
    except JobFileError as error:
        return f"{error.message} {error.hint}"
    return ""


def in_section(option: str) -> str:
    return f"[a]\n{option}\n"


def test_both_take(tmp_path: Path) -> None:
    # One section each, so that one start of fio judges them all.
    sections = [f"[job{place}]\n{option}\n" for place, option in enumerate(cases(TAKEN))]
    taken, said = real_fio.accepts("".join(sections), tmp_path)
    assert taken, said
    assert ours(tmp_path / "asked.fio") == ""


@pytest.mark.parametrize("option", thinned(cases(DROPPED), every=6))
def test_both_refuse(option: str, tmp_path: Path) -> None:
    taken, _ = real_fio.accepts(in_section(option), tmp_path)
    # An engine is only looked for when it is used, or when an option needs it.
    assert not taken or option == "ioengine=nothing"
    assert "asked.fio:2: " in ours(tmp_path / "asked.fio")


@pytest.mark.parametrize("option", cases(STRICTER))
def test_stricter_than_fio_and_says_so(option: str, tmp_path: Path) -> None:
    path = tmp_path / "asked.fio"
    path.write_text(in_section(option))
    said = ours(path)
    assert "asked.fio:2: " in said and option.partition("=")[0].strip() in said


FILES = [
    ("[global]\nbs=4k\n[a]\nsize=1g\n[global]\nbs=8k\n[b]\nsize=1g\n", True),
    ("[a]]\nsize=1g\n", True),
    ("[global2]\nbs=4k\n[a]\nsize=1g\n", True),
    ("; a\n\n# b\n[a b]\nsize=1g\n", True),
    ("[a]\r\nbs=4k\r\nsize=1g\r\n", True),
    ("[a]\nbs=4k\n[a]\nbs=8k\n", True),
    ("[a]\n\tthread\n  bs=4k\n", True),
    ("bs=4k\n[a]\n", False),
    ("[a]\nbs=4k\ninclude nothing.fio\n", False),
    ("[a]\ninclude asked.fio\n", False),
]


@pytest.mark.parametrize(("text", "taken"), FILES)
def test_files(text: str, taken: bool, tmp_path: Path) -> None:
    assert real_fio.accepts(text, tmp_path)[0] is taken
    assert (ours(tmp_path / "asked.fio") == "") is taken


def test_the_tables_are_large_enough() -> None:
    assert len(cases(TAKEN)) + len(cases(DROPPED)) > 220
