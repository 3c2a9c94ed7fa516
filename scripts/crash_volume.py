"""Shared by scripts/crash-loop: a volume that is mounted by the project's own commands, and killed."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
NAME = "crashloop"


class CommandFailed(Exception):
    pass


class Disk:
    """A disk of scripts/slow-disk whose power can be cut: it then loses blocks that were not flushed."""

    def __init__(self, place):
        self.place = place
        self.order("up", "--rate", "0", "--size", "16G", "--write-cache", "volatile")

    def order(self, verb, *words):
        done = subprocess.run([SCRIPTS / "slow-disk", verb, self.place, *map(str, words)], text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise CommandFailed(f"slow-disk {verb} ended with {done.returncode}:\n{done.stdout}")

    def power_off(self, seed):
        self.order("power-off", seed)

    def power_on(self):
        self.order("power-on")

    def lie(self):
        """From now on a flush does nothing."""
        self.order("control", "lie")

    def remove(self):
        self.order("down")


class Volume:
    """A volume whose stores lie in one folder.

    folder: for what a power cut must not touch: configuration and mount point
    stores: for everything else
    """

    def __init__(self, folder, stores, options=()):
        self.folder = folder
        self.stores = stores
        self.mount_point = folder / "mnt"
        # The passphrase is for --mkfs-option=--encrypt.
        self.env = {**os.environ, "SDFS_CONFIG_DIR": str(folder / "config"), "SDFS_PASSPHRASE": "crash loop"}
        self.mount_point.mkdir(parents=True)
        self.must("mkfs.sdfs", f"--volume-name={NAME}", "--volume-capacity=20GB", f"--base-path={stores / 'base'}",
                  "--memory-budget=512MB", f"--sar-ssd-location={stores / 'ssd'}", "--sar-ssd-capacity=512MB",
                  "--sar-policy=reference-count", "--sar-reference-count-threshold=2", *options)

    def command(self, script, *words):
        """Runs one of the project's commands; returns its exit status and its output."""
        # Through a file: the daemon that mount.sdfs starts may keep a pipe open.
        output = self.folder / f"output-{script}"
        with open(output, "w+") as sink:
            # In a group of its own: Ctrl-C ends the loop, which then ends the volume in order.
            done = subprocess.run([SCRIPTS / script, *map(str, words)], env=self.env, text=True, stdout=sink,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
            sink.seek(0)
            return done.returncode, sink.read()

    def must(self, script, *words):
        status, text = self.command(script, *words)
        if status:
            raise CommandFailed(f"{script} {' '.join(map(str, words))} ended with {status}:\n{text}")
        return text

    def mount(self):
        self.must("mount.sdfs", NAME, self.mount_point)

    def start_to_mount(self):
        """Begins to mount and returns the process of the command."""
        return subprocess.Popen([SCRIPTS / "mount.sdfs", NAME, self.mount_point], env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def daemons(self):
        """Returns the numbers of this volume's daemons: the processes that were started with its log."""
        mark = f"-Dsdfs.log.file={self.stores}/base/log/{NAME}.log".encode()
        found = []
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                try:
                    if mark in (process / "cmdline").read_bytes().split(b"\0"):
                        found.append(int(process.name))
                except OSError:
                    # It has ended, or belongs to another user.
                    pass
        return found

    def kill(self):
        """Kills the daemon and waits until it is gone. Returns whether there was one."""
        killed = self.daemons()
        for pid in killed:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        while self.daemons():
            time.sleep(0.02)
        return bool(killed)

    def unmount(self):
        self.must("sdfscli", NAME, "unmount")

    def is_mounted(self):
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        return any(line.split()[4] == str(self.mount_point) for line in mounts)

    def end(self):
        """Ends the daemon and removes the mount, whatever state they are in."""
        self.kill()
        while self.is_mounted():
            helper = ["umount", "-l"] if os.geteuid() == 0 else ["fusermount3", "-u", "-z"]
            if subprocess.run([*helper, self.mount_point], check=False).returncode:
                break

    def remove(self):
        self.end()
        if not self.is_mounted():
            shutil.rmtree(self.folder)
