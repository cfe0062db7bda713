"""Small samples of the formats that `flashtwin infer` reads, made up: one fill in each of them.

The fill writes 3,000 units a second for 40 seconds and 500 for 80, so that every reader has to find
the same knee; the unit is the program's own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

RATES = [*[3000.0] * 40, *[500.0] * 80]
SECONDS = len(RATES)


def running(unit: float) -> Iterator[tuple[int, float]]:
    """Second and bytes so far."""
    done = 0.0
    for second, rate in enumerate(RATES, 1):
        done += rate * unit
        yield second, done


def clock(second: int) -> str:
    return f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"


def iostat_text() -> str:
    """iostat -dxmt 1, with the report since the start before."""
    head = (
        "Device            r/s     rMB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wMB/s   %util"
    )
    lines = ["Linux 6.1.0-18-amd64 (host) \t05/01/26 \t_x86_64_\t(8 CPU)", ""]
    for second, rate in enumerate([1.25, *RATES]):
        lines += [
            f"05/01/26 23:59:{second:02d}" if second < 60 else f"05/02/26 {clock(second - 60)}"
        ]
        lines += [head, "sda  0.10  0.01 0.00 0.00 0.30 4.00 0.50 0.02 0.10"]
        lines += [f"nvme0n1  0.00  0.00 0.00 0.00 0.00 0.00 {rate * 8:.2f} {rate:.2f} 99.00", ""]
    return "\n".join(lines)


def iostat_old() -> str:
    """iostat 9's -xk, whose time stands before each report, with decimal commas."""
    head = "Device:         rrqm/s   wrqm/s   r/s   w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await"
    lines = ["Linux 2.6.32 (host) \t01.05.2026 \t_x86_64_\t(4 CPU)", ""]
    for second, rate in enumerate(RATES, 1):
        lines += [
            f"Time: {clock(second)}",
            "avg-cpu:  %user   %nice %system %iowait  %steal   %idle",
        ]
        lines += ["           1,00    0,00    2,00    3,00    0,00   94,00", "", head]
        values = f"0,00 0,00 0,00 10,00 0,00 {rate * 1000:.2f} 256,00 1,00 2,00".replace(".", ",")
        lines += [f"sda {values}", ""]
    return "\n".join(lines)


def iostat_plain() -> str:
    """iostat -d 2: rates and bytes, and no time."""
    lines = ["Linux 6.1.0 (host) \t05/01/26 \t_x86_64_\t(8 CPU)", ""]
    for rate in RATES:
        lines += ["Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn"]
        lines += [f"nvme0n1        {rate}   0.00   {rate * 1000:.2f}   0   {rate * 2000:.0f}", ""]
    return "\n".join(lines)


def iostat_json() -> str:
    statistics = [
        {
            "timestamp": f"05/01/26 {clock(second)}",
            "avg-cpu": {"user": 1.0, "idle": 99.0},
            "disk": [{"disk_device": "nvme0n1", "r/s": 0.0, "rkB/s": 0.0, "wkB/s": rate * 1000}],
        }
        for second, rate in enumerate(RATES, 1)
    ]
    host = {"nodename": "h", "number-of-cpus": 8, "date": "05/01/26", "statistics": statistics}
    return json.dumps({"sysstat": {"hosts": [host]}}, indent=1)


def dstat_text() -> str:
    lines = [
        "----system---- ----total-cpu-usage---- -dsk/total- -net/total-",
        "     time     |usr sys idl wai hiq siq| read  writ| recv  send",
    ]
    for second, rate in enumerate(RATES, 1):
        lines.append(f"05-01 {clock(second)}|  1   1  98   0   0   0|   0 {rate:5.0f}M|   0     0 ")
        if second == 60:
            lines += lines[:2]
    return "\n".join(lines)


