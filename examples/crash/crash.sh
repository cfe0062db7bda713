#!/bin/bash
# Cuts the power of a simulated drive under a program, again and again, and looks at what is left.
#
#     crash.sh DRIVE CUTS RUN CHECK [SERVE-OPTIONS…]
#
# RUN writes until its drive goes away, with a request whose number is drawn, or until it ends; CHECK
# has to succeed after each cut, on what the cut and all before it have left. Both are commands of
# bash. They run in a folder of an ext4 file system on the drive, for which the script has to be
# root, with nbdfuse or the kernel's nbd. In both $uri is the drive's address, $device its block
# device, and $keep a directory that no cut touches. Variables:
#
#     CRASH_ON=folder|device|uri   how the drive is attached; uri: not at all, RUN and CHECK do it
#     CRASH_SEED=1                 draws the requests with which the power goes
#     CRASH_WITHIN=2000            among this number of requests after RUN has begun
#
# All is written to ./crash, which must not be there. A check that fails leaves with code 1 and
# prints the line that makes the drive's image as it was after that cut.
set -u

fail() { echo "crash: $*" >&2; exit 2; }

wait_for() { for _ in {1..300}; do "$@" && return; sleep 0.1; done; false; }

attach() {
    device='' fuse=''
    if [ "$CRASH_ON" = uri ]; then return; fi
    if command -v nbdfuse >/dev/null; then
        nbdfuse "$place/attached" --unix "$socket" >/dev/null 2>&1 &
        fuse=$!
        wait_for test -e "$place/attached/nbd" || fail "nbdfuse does not attach the drive"
        device=$(losetup -f --show "$place/attached/nbd") || fail "there is no loop device"
    else
        modprobe nbd || fail "neither nbdfuse nor the kernel's nbd is there"
        for device in /dev/nbd*[0-9]; do
            nbd-client -unix "$socket" "$device" -name '' >/dev/null 2>&1 && break
            device=''
        done
        [ -n "$device" ] || fail "no nbd device is free"
    fi
    export device
}

detach() {
    [ -n "$device" ] || return 0
    mountpoint -q "$place/folder" && umount -l "$place/folder"
    if [ -n "$fuse" ]; then
        losetup -d "$device"
        umount -l "$place/attached"
        kill "$fuse" 2>/dev/null
        wait "$fuse"
    else
        nbd-client -d "$device" >/dev/null
    fi
}

in_folder() ( # COMMAND: where the drive's data are
    [ "$CRASH_ON" != folder ] || cd "$place/folder" || exit 1
    eval "$1"
)

mounted() { # fsck may replay the journal and mends nothing else
    [ "$CRASH_ON" = folder ] || return 0
    e2fsck -p "$device" >"$place/fsck" 2>&1 || [ $? = 1 ] || { cat "$place/fsck" >&2; return 1; }
    mount -o discard "$device" "$place/folder"
}

cuts_so_far() { flashtwin ctl "$ctl" state | sed -n 's/.*"cuts": *\([0-9]*\).*/\1/p'; }

checked() { # NUMBER: of the cut before
    attach
    mounted && in_folder "$CRASH_CHECK" && return
    detach
    echo "crash: the check failed after cut $1" >&2
    log=$(printf %q "$place/log")
    echo "replay: flashtwin replay $log --cut $1 --image ${log%log}after-$1.img" >&2
    exit 1
}

rounds() {
    trap detach EXIT
    RANDOM=$CRASH_SEED
    attach
    if [ "$CRASH_ON" = folder ]; then
        mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$device" || fail "no mkfs.ext4"
    fi
    mounted || fail "the new file system is not clean"
    for ((round = 1; round <= CRASH_CUTS; round++)); do
        number=$(((RANDOM * 32768 + RANDOM) % CRASH_WITHIN + 1))
        flashtwin ctl "$ctl" cut --after "$number" >/dev/null || fail "the drive takes no orders"
        in_folder "$CRASH_RUN"
        code=$?
        if [ "$(cuts_so_far)" -lt "$round" ]; then
            [ "$code" = 0 ] || fail "RUN ended with code $code before the power went"
            flashtwin ctl "$ctl" cut >/dev/null || fail "the drive takes no orders"
        fi
        detach
        checked "$round"
    done
    echo "crash: $CRASH_CUTS cuts, every check passed"
}

if [ $# = 0 ] && [ -n "${CRASH_CUTS-}" ]; then
    place=$CRASH_PLACE
    rounds
    exit
fi
[ $# -ge 4 ] || fail "crash.sh DRIVE CUTS RUN CHECK [SERVE-OPTIONS...]"
drive=$1
export CRASH_CUTS=$2 CRASH_RUN=$3 CRASH_CHECK=$4 CRASH_PLACE=$PWD/crash keep=$PWD/crash/keep
export CRASH_ON=${CRASH_ON-folder} CRASH_SEED=${CRASH_SEED-1} CRASH_WITHIN=${CRASH_WITHIN-2000}
shift 4
for number in "$CRASH_CUTS" "$CRASH_SEED" "$CRASH_WITHIN"; do
    [[ $number =~ ^[0-9]{1,8}$ ]] || fail "$number is no number from 0 to 99999999"
done
[ "$CRASH_WITHIN" != 0 ] || fail "CRASH_WITHIN=0 leaves no request to cut at"
case $CRASH_ON in folder | device | uri) ;; *) fail "CRASH_ON=$CRASH_ON is not known" ;; esac
[ "$CRASH_ON" = uri ] || [ "$(id -u)" = 0 ] || fail "a block device takes root; or CRASH_ON=uri"
mkdir crash || fail "./crash is in the way"
mkdir crash/keep crash/attached crash/folder
exec flashtwin serve "$drive" --no-timing --quiet --log crash/log --log-data "$@" \
    --run "exec $(printf %q "$(realpath "$0")")"
