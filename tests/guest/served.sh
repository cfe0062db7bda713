#!/bin/sh
# Checks of a drive that flashtwin serves, as the NVMe of the guest.
. /common.sh

queue() {
    grep -q 'write back' "/sys/block/${twin##*/}/queue/write_cache" &&
        grep -q 1 "/sys/block/${twin##*/}/queue/fua"
}

# QEMU's NVMe drops the FUA bit of a command, and sets that of each write with its cache off.
fua() {
    head -c 4096 /dev/urandom > /tmp/block &&
        nvme set-feature "${twin%n1}" --feature-id=6 --value=0 &&
        nvme write "$twin" --start-block=0 --block-count=0 --data-size=4096 --data=/tmp/block &&
        nvme set-feature "${twin%n1}" --feature-id=6 --value=1
}

ext4() {
    mkfs.ext4 -q -F "$twin" && mount -t ext4 -o discard "$twin" /mnt &&
        fio --name=v --filename=/mnt/file --size=4m --bs=4k --rw=randwrite --verify=crc32c \
            --fdatasync=64 --ioengine=psync --thread &&
        rm /mnt/file && sync && umount /mnt && e2fsck -f -n "$twin"
}

# Everything that is written to the drive is noted on a log device as well, in order.
logged() {
    kind=$1 log=$2
    shift 2
    modprobe dm-log-writes && modprobe "$kind"
    sectors=$(cat "/sys/block/${twin##*/}/size")
    dmsetup create logged --noudevsync --table "0 $sectors log-writes $twin $log" &&
        mknod /dev/logged b $(dmsetup info -c --noheadings --separator ' ' -o major,minor logged)
    "mkfs.$kind" -q "$@" /dev/logged && dmsetup message logged 0 mark mkfs &&
        mount -t "$kind" /dev/logged /mnt || return 1
    for number in 1 2 3 4 5 6; do
        mkdir "/mnt/$number" &&
            dd if=/dev/urandom of="/mnt/$number/a" bs=4k count=8 conv=fsync &&
            mv "/mnt/$number/a" "/mnt/$number/b" || return 1
        [ "$number" -lt 3 ] || rm "/mnt/$((number - 2))/b"
        sync
    done
    umount /mnt && dmsetup remove --noudevsync logged && rm -f /dev/logged
}
log_ext4() { logged ext4 "$(device LOG0)" -F -E nodiscard; }
log_xfs() { logged xfs "$(device LOG1)" -f -K; }

twin=$(device TWIN)
check queue
check fua
check ext4
check log_ext4
check log_xfs
finished