def dstat_csv() -> str:
    lines = [
        '"Dstat 0.7.4 CSV output"',
        '"Author:","A <a@b>",,,,"URL:","x"',
        '"Host:","h",,,,"User:","root"',
        '"Cmdline:","dstat -d --output x.csv 2",,,,"Date:","01 May 2026 12:00:00 CEST"',
        "",
        '"total cpu usage",,"dsk/total",',
        '"usr","sys","read","writ"',
    ]
    return "\n".join([*lines, *(f"1.0,0.5,0.0,{rate * 1e6:.3f}" for rate in RATES)])


def hwinfo() -> str:
    head = 'Date,Time,"CPU [°C]","Read Rate [MB/s]","Write Rate [MB/s]","Write Total [MB]",'
    rows = [
        f"1.5.2026,{clock(second)}.250,40.0,0.000,{rate:.3f},100,"
        for second, rate in enumerate(RATES, 1)
    ]
    return "\n".join([head, *rows, head, ",,CPU [#0],S.M.A.R.T.: D,S.M.A.R.T.: D,Drive: D,"])


def perfmon() -> str:
    counters = ("PhysicalDisk(0 C:)", "PhysicalDisk(_Total)")
    names = [f'"\\\\HOST\\{name}\\Disk Write Bytes/sec"' for name in counters]
    head = ",".join(['"(PDH-CSV 4.0) (W. Europe Daylight Time)(-120)"', *names])
    rows = [
        f'"05/01/2026 12:{second // 60:02d}:{second % 60:02d}.123","{rate * 1e6}","{rate * 1e6}"'
        for second, rate in enumerate(RATES, 1)
    ]
    return "\r\n".join([head, '"05/01/2026 12:00:00.120"," "," "', *rows])


def dd() -> str:
    lines = [
        f"{done:.0f} bytes ({done / 1e9:.0f} GB, {done / 2**30:.0f} GiB) copied, {second} s, 2 GB/s"
        for second, done in running(1e6)
    ]
    end = "152588+0 records in\n152588+0 records out\n"
    return "\r".join(lines) + "\n" + end + lines[-1].replace(f"{SECONDS} s", "120.001 s") + "\n"


def dd_translated() -> str:
    return "\r".join(
        f"{done:.0f} Bytes ({done / 1e9:.1f} GB, 1,0 GiB) kopiert, {second},0 s, 2,0 GB/s".replace(
            ".", ","
        )
        for second, done in running(1e6)
    )


def pv() -> str:
    return "\r".join(
        f"{done / 1024**3:.3g}GiB 0:{second // 60:02d}:{second % 60:02d} "
        f"[{rate / 1000:.2f}GiB/s] [=====>       ] 12% ETA 0:01:00"
        for rate, (second, done) in zip(RATES, running(1024.0**2), strict=True)
    )


def pv_numeric() -> str:
    return "\n".join(f"{second:.4f} {done:.0f}" for second, done in running(1e6))


def diskspd_xml() -> str:
    buckets = "".join(
        f'<Bucket SampleMillisecond="{1000 * second}" Read="0" Write="{rate:.0f}" Total="0"/>\n'
        for second, rate in enumerate(RATES, 1)
    )
    return (
        "<Results>\n<System><ComputerName>H</ComputerName></System><Profile><TimeSpans><TimeSpan>"
        "<Targets><Target><Path>x.dat</Path><BlockSize>1000000</BlockSize></Target></Targets>"
        "</TimeSpan></TimeSpans></Profile>\n<TimeSpan><TestTimeSeconds>120.00</TestTimeSeconds>\n"
        f"<Iops>\n<WriteIopsStdDev>1.0</WriteIopsStdDev>\n{buckets}</Iops>\n</TimeSpan>\n</Results>"
    )


def fio_json() -> str:
    return "\n".join(
        json.dumps(
            {
                "fio version": "fio-3.36",
                "global options": {"rw": "write"},
                "jobs": [
                    {
                        "jobname": "fill {[",
                        "read": {"io_bytes": 0, "runtime": 0},
                        "write": {"io_bytes": int(done), "runtime": 1000 * second},
                    }
                ],
            },
            indent=2,
        )
        for second, done in running(1e6)
    )


