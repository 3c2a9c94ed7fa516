"""Disks for a benchmark: a disk of scripts/slow-disk with its counters, and files of which the kernel keeps nothing in memory."""

import contextlib
import os
import subprocess
import threading
from pathlib import Path

from bench_volume import SCRIPTS, run


class SlowDisk:
    """A hard disk in user space, with its own ext4 mounted at its folder from up() until clean()."""

    def __init__(self, folder, *options):
        self.folder = folder
        self.options = options

    def up(self):
        self.clean()
        run(SCRIPTS / "slow-disk", "up", self.folder, *self.options)

    def counters(self):
        """The disk's counters since it was made, by the names of slow-disk stat."""
        lines = (Path(f"{self.folder}.disk") / "fuse" / "stat").read_text().splitlines()
        return {name: float(value) for name, value in (line.split() for line in lines)}

    def since(self, before):
        """The differences from earlier counters()."""
        return {name: round(value - before[name], 3) for name, value in self.counters().items()}

    def clean(self):
        subprocess.run([SCRIPTS / "slow-disk", "down", self.folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       stdin=subprocess.DEVNULL, check=False)
        with contextlib.suppress(OSError):
            self.folder.rmdir()


class Forgetting:
    """Empties the kernel's cache of the files of a folder again and again, from begin() to clean()."""

    def __init__(self, folder, seconds=0.01):
        self.folder, self.seconds = folder, seconds
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def begin(self):
        self.once()
        self.thread.start()

    def once(self):
        for file in self.folder.rglob("*"):
            with contextlib.suppress(OSError):
                descriptor = os.open(file, os.O_RDONLY)
                try:
                    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                finally:
                    os.close(descriptor)

    def _run(self):
        while not self.ended.wait(self.seconds):
            self.once()

    def clean(self):
        self.ended.set()
        if self.thread.is_alive():
            self.thread.join()
