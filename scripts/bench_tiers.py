"""Files larger than the fast tier, on designs as real systems: the part "tiers" of scripts/bench tddfs.

As the evaluation of the TDDFS paper (section 5.1): files are written, then requests follow one another. Its designs that
exist here as real systems are these. The slow tier is a disk of scripts/slow-disk, one for each system; the fast tier, and
the metadata and index of all volumes, are on the work folder's own disk.

  slow   ext4 on the slow disk: the paper's SlowTierOnly
  fast   ext4 on the fast disk, which holds everything: the limit of NoDedup, which as a real system is not here
  dedup  a volume without SSD: deduplication on the slow tier alone
  sar    the same with copies of chunks on an SSD of the fast tier's size, by SAR's default policy
  open   the same, with copies of whatever is read: deduplication on both tiers, nearest to the paper's AllDedup
  tddfs  a volume whose new files lie whole on the fast tier (--tier-mode=tddfs)

The paper's FastTierNoDedup, which restores a file to its original state when it is opened, is no system here.

Contents: families of three versions of a file; each version has one block of 64 KiB in 16 of its own. Which file a request
is for: a fifth of the files has four fifths of the requests, a fifth of these four fifths of those, and so on.
Every ten requests the kernel's caches are dropped, outside of the time. The time of a run is that of its requests and of one
syncfs(2) at its end.
"""

import os
import random
import shutil
import statistics
import time
from pathlib import Path

from bench_disk import SlowDisk
from bench_systems import table
from bench_volume import Volume, drop_kernel_caches, run, say

KIB, MIB = 1 << 10, 1 << 20
BLOCK = 64 * KIB
VERSIONS = 3
OWN_BLOCKS = 16
REQUESTS_BETWEEN_DROPS = 10
APPEND = 16 * KIB
# A fifth of the files has four fifths of the requests.
SKEW = 7.21
# Migration and promotion have ended when the daemon used no processor time for a while.
SETTLED_SECONDS = 2
MOST_SETTLING_SECONDS = 60

# Mean bytes of a file, and percents of reads. fileserver: ranges of a file, as the paper's Lab_trace and Syn_trace; varmail: whole
# files are read, and appended to or replaced with fsync, as its Var_trace; web: whole files are read, and a log is appended to.
SHAPES = {"fileserver": (2 * MIB, (90, 70, 50, 30, 10)), "varmail": (512 * KIB, (45,)), "web": (256 * KIB, (91,))}


