#!/usr/bin/env python3
"""Compares the classes of fingerprint indexes on mounted volumes, next to the file system of the work folder.

Run through scripts/bench index --parts mount. Makes a volume of each class and stores the same data in all of them, in turn, so that
the machine's state is the same for all: new random data; the same again (duplicates); a version of which --drift percent changed, in
runs of 256 KiB; and, after a remount with empty caches, the same version again. Random data does not compress. Rates are MB
(10^6 bytes) a second until the data is durable (dd conv=fsync); of several rounds, each with other data, the median. Bytes and memory are those
after the last round. Removes its
mounts, also when it is interrupted. Needs root.
"""

import argparse
import os
import random
import shutil
import statistics
from pathlib import Path

from bench_volume import Volume, copy_seconds, drop_kernel_caches, measure, say, stored_bytes

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
                                  ("most_rss_mb", "  most MB of memory"), ("mount_seconds", "  seconds to mount")):
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


def make(new, drifted, megabytes, drift, seed):
    """Makes a file of random bytes, and a version of it of which a share changed, in runs."""
    chance, changes = random.Random(f"new {seed}"), random.Random(f"changes {seed}")
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
    parser.add_argument("--seed", type=int, default=1, help="seed of the data (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="file for the figures (default: figures.json in the work folder)")
    measure(Bench, parser.parse_args(), lambda report: report.rows)


if __name__ == "__main__":
    main()
