#!/usr/bin/env python3
"""Compares the classes of fingerprint indexes on mounted volumes, next to the file system of the work folder.

Run through scripts/bench index --parts mount. Makes a volume of each class and stores the same data in all of them, in turn, so that
the machine's state is the same for all: new random data; the same again (duplicates); a version of which --drift percent changed, in
runs of 256 KiB; and, after a remount with empty caches, the same version again. Random data does not compress. Rates are MB
(10^6 bytes) a second until the data is durable (dd conv=fsync); of several rounds, each with other data, the median. Bytes and memory are those
after the last round.

With --made N, the index of each volume has N chunks more than its files: they are made, not stored, so that an index of many
terabytes fits a small machine. A file is stored first, then the chunks are made, so its own are the oldest of the index. Then, with
the index on the work folder's disk and on a simulated hard disk (scripts/slow-disk): that file again; new data; a version of the file of
which --drift percent changed; that version again after a remount. The kernel's cache is emptied of the index's files all the time:
the memory of the index is what --memory-budget gives it, and no more.

Removes its mounts, also when it is interrupted. Needs root.
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import time
from pathlib import Path

from bench_disk import Forgetting, SlowDisk
from bench_volume import Volume, copy_seconds, drop_kernel_caches, measure, run, say, stored_bytes

MB = 1_000_000
RUN_BYTES = 256 * 1024
PLAIN = "plain"


class Plain:
    """The file system of the work folder."""

    def __init__(self, work):
        self.folder = work / "plain"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def path(self, name):
        return self.folder / name

    def figures(self):
        return {}

    def cpu_seconds(self):
        return 0.0

    def remount(self):
        drop_kernel_caches()
        return None

    def clean(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class OfClass:
    """A volume with a class of index."""

    def __init__(self, work, label, budget):
        self.volume = Volume(work, f"index-{label}", f"--chunk-store-hashdb-class={label}", f"--memory-budget={budget}MB")
        self.volume.mount()

    def path(self, name):
        return self.volume.mount_point / name

    def figures(self):
        stored = stored_bytes(self.volume)
        self.volume.note_memory()
        index = self.volume.folder / "base" / "chunkstore" / "hdb"
        return {"stored_mb": stored / MB, "index_mb": disk_bytes(index) / MB, "most_rss_mb": self.volume.most_memory / MB,
                "rss_mb": resident(self.volume.pid) / MB}

    def cpu_seconds(self):
        fields = Path(f"/proc/{self.volume.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def remount(self):
        self.volume.unmount()
        drop_kernel_caches()
        return self.volume.mount()

    def clean(self):
        self.volume.clean()


def disk_bytes(folder):
    """Bytes of the disk's blocks that the files of a folder occupy."""
    return sum(file.lstat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())


def resident(pid):
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Report:
    def __init__(self):
        self.rows = []

    def add(self, step, system, rate, **figures):
        self.rows.append({"step": step, "system": system, "mb_per_second": rate, **figures})

    def figure(self, step, system, figure):
        """The median of the rounds; of what grows with each round, the value after the last."""
        values = [row[figure] for row in self.rows if row["step"] == step and row["system"] == system and row.get(figure) is not None]
        if figure in ("stored_mb", "index_mb", "rss_mb", "most_rss_mb"):
            return values[-1] if values else None
        return statistics.median(values) if values else None

    def print_table(self):
        steps = list(dict.fromkeys(row["step"] for row in self.rows))
        systems = list(dict.fromkeys(row["system"] for row in self.rows))
        say(f"\n{'':34}" + "".join(f"{system:>12}" for system in systems))
        for step in steps:
            for figure, title in (("mb_per_second", "MB/s"), ("cpu_seconds", "  CPU seconds a GB"), ("stored_mb", "  MB stored"),
                                  ("index_mb", "  MB of the index on the disk"), ("rss_mb", "  MB of memory"),
                                  ("most_rss_mb", "  most MB of memory"), ("mount_seconds", "  seconds to mount"),
                                  ("read_mb", "  MB read"), ("disk_reads", "  reads of the slow disk"),
                                  ("new_percent", "  stored, % of the file")):
                values = [self.figure(step, system, figure) for system in systems]
                if any(value is not None for value in values):
                    cells = ["-" if value is None else f"{value:,.2f}" if value < 10 else f"{value:,.0f}" for value in values]
                    name = f"{step}, {title}" if figure == "mb_per_second" else title
                    say(f"{name:34}" + "".join(f"{cell:>12}" for cell in cells))


