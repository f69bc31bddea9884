# SPDX-License-Identifier: Apache-2.0
"""An ext4 of a test's own in a file: small, and it can lose its power. Needs root."""

import atexit
import os
import shutil
import subprocess
import tempfile


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise RuntimeError("%s: %s" % (" ".join(command), done.stdout.decode(errors="replace")))


def why_not(power=False):
    """What is missing for it here, or None."""
    if os.geteuid() != 0:
        return "needs root"
    for program in ["mkfs.ext4", "mount", "umount"] + (["xfs_io"] if power else []):
        if shutil.which(program) is None:
            return "needs %s" % program
    try:
        LoopMount(8).close()
    except RuntimeError as failure:
        return "cannot mount an image: %s" % failure
    return None


class LoopMount:
    def __init__(self, mebibytes):
        self.folder = tempfile.mkdtemp(prefix="sluice-disk-test-")
        self.image = os.path.join(self.folder, "image")
        self.path = os.path.join(self.folder, "mount")
        self.is_mounted = False
        atexit.register(self.close)
        os.mkdir(self.path)
        with open(self.image, "wb") as image:
            image.truncate(mebibytes << 20)
        # Without blocks that are kept for root: the broker of a test is root.
        run("mkfs.ext4", "-q", "-m", "0", "-b", "4096", self.image)
        self.mount()

    def mount(self):
        """Reads the journal, as a machine does when its power is back."""
        run("mount", "-o", "loop", self.image, self.path)
        self.is_mounted = True

    def unmount(self):
        run("umount", self.path)
        self.is_mounted = False

    def cut_power(self):
        """From now on nothing reaches the disk, not even what the journal has in memory."""
        run("xfs_io", "-x", "-c", "shutdown", self.path)

    def free_bytes(self):
        status = os.statvfs(self.path)
        return status.f_bavail * status.f_frsize

    def close(self):
        if self.is_mounted:
            subprocess.run(["umount", "-l", self.path], check=False)
            self.is_mounted = False
        shutil.rmtree(self.folder, ignore_errors=True)