class Content:
    """The bytes of files: any three neighbours are versions of the same."""

    def __init__(self, seed):
        self.seed = seed

    def block(self, file, number, change=0):
        is_own = change or random.Random(f"{self.seed} {file} {number} own").randrange(OWN_BLOCKS) == 0
        key = f"{self.seed} {file} {change}" if is_own else f"{self.seed} family {file // VERSIONS}"
        return random.Random(f"{key} {number}").randbytes(BLOCK)

    def bytes(self, file, length, change=0):
        blocks = (self.block(file, number, change) for number in range((length + BLOCK - 1) // BLOCK))
        return b"".join(blocks)[:length]


class Trace:
    """Files and requests, the same for all systems."""

    def __init__(self, shape, read_percent, total_mib, requests, seed):
        self.shape = shape
        mean, _ = SHAPES[shape]
        chance = random.Random(seed)
        files = max(VERSIONS, total_mib * MIB // mean)
        # Versions of a file have the same length.
        lengths = [max(4 * KIB, int(chance.expovariate(1 / mean))) for _ in range(files // VERSIONS + 1)]
        self.lengths = [lengths[file // VERSIONS] for file in range(files)]
        popular = list(range(files))
        chance.shuffle(popular)
        self.requests = []
        for _ in range(requests):
            file = popular[int(files * chance.random() ** SKEW)]
            self.requests.append((self.kind(chance, read_percent), file, chance.random(), chance.random()))

    def kind(self, chance, read_percent):
        if chance.random() * 100 < read_percent:
            return "read"
        if self.shape == "varmail":
            return chance.choice(("append", "replace"))
        return "log" if self.shape == "web" else "write"


def write_all(path, data, flags=os.O_WRONLY, offset=None, sync=False):
    file = os.open(path, flags | os.O_CREAT, 0o644)
    try:
        if offset is not None:
            os.lseek(file, offset, os.SEEK_SET)
        view = memoryview(data)
        while view:
            view = view[os.write(file, view):]
        if sync:
            os.fsync(file)
    finally:
        os.close(file)


def read_range(path, offset, length):
    with open(path, "rb", buffering=0) as file:
        file.seek(offset)
        left = length
        while left > 0:
            got = len(file.read(min(left, MIB)))
            if got == 0:
                raise RuntimeError(f"{path} ends {left} bytes too early")
            left -= got


class System:
    """A file system in whose folder files are made: a volume, if it has options for one, or ext4."""

    def __init__(self, work, name, options, volume_options=None, slow=True):
        self.work, self.name, self.options = work / f"tiers-{name}", name, options
        self.volume_options = volume_options
        self.disk = SlowDisk(work / f"disk-{name}") if slow else None
        self.volume = None

    def start(self):
        self.clean()
        self.work.mkdir(parents=True)
        if self.disk:
            self.disk.up()
        if self.volume_options is not None:
            settings = [option.replace("WORK", str(self.work)) for option in self.volume_options]
            self.volume = Volume(self.work, f"tiers-{self.name}", f"--memory-budget={self.options.memory_budget}MB", "--hash-type=SHA256",
                                 f"--chunk-store-data-location={self.disk.folder / 'chunks'}", *settings)
            self.volume.mount()

    def folder(self):
        return self.volume.mount_point if self.volume else self.disk.folder if self.disk else self.work

    def settle(self):
        """Waits until what the daemon does in the background has ended. Its own caches stay, as the JVM's compiled code does."""
        drop_kernel_caches()
        if not self.volume:
            return
        begin = since = time.monotonic()
        used = self.cpu_ticks()
        while time.monotonic() - since < SETTLED_SECONDS and time.monotonic() - begin < MOST_SETTLING_SECONDS:
            time.sleep(0.2)
            now = self.cpu_ticks()
            if now > used + 4:
                used, since = now, time.monotonic()

    def cpu_ticks(self):
        fields = Path(f"/proc/{self.volume.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def clean(self):
        if self.volume:
            self.volume.clean()
            self.volume = None
        if self.disk:
            self.disk.clean()
        shutil.rmtree(self.work, ignore_errors=True)


def systems(work, options):
    percent = options.fast_percent
    capacity = f"--sar-ssd-capacity={options.tiers_mib * percent // 100}MB"
    ssd = ("--sar-ssd-location=WORK/ssd", capacity)
    every = [System(work, "slow", options), System(work, "fast", options, slow=False),
             System(work, "dedup", options, ()), System(work, "sar", options, ssd),
             System(work, "open", options, (*ssd, "--sar-policy=open")),
             System(work, "tddfs", options, (*ssd, "--tier-mode=tddfs", "--tddfs-unprotected"))]
    wanted = options.designs.split(",")
    return [system for system in every if system.name in wanted]


def replay(system, trace, content):
    """Writes the files, then makes the requests; returns seconds, requested bytes and milliseconds of each request."""
    folder = system.folder()
    lengths = list(trace.lengths)
    for file, length in enumerate(lengths):
        write_all(folder / str(file), content.bytes(file, length))
    system.settle()
    before = system.disk.counters() if system.disk else None
    taken, moved = [], 0
    for number, (kind, file, where, share) in enumerate(trace.requests):
        if number % REQUESTS_BETWEEN_DROPS == 0:
            Path("/proc/sys/vm/drop_caches").write_text("3")
        path, size = folder / str(file), lengths[file]
        length = max(1, int(share * size))
        offset = int(where * (size - length))
        if kind == "read" and trace.shape != "fileserver":
            offset, length = 0, size
        data = b""
        if kind in ("append", "log"):
            length = APPEND
        elif kind == "replace":
            length = size
        if kind != "read":
            data = content.bytes(file, length, change=number + 1)
        begin = time.monotonic()
        if kind == "read":
            read_range(path, offset, length)
        elif kind == "write":
            write_all(path, data, offset=offset)
        elif kind == "append":
            write_all(path, data, os.O_WRONLY | os.O_APPEND, sync=True)
        elif kind == "log":
            write_all(folder / "log", data, os.O_WRONLY | os.O_APPEND)
        else:
            path.unlink()
            write_all(path, data, sync=True)
        taken.append((time.monotonic() - begin) * 1e3)
        moved += length
        lengths[file] += APPEND if kind == "append" else 0
    begin = time.monotonic()
    run("sync", "-f", folder)
    seconds = sum(taken) / 1e3 + time.monotonic() - begin
    since = system.disk.since(before) if system.disk else {}
    return {"seconds": seconds, "mbPerSecond": moved / seconds / 1e6, "meanMs": statistics.mean(taken),
            "diskReadMb": since.get("read_mb"), "diskWrittenMb": since.get("written_mb"), "diskSeeks": since.get("seeks")}


class Tiers:
    """The part "tiers"."""

    def __init__(self, options):
        self.options = options
        self.systems = systems(options.work, options)
        self.rows = []

    def run(self):
        for shape in self.options.shapes.split(","):
            reads = [int(percent) for percent in self.options.reads.split(",")] if self.options.reads else SHAPES[shape][1]
            for percent in reads:
                trace = Trace(shape, percent, self.options.tiers_mib, self.options.requests, self.options.seed)
                for system in self.systems:
                    try:
                        system.start()
                        row = replay(system, trace, Content(self.options.seed))
                    finally:
                        system.clean()
                    self.rows.append({"shape": shape, "reads": percent, "system": system.name, **row})
                    say(f"  {shape}, {percent} % reads, {system.name}: {row['mbPerSecond']:.1f} MB/s, {row['meanMs']:.1f} ms")
        self.show()

    def show(self):
        table(f"Files of {self.options.tiers_mib} MiB, fast tier of {self.options.fast_percent} %, {self.options.requests} requests", self.rows)
        names = [system.name for system in self.systems]
        points = dict.fromkeys((row["shape"], row["reads"]) for row in self.rows)
        say(f"\n| MB/s | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
        for shape, reads in points:
            cells = [next(f"{row['mbPerSecond']:.1f}" for row in self.rows
                          if (row["shape"], row["reads"], row["system"]) == (shape, reads, name)) for name in names]
            say(f"| {shape}, {reads} % reads | {' | '.join(cells)} |")

    def clean(self):
        for system in self.systems:
            system.clean()
