"""A slow disk for a benchmark: makes and removes a disk of scripts/slow-disk, and reads its counters."""

import contextlib
import subprocess
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
