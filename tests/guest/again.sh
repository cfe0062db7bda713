#!/bin/sh
# The boot after `device.sh`, with the drives in another order: a run that was killed goes on.
. /common.sh
export PYTHONPATH=/opt/packages HOME=/tmp
flashtwin() { /opt/python/bin/python3 -m flashtwin.cli "$@"; }

resumed() {
    mount "$(device RUNS)" /mnt && cat /mnt/device || return 1
    ! grep -q "$(device S4XFILL)" /mnt/device || return 1
    # Without consent it is not written to.
    flashtwin test --resume /mnt/run
    [ $? = 4 ] || return 1
    flashtwin test --resume /mnt/run --yes-destroy S4XFILL --no-report &&
        grep pass-2 /mnt/run/steps.jsonl && ! grep -r S4XFILL /mnt/run
}
check resumed
finished
