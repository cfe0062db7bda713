"""`./dev abuse`: hostile cases against this flashtwin, for a while or from a seed.

    ./dev abuse                            a minute of all kinds that are quick to begin
    ./dev abuse --kind jobs --seconds 600  ten minutes of one
    ./dev abuse --kind jobs --seed 1234    one case again
    ./dev abuse --kind runs --seed 1 --cases 2000
    ./dev abuse --kind runs=40 --kind specs=300   so many of each

Exit code 1 where a promise was not kept; the inputs of such cases are kept in .tools/abuse.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
from pathlib import Path

# Threads of a library would not survive the forks, and eight of them help no small case.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "2")
os.environ["FLASHTWIN_CACHE"] = "off"

# Beside us lie the checks of the other rooms, and the drive in closed form that they stand on.
sys.path.append(str(Path(__file__).resolve().parent.parent))

import campaign
from mutate import ROOT

SECONDS = 60.0


def main() -> int:
    """Run the campaigns that were asked for."""
    known = campaign.kinds()
    asked = _arguments(known)
    counts = dict(asked.kind or [(name, None) for name, kind in known.items() if not kind.slow])
    bounded = asked.cases is not None or None not in counts.values()
    one_case = asked.seed is not None and not bounded and asked.seconds is None
    usual = 1 if one_case else asked.cases
    seconds = SECONDS if asked.seconds is None and not (bounded or one_case) else asked.seconds
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(10**9)
    tallies = []
    for name, count in counts.items():
        cases = usual if count is None else count
        plan = campaign.Plan(
            kind=known[name],
            seed=seed,
            cases=cases,
            seconds=None if seconds is None else seconds / len(counts),
            jobs=min(asked.jobs, cases or asked.jobs),
            keep=ROOT / ".tools" / "abuse",
        )
        tallies.append(campaign.run(plan, campaign.main_say))
    print(campaign.table(tallies))
    for line in campaign.failures(tallies):
        print(line)
    return 1 if any(tally.failed for tally in tallies) else 0


def _arguments(known: campaign.Mapping[str, campaign.Kind]) -> argparse.Namespace:
    def kind(text: str) -> tuple[str, int | None]:
        name, _, count = text.partition("=")
        if name not in known:
            raise argparse.ArgumentTypeError(f"no such kind: {name}; there are: {', '.join(known)}")
        return name, int(count) if count else None

    parser = argparse.ArgumentParser(
        prog="./dev abuse",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(
            f"{kind.name:<10} {kind.tries}{', only where named' if kind.slow else ''}"
            for kind in known.values()
        ),
    )
    parser.add_argument("--seconds", type=float, help="how long in all; by default a minute")
    parser.add_argument("--seed", type=int, help="the first case; alone, this case and no other")
    only = "only these cases, and how many of them"
    parser.add_argument("--kind", action="append", type=kind, metavar="KIND[=CASES]", help=only)
    parser.add_argument("--cases", type=int, help="how many of each kind")
    parser.add_argument("--jobs", type=int, default=campaign.default_jobs(), help="at once")
    return parser.parse_args()


if __name__ == "__main__":
    # Devices and folders of the campaign go with it, however it is asked to end.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
