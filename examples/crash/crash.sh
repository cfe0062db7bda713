#!/bin/sh
# Cuts the power of a simulated drive under a program, again and again, and looks at what is left.
#
#     crash.sh DRIVE CUTS WRITE CHECK [SERVE-OPTIONS…]
#
# WRITE and CHECK are commands of the shell, in which $uri and $socket say where the drive is. WRITE
# may fail, since its drive goes away with a request that chance picks, seeded by the round's number,
# or else when WRITE has ended; CHECK may not. The drive lies in ./crash-drive, and every round goes
# on with what the round before has left.
set -u
drive=$1 cuts=$2 write=$3 check=$4
shift 4
round=1
while [ "$round" -le "$cuts" ]; do
    flashtwin serve "$drive" --data crash-drive --no-timing --quiet "$@" \
        --cut-chance 0.01 --cut-seed "$round" --run "($write
        ); flashtwin ctl \"\$ctl\" cut >/dev/null 2>&1"
    if ! flashtwin serve "$drive" --data crash-drive --no-timing --quiet "$@" --run "$check"; then
        echo "crash: the check failed after cut $round; the drive is in ./crash-drive" >&2
        exit 1
    fi
    round=$((round + 1))
done
echo "crash: $cuts cuts, every check passed"