def fio_log() -> str:
    return "\n".join(
        f"{1000 * second}, {rate * 1e6 / 1024:.0f}, 1, 0, 0" for second, rate in enumerate(RATES, 1)
    )


def semicolons() -> str:
    rows = (f"{second};{rate:.1f}".replace(".", ",") for second, rate in enumerate(RATES, 1))
    return "\n".join(["sep=;", "Zeit (s);Schreiben (MB/s)", *rows])


CRYSTAL = """\
CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]

[Read]
  SEQ    1MiB (Q=  8, T= 1):  3500.125 MB/s [   3337.9 IOPS] <  2394.82 us>
[Write]
  SEQ    1MiB (Q=  8, T= 1):  3000.250 MB/s [   2861.2 IOPS] <  2793.00 us>
  RND    4KiB (Q=  1, T= 1):   210.500 MB/s [  51391.6 IOPS] <    19.30 us>

Profile: Default
"""
KDISKMARK = """\
                        KDiskMark (3.1.4): https://x/KDiskMark
                    Flexible I/O Tester (fio-3.33): https://x/fio
--------------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]

[Write]
Sequential   1 MiB (Q=  8, T= 1):  3000.250 MB/s [   2861.2 IOPS] <  2793.00 us>
"""
HD_TUNE = """\
HD Tune Pro: SOME SSD Benchmark

Test capacity: full

Write transfer rate
Transfer Rate Minimum : 402.1 MB/s
Transfer Rate Maximum : 3000.25 MB/s
Transfer Rate Average : 811.4 MB/s
Access Time           : 0.032 ms
"""
ATTO = """\
ATTO Disk Benchmark 4.01
Queue Depth: 4, Direct I/O
I/O Size    Write (MB/s)    Read (MB/s)
512 B       45.2            51.0
1 MB        3000.25         3400.5
"""
DISKSPD = """\

Command Line: diskspd -b1M -w100 -d60 x.dat

Total IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  file
------------------------------------------------------------------------------
     0 |     94371840000 |        90000 |    3000.25 |    3000.25 | x.dat (64GiB)
------------------------------------------------------------------------------
total:       94371840000 |        90000 |    3000.25 |    3000.25
"""

# The name of a file, its text, and the bytes of a unit of `RATES`.
SERIES: dict[str, tuple[str, Callable[[], str], float]] = {
    "iostat": ("iostat.txt", iostat_text, 1024.0**2),
    "iostat-old": ("old.txt", iostat_old, 1024.0 * 1000),
    "iostat-plain": ("plain.txt", iostat_plain, 2 * 1024.0 * 1000),
    "iostat-json": ("iostat.json", iostat_json, 1024.0 * 1000),
    "dstat": ("dstat.txt", dstat_text, 1024.0**2),
    "dstat-csv": ("dstat.csv", dstat_csv, 2e6),
    "hwinfo": ("hwinfo.csv", hwinfo, 1e6),
    "perfmon": ("perfmon.csv", perfmon, 1e6),
    "dd": ("dd.log", dd, 1e6),
    "dd-translated": ("dd2.log", dd_translated, 1e6),
    "pv": ("pv.log", pv, 1.024 * 1024.0**2),
    "pv-n": ("pvn.log", pv_numeric, 1e6),
    "diskspd": ("diskspd.xml", diskspd_xml, 1e6),
    "fio-json": ("fio.json", fio_json, 1e6),
    "fio-log": ("fill_bw.1.log", fio_log, 1e6),
    "semicolons": ("semi.csv", semicolons, 1e6),
}
FIGURES = {
    "crystal": ("cdm.txt", CRYSTAL),
    "kdiskmark": ("kdm.txt", KDISKMARK),
    "hd-tune": ("hdtune.txt", HD_TUNE),
    "atto": ("atto.txt", ATTO),
    "diskspd": ("diskspd.txt", DISKSPD),
}
