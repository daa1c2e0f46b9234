# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# firmware.sh - files in the place of firmware's make this the machine of a cloud.
dmi=/sys/devices/virtual/dmi/id

# firmware VENDOR PRODUCT ASSET BIOS: what DMI tells from now on; "": no such file
firmware() {
	mountpoint -q $dmi || check mount -t tmpfs tmpfs $dmi
	rm -f $dmi/*
	[ -z "$1" ] || echo "$1" >$dmi/sys_vendor
	[ -z "$2" ] || echo "$2" >$dmi/product_name
	[ -z "$3" ] || echo "$3" >$dmi/chassis_asset_tag
	[ -z "$4" ] || echo "$4" >$dmi/bios_version
}

own_firmware() { ! mountpoint -q $dmi || check umount $dmi; }