class Bench:
    def __init__(self, options):
        self.options = options
        self.work = options.work
        self.report = Report()
        self.systems = {}

    def run(self):
        self.sources = self.work / "sources"
        self.sources.mkdir(exist_ok=True)
        say(f"Load: {Path('/proc/loadavg').read_text().split()[0]}")
        self.systems[PLAIN] = Plain(self.work)
        for label in self.options.classes:
            self.systems[label] = OfClass(self.work, label, self.options.memory_budget)
        for number in range(1, self.options.rounds + 1):
            say(f"Round {number}:")
            self.round(number)
        say(f"Load: {Path('/proc/loadavg').read_text().split()[0]}")

    def round(self, number):
        new, drifted = self.sources / "new", self.sources / "drifted"
        make(new, drifted, self.options.megabytes, self.options.drift, self.options.seed * 1000 + number)
        self.step("new", new, f"new-{number}")
        self.step("again", new, f"again-{number}")
        self.step("drifted", drifted, f"drifted-{number}")
        for name, system in self.systems.items():
            seconds = system.remount()
            if seconds is not None:
                self.report.add("remounted", name, None, mount_seconds=seconds)
        self.step("remounted", drifted, f"remounted-{number}")

    def step(self, step, source, name):
        for system_name, system in self.systems.items():
            cpu = system.cpu_seconds()
            seconds = copy_seconds(source, system.path(name), "1M")
            rate = source.stat().st_size / MB / seconds
            cpu_seconds = (system.cpu_seconds() - cpu) / (source.stat().st_size / 1e9)
            self.report.add(step, system_name, rate, cpu_seconds=cpu_seconds if system_name != PLAIN else None, **system.figures())
            say(f"  {step} {system_name}: {rate:.0f} MB/s")
            if system_name == PLAIN:
                system.path(name).unlink()

    def clean(self):
        for system in self.systems.values():
            system.clean()
        shutil.rmtree(self.work / "sources", ignore_errors=True)


class MadeBench:
    """Volumes whose indexes have more chunks than memory has room for."""

    def __init__(self, options):
        self.options = options
        self.work = options.work
        self.sources = self.work / "sources"
        self.report = Report()
        self.cleaned = []

    def run(self):
        self.sources.mkdir(exist_ok=True)
        for label in self.options.classes:
            self.of_class(label)
            self.clean()
            self.sources.mkdir(exist_ok=True)
            if not self.options.keep:
                shutil.rmtree(self.work / f"index-{label}")

    def keep(self, thing):
        self.cleaned.append(thing)
        return thing

    def of_class(self, label):
        volume = self.keep(KeptVolume(self.work, f"index-{label}", f"--chunk-store-hashdb-class={label}",
                                      f"--memory-budget={self.options.memory_budget}MB"))
        old, drifted = self.sources / "old", self.sources / "drifted"
        make(old, drifted, self.options.megabytes, self.options.drift, self.options.seed)
        index = volume.folder / "base" / "chunkstore" / "hdb"
        if volume.is_new:
            self.make_chunks(volume, label, old, index)
        for number, device in enumerate(self.options.devices):
            if device == "disk":
                disk = self.keep(SlowDisk(self.work / "hard-disk", "--size", "16G", "--read-ahead", "128"))
                disk.up()
                run("cp", "-a", f"{index}/.", disk.folder)
                self.keep(Bind(disk.folder, index)).up()
            else:
                disk = None
            self.of_device(volume, f"{label} {device}", index, disk, old, drifted, time.time_ns() + number)

    def make_chunks(self, volume, label, old, index):
        volume.mount()
        copy_seconds(old, volume.mount_point / "old", "1M")
        volume.unmount()
        begin = time.monotonic()
        run(os.environ["SDFS_BENCH_JAVA"], "-XX:+UseSerialGC", f"-Xmx{self.options.made * 10 + 256 * MB}",
            "-cp", os.environ["SDFS_BENCH_CLASS_PATH"], "org.opendedup.sar.sim.bench.MadeIndex", "--class", label, "--index", index,
            "--metadata", volume.folder / "base" / "ddb", "--chunks", self.options.made, "--memory", self.options.made * 10 + 64 * MB)
        say(f"{label}: {self.options.made} chunks made in {time.monotonic() - begin:.0f} s, {disk_bytes(index) / MB:.0f} MB")
        volume.is_made()

    def of_device(self, volume, system, index, disk, old, drifted, number):
        new = self.sources / "new"
        make(new, self.sources / "unused", self.options.megabytes, 0, number)
        make(old, drifted, self.options.megabytes, self.options.drift, self.options.seed, number)
        drop_kernel_caches()
        forgetting = self.keep(Forgetting(index, 0.05))
        forgetting.begin()
        self.mount(volume, system, index)
        # The JVM compiles, and the caches are no longer empty.
        make(self.sources / "warm", self.sources / "unused", self.options.warm, 0, number + 1)
        copy_seconds(self.sources / "warm", volume.mount_point / f"warm-{number}", "1M")
        self.step("again", system, volume, old, f"again-{number}", disk)
        self.step("new", system, volume, new, f"new-{number}", disk)
        self.step("drifted", system, volume, drifted, f"drifted-{number}", disk)
        volume.unmount()
        drop_kernel_caches()
        self.mount(volume, system, index)
        self.step("remounted", system, volume, drifted, f"remounted-{number}", disk)
        volume.unmount()
        forgetting.clean()

    def mount(self, volume, system, index):
        """Mounts, and waits until the index does no more work of its own, such as merges."""
        self.report.add("mount", system, None, mount_seconds=volume.mount())
        before = None
        while before != (now := sorted((file.name, file.stat().st_size) for file in index.rglob("*") if file.is_file())):
            before = now
            time.sleep(2)

    def step(self, step, system, volume, source, name, disk):
        stored, io, counters = stored_bytes(volume), process_io(volume.pid), disk.counters() if disk else {}
        seconds = copy_seconds(source, volume.mount_point / name, "1M")
        read = process_io(volume.pid)["read_bytes"] - io["read_bytes"]
        reads = disk.counters()["reads"] - counters["reads"] if disk else None
        size = source.stat().st_size
        volume.note_memory()
        self.report.add(step, system, size / MB / seconds, read_mb=read / MB, disk_reads=reads,
                        new_percent=100 * (stored_bytes(volume) - stored) / size, most_rss_mb=volume.most_memory / MB)
        say(f"  {step} {system}: {size / MB / seconds:.1f} MB/s, {read / MB:.0f} MB read" + (f", {reads:.0f} reads" if disk else ""))

    def clean(self):
        for thing in reversed(self.cleaned):
            thing.clean()
        self.cleaned.clear()
        shutil.rmtree(self.sources, ignore_errors=True)


