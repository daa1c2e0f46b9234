// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * device.c - /dev/hwpmc: each open file is an owner, and holds the module. The mode of
 * the node says who may open it; what an owner may do is checked at each operation.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/poll.h>
#include <linux/sysfs.h>
#include <linux/uidgid.h>

#include "../compat/devnode.h"
#include "../core/owner.h"
#include "../log/mapped.h"
#include "../pmc/owner.h"
#include "../task/rdpmc_cr4.h"
#include "../task/userpage.h"
#include "device.h"
#include "ioctl.h"

static int device_open(struct inode *inode, struct file *file)
{
	struct hwpmc_owner *owner = hwpmc_owner_new(false);

	if (IS_ERR(owner))
		return PTR_ERR(owner);
	file->private_data = owner;
	return 0;
}

static int device_release(struct inode *inode, struct file *file)
{
	hwpmc_owner_end(file->private_data);
	hwpmc_leave_wait();
	return 0;
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct hwpmc_owner *owner = file->private_data;

	if (READ_ONCE(owner->revoked))
		return -ENODEV;
	if (vma->vm_pgoff == HWPMC_USER_OFFSET >> PAGE_SHIFT)
		return hwpmc_userpage_mmap(owner, vma);
	return hwpmc_log_mmap(owner, vma);
}

static __poll_t device_poll(struct file *file, struct poll_table_struct *wait)
{
	struct hwpmc_owner *owner = file->private_data;

	if (READ_ONCE(owner->revoked))
		return EPOLLERR | EPOLLHUP;
	return hwpmc_log_poll(owner, file, wait);
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = hwpmc_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = device_mmap,
	.poll = device_poll,
};

/* ---- the node ------------------------------------------------------------ */

/*
 * An open device is enough to keep the counters from perf and from the NMI watchdog: by
 * default only root has it, doc/decisions/device-mode.md. Both are read at load.
 */
#define MODE_LEAST	0600
#define MODE_MOST	0666

/* Text, because a number without a leading zero would be taken as decimal. */
static char *device_mode = "0660";
module_param_named(mode, device_mode, charp, 0444);
MODULE_PARM_DESC(mode, "mode of /dev/hwpmc, octal, 0600 to 0666 (0660)");

static unsigned int device_gid;
module_param_named(gid, device_gid, uint, 0444);
MODULE_PARM_DESC(gid, "number of the group of /dev/hwpmc (0)");

/*
 * A wrong value fails the load: a default in its place would open the device to others
 * than those whom the administrator meant, or close it to them.
 */
static int device_set_mode(umode_t *value)
{
	unsigned int bits;

	if (!kstrtouint(device_mode, 8, &bits) && !(bits & ~MODE_MOST) &&
	    (bits & MODE_LEAST) == MODE_LEAST) {
		*value = bits;
		return 0;
	}
	pr_err("not loaded: mode=%s is not an octal mode of a device from 0600 to 0666\n",
	       device_mode);
	return -EINVAL;
}

static int device_check_group(void)
{
	if (gid_valid(make_kgid(&init_user_ns, device_gid)))
		return 0;
	pr_err("not loaded: gid=%u is not the number of a group\n",
	       device_gid);
	return -EINVAL;
}

/* The class of misc devices has the name and the mode. */
static char *device_devnode(HWPMC_DEVNODE_DEVICE *dev, umode_t *mode, kuid_t *uid,
			    kgid_t *gid)
{
	/* NULL where only the name is asked for. */
	if (gid)
		*gid = make_kgid(&init_user_ns, device_gid);
	return NULL;
}

static const struct device_type device_type = {
	.devnode = device_devnode,
};

/*
 * A misc device has no group of its own, but the type of a device has. misc_register()
 * makes device and node in one step: between the two it asks only here, whether an
 * attribute is to be made. None is.
 */
static umode_t device_set_type(struct kobject *kobj, struct attribute *attr, int n)
{
	kobj_to_dev(kobj)->type = &device_type;
	return 0;
}

static struct attribute device_no_attr = { .name = "none" };
static struct attribute *device_attrs[] = { &device_no_attr, NULL };

static const struct attribute_group device_group = {
	.attrs = device_attrs,
	.is_visible = device_set_type,
};

static const struct attribute_group *device_groups[] = { &device_group, NULL };

/*
 * A static one, because only then can the node exist before the module is loaded, and
 * load it when it is opened. Of those that the kernel leaves to drivers outside of it,
 * doc/decisions/loading.md.
 */
#define DEVICE_MINOR	246

static struct miscdevice device = {
	.minor = DEVICE_MINOR,
	.name = "hwpmc",
	.fops = &device_fops,
	.groups = device_groups,
};

int hwpmc_device_params(void)
{
	return device_set_mode(&device.mode) ?: device_check_group();
}

int hwpmc_device_init(void)
{
	int ret = misc_register(&device);

	if (ret != -EBUSY)
		return ret;
	pr_info("another driver has misc minor %d: opening the device does not load this module\n",
		DEVICE_MINOR);
	device.minor = MISC_DYNAMIC_MINOR;
	return misc_register(&device);
}

void hwpmc_device_exit(void)
{
	misc_deregister(&device);
}

/* depmod(8) makes an entry of modules.devname of the two. */
MODULE_ALIAS_MISCDEV(DEVICE_MINOR);
MODULE_ALIAS("devname:hwpmc");
