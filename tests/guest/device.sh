#!/bin/sh
# Checks of flashtwin in the guest, on drives that QEMU emulates: what it says of them, what it
# refuses, and a whole test.
. /common.sh
export PYTHONPATH=/opt/packages HOME=/tmp DM_DISABLE_UDEV=1 LVM_SYSTEM_DIR=/tmp/lvm
flashtwin() { /opt/python/bin/python3 -m flashtwin.cli "$@"; }

# The program ends with 4 and says the words, and each byte of the spare drive is as it was.
refused() {
    on=$1 words=$2 of=${3:-S4XSPARE}
    sync
    echo 3 > /proc/sys/vm/drop_caches
    [ "$on" = "$root" ] || dd if="$spare" of=/tmp/before bs=1M || return 1
    flashtwin test "$on" --battery fill --yes-destroy "$of" --out /tmp/none > /tmp/answer 2>&1
    code=$?
    cat /tmp/answer
    echo 3 > /proc/sys/vm/drop_caches
    [ "$on" = "$root" ] || cmp "$spare" /tmp/before || return 1
    [ "$code" = 4 ] && grep -q "$words" /tmp/answer && [ ! -e /tmp/none ]
}

identify() {
    flashtwin identify "$spare" --json > /tmp/answer && cat /tmp/answer &&
        grep -q '"model": "QEMU NVMe Ctrl"' /tmp/answer &&
        grep -q '"serial": "S4XSPARE"' /tmp/answer && grep -q 'capacity_bytes": 50331648' /tmp/answer
}
smart() {
    flashtwin smart "$spare" > /tmp/answer && cat /tmp/answer &&
        grep -q 'QEMU NVMe Ctrl' /tmp/answer && ! grep -q S4XSPARE /tmp/answer
}
# Code 1 says that something is lacking here.
doctor() {
    flashtwin doctor "$spare" > /tmp/answer
    [ $? -le 1 ] && cat /tmp/answer && grep SMART /tmp/answer
}
running_system() { refused "$root" 'the running system lies on' ROOT; }

mounted() {
    mkfs.ext4 -q -F "$spare" && mount -o ro,noload "$spare" /mnt &&
        refused "$spare" "${spare##*/} is mounted at /mnt"
}
label() {
    mkfs.ext4 -q -F -L holiday "$spare" && refused "$spare" 'its label was not given'
}
mounted_partition() {
    printf 'label: dos\n2048,40960,83\n' | sfdisk -q --wipe always "$spare" &&
        mkfs.ext4 -q -F "${spare}p1" && mount -o ro,noload "${spare}p1" /mnt &&
        refused "$spare" "${spare##*/}p1 is mounted at /mnt"
}
partition() { refused "${spare}p1" 'is a partition of'; }
swap() {
    mkswap "$spare" && swapon "$spare" || return 1
    refused "$spare" 'holds swap that is in use'
    told=$?
    swapoff "$spare"
    return $told
}
lvm_held() {
    modprobe dm-mod && mkdir -p /tmp/lvm && dd if=/dev/zero of="$spare" bs=1M count=4 || return 1
    printf 'devices { obtain_device_list_from_udev=0 use_devicesfile=0 }\n' > /tmp/lvm/lvm.conf
    printf 'activation { udev_sync=0 udev_rules=0 }\nglobal { event_activation=0 }\n' >> /tmp/lvm/lvm.conf
    printf 'backup { backup=0 archive=0 }\n' >> /tmp/lvm/lvm.conf
    lvm pvcreate -y "$spare" && lvm vgcreate stripes "$spare" &&
        lvm lvcreate -y -Wn -l 5 -n data stripes || return 1
    refused "$spare" "is held by dm-0 stripes-data (LVM)"
    told=$?
    lvm vgchange -an stripes
    return $told
}
lvm_member() { refused "$spare" 'is a member of LVM'; }
md_held() {
    modprobe raid1 && dd if=/dev/zero of="$spare" bs=1M count=4 &&
        mdadm --create /dev/md0 --run --force --level=1 --raid-devices=1 "$spare" || return 1
    refused "$spare" 'is held by md0 (RAID raid1)'
    told=$?
    mdadm --stop /dev/md0
    return $told
}
md_member() { refused "$spare" 'is a member of Linux RAID'; }
crypt_held() {
    modprobe dm-crypt && dd if=/dev/zero of="$spare" bs=1M count=4 || return 1
    printf secret | cryptsetup luksFormat -q --type luks2 --label vault --pbkdf pbkdf2 \
        --pbkdf-force-iterations 1000 "$spare" - &&
        printf secret | cryptsetup open --key-file - "$spare" opened || return 1
    refused "$spare" 'is held by dm-0 opened (dm-crypt)'
    told=$?
    cryptsetup close opened
    return $told
}

# Erased by NVMe's format, filled, and told without its serial number.
fill() {
    flashtwin test "$filled" --battery fill:patterns=1m-q1,passes=1,idle_s=0 \
        --yes-destroy S4XFILL --out /tmp/run --no-report --json > /tmp/answer || return 1
    grep 'NVMe format' /tmp/run/steps.jsonl && grep '"fill.mean' /tmp/answer || return 1
    ls /tmp/run
    grep -r data_units_written /tmp/run/smart && ! grep -r S4XFILL /tmp/run
}
# A run that is killed within its second pass; the next boot goes on with it.
killed() {
    mount "$(device RUNS)" /mnt || return 1
    flashtwin test "$filled" --battery fill:patterns=1m-q1,passes=2,idle_s=5s \
        --yes-destroy S4XFILL --out /mnt/run --no-report &
    until grep -q pass-1 /mnt/run/steps.jsonl; do
        kill -0 $! || return 1
        sleep 1
    done
    kill -9 $!
    echo "its device was $filled" > /mnt/device
    sync
}

root=$(device ROOT) spare=$(device S4XSPARE) filled=$(device S4XFILL)
check identify
check smart
check doctor
check running_system
check mounted
check label
check mounted_partition
check partition
check swap
check lvm_held
check lvm_member
check md_held
check md_member
check crypt_held
check fill
check killed
finished