class KeptVolume(Volume):
    """A volume that stays in the work folder, and that a further run takes as it is, once it is made."""

    def __init__(self, work, name, *options):
        self.made = work / name / "made"
        self.is_new = not self.made.exists()
        if self.is_new:
            super().__init__(work, name, *options)
        else:
            self.attach(work, name)

    def is_made(self):
        self.made.touch()

    def clean(self):
        self.end()
        if not self.made.exists():
            shutil.rmtree(self.folder, ignore_errors=True)


class Bind:
    """A folder shown in the place of another one."""

    def __init__(self, folder, place):
        self.folder, self.place = folder, place

    def up(self):
        run("mount", "--bind", self.folder, self.place)

    def clean(self):
        subprocess.run(["umount", "-l", str(self.place)], stderr=subprocess.DEVNULL, check=False)


def process_io(pid):
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return {name: int(value) for name, value in (line.split(": ") for line in lines)}


def make(new, drifted, megabytes, drift, seed, changes_seed=None):
    """Makes a file of random bytes, and a version of it of which a share changed, in runs."""
    chance, changes = random.Random(f"new {seed}"), random.Random(f"changes {changes_seed or seed}")
    with open(new, "wb") as first, open(drifted, "wb") as second:
        for _ in range(megabytes * MB // RUN_BYTES):
            run = chance.randbytes(RUN_BYTES)
            first.write(run)
            second.write(changes.randbytes(RUN_BYTES) if changes.random() * 100 < drift else run)


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench index --parts mount", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("/var/tmp/sar-bench-index"), help="work folder (default: %(default)s)")
    parser.add_argument("--classes", default="rocksdb,chunkstash,silo", type=lambda text: text.split(","),
                        help="classes of the index (default: %(default)s)")
    parser.add_argument("--megabytes", type=int, default=1000, help="MB of new data a round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; medians are printed (default: %(default)s)")
    parser.add_argument("--drift", type=float, default=5, metavar="PERCENT", help="share that changes (default: %(default)s)")
    parser.add_argument("--memory-budget", type=int, default=1000, metavar="MB", help="of each volume (default: %(default)s)")
    parser.add_argument("--made", type=int, default=0, metavar="N",
                        help="chunks that the indexes have beside those of the files, such as 100000000; about 100 bytes of disk and "
                             "10 of memory each while they are made (default: none)")
    parser.add_argument("--warm", type=int, default=100, metavar="MB",
                        help="with --made: new data that is stored after a mount before anything is measured (default: %(default)s)")
    parser.add_argument("--keep", action="store_true",
                        help="with --made: leave the volumes; a further run takes them, and makes no chunks")
    parser.add_argument("--devices", default="ssd,disk", type=lambda text: [word for word in text.split(",") if word],
                        help="with --made: ssd is the disk of the work folder, disk a simulated one (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the data (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="file for the figures (default: figures.json in the work folder)")
    options = parser.parse_args()
    measure(MadeBench if options.made else Bench, options, lambda report: report.rows)


if __name__ == "__main__":
    main()
