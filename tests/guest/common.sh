# The checks of every boot begin with this: file systems of the kernel, and how a check is told.
PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
mount -t proc proc /proc
mount -t sysfs sys /sys
grep -q ' /dev ' /proc/mounts || mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
# The kernel calls it for what it lacks, as for a cipher.
echo /bin/modprobe > /proc/sys/kernel/modprobe

# The block device of a serial number.
device() {
    for disk in /sys/block/nvme*; do
        read -r serial < "$disk/device/serial"
        [ "$serial" = "$1" ] && echo "/dev/${disk##*/}"
    done
}

# Print "check NAME: ok", or what the check of that name said.
check() {
    name=$1
    if ("$@") > /tmp/said 2>&1; then
        echo "check $name: ok"
    else
        echo "check $name: failed"
        cat /tmp/said
    fi
    ! grep -q ' /mnt ' /proc/mounts || umount /mnt
}

finished() {
    echo "checks: done"
    poweroff -f
}
