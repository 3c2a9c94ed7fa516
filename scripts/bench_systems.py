"""Systems in which benchmarks on a slow disk store files: a plain file system, and a volume; each on its own disk. Tables of their times."""

import json
import os
import random
import subprocess
import time
from pathlib import Path

from bench_blocks import BLOCK
from bench_disk import SlowDisk
from bench_volume import Volume, copy_seconds, drop_kernel_caches, run, say, stored_bytes, warm

WARM_UP_BLOCKS = 24_000


def size_of(path):
    """Bytes of a file, or of all files in a folder."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(path) for name in names)


def extract_seconds(tree, target):
    """Extracts the tar beside a folder, which is read before, and makes the files durable; returns the seconds."""
    tar = tree.with_suffix(".tar")
    warm(tar)
    begin = time.monotonic()
    run("tar", "xf", tar, "-C", target.parent)
    run("sync", "-f", target.parent)
    run("sync", target)
    return time.monotonic() - begin


def reader_of(path):
    """Starts to read a file in sequence, or a folder with tar; returns the process."""
    if path.is_dir():
        # Not into /dev/null: tar would read no file.
        words = ["bash", "-c", 'set -o pipefail; tar cf - -C "$1" . | cat >/dev/null', "bash", str(path)]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL)
    return subprocess.Popen(["dd", f"if={path}", "of=/dev/null", "bs=1M", "status=none"], stdin=subprocess.DEVNULL)


def used_bytes(disk):
    usage = os.statvfs(disk.folder)
    return (usage.f_blocks - usage.f_bfree) * usage.f_frsize


class Native:
    """The files as they are, in a file system of the kernel."""

    def __init__(self, work, name="native", file_system="ext4"):
        self.name = name
        self.disk = SlowDisk(work / f"disk-{name}", "--file-system", file_system)

    def start(self):
        self.disk.up()

    def path(self, image):
        return self.disk.folder / image.name

    def store(self, image):
        """Seconds until the image is durable."""
        if image.is_dir():
            return extract_seconds(image, self.path(image))
        return copy_seconds(image, self.path(image), "1M", "conv=sparse")

    def stored_bytes(self):
        return used_bytes(self.disk)

    def reader(self, image):
        return reader_of(self.path(image))

    def forget(self):
        """Removes the images from all memory caches."""
        drop_kernel_caches()

    def clean(self):
        self.disk.clean()


class Deduplicated:
    """The files in a volume, whose containers are on a separate disk; with whole, all of the volume is there."""

    def __init__(self, work, name, options, volume_options=(), disk_options=(), slow=True, hash_type="SHA256", whole=False):
        self.work, self.name = work, name
        self.disk = SlowDisk(work / f"disk-{name}", *disk_options) if slow else None
        self.volume_options = [f"--memory-budget={options.memory_budget}MB", *volume_options]
        if hash_type:
            self.volume_options.append(f"--hash-type={hash_type}")
        self.volume = None
        self.whole = whole

    def start(self):
        if self.disk:
            self.disk.up()
        if self.disk and not self.whole:
            self.volume_options.append(f"--chunk-store-data-location={self.disk.folder / 'chunks'}")
        self.volume = Volume(self.work, self.name, *self.volume_options, base=self.disk.folder if self.whole else None)
        self.volume.mount()

    def path(self, image):
        return self.volume.mount_point / image.name

    def store(self, image):
        if image.is_dir():
            return extract_seconds(image, self.path(image))
        return copy_seconds(image, self.path(image), "1M")

    def stored_bytes(self):
        return stored_bytes(self.volume)

    def reader(self, image):
        return reader_of(self.path(image))

    def predicted(self, image):
        """What sdfscli VOLUME file predicts of a cold restore."""
        return json.loads(self.volume.script("sdfscli", self.name, "file", self.path(image), "--json"))

    def container_reads(self):
        """Reads of containers since the mount."""
        return self.volume.figures()["diskReads"]

    def cpu_seconds(self):
        """Processor time of the daemon since the mount, from proc(5)."""
        fields = Path(f"/proc/{self.volume.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def store_warm_up(self):
        """About 100 MB of separate data, which compress to an eighth, so that they add little to the stored bytes."""
        chance = random.Random(0)
        self.path(Path("warm-up")).write_bytes(b"".join(chance.randbytes(BLOCK // 8) * 8 for _ in range(WARM_UP_BLOCKS)))

    def forget(self):
        self.volume.unmount()
        self.volume.mount()
        warm(self.path(Path("warm-up")))
        drop_kernel_caches()

    def clean(self):
        if self.volume:
            self.volume.clean()
        if self.disk:
            self.disk.clean()


def table(title, rows):
    """Rows of equal keys, as columns under the keys."""
    if not rows:
        return
    say(f"\n{title}")
    cells = [list(rows[0])] + [[cell(value) for value in row.values()] for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    for line in cells:
        say("  " + "  ".join(f"{value:>{width}}" for value, width in zip(line, widths)))


def cell(value):
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) and value < 10 else f"{value:.1f}" if isinstance(value, float) else str(value)


def grid(title, rows, text):
    """Rows with a file and a system each as a Markdown table, files down, systems across; text makes a cell of a row."""
    if not rows:
        return
    files = list(dict.fromkeys(row["file"] for row in rows))
    systems = list(dict.fromkeys(row["system"] for row in rows))
    cells = {(row["file"], row["system"]): text(row) for row in rows}
    say(f"\n{title}\n")
    say(f"| | {' | '.join(systems)} |\n|---|{'---|' * len(systems)}")
    for file in files:
        say(f"| {file} | {' | '.join(cells.get((file, system), '') for system in systems)} |")
