#!/usr/bin/env python3
"""Ingests five backups through the mount and reads them back, next to a plain copy; prints a table and writes JSON.

Run through scripts/bench ingest. Rates are MB (10^6 bytes) per second until the data is durable (dd conv=fsync). dd and this
program do all reading and writing, in separate processes. The figures depend on the machine's state: compare only columns of one
run. Removes its mount and daemon, also when it is interrupted.
"""

import argparse
import mmap
import multiprocessing
import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import bench_series
from bench_volume import Volume, copy_seconds, drop_kernel_caches, measure, run, say, stored_bytes, warm

MB = 1_000_000
# Fits the restore cache of the default budget (about a quarter of 1 GB), so that reads "from our cache" really are.
CACHED_BYTES = 160 * 1024 * 1024
OVERWRITTEN_BYTES = 512 * 1024 * 1024
JVM_BYTES = 150_000_000


def copy_rate(source, target, block, *dd_options):
    """Copies a file, which is read before, and makes it durable; MB/s."""
    return source.stat().st_size / MB / copy_seconds(source, target, block, *dd_options)


def read_once(file):
    """Sequential read with the kernel's cache empty; MB/s."""
    drop_kernel_caches()
    begin = time.monotonic()
    warm(file)
    return file.stat().st_size / MB / (time.monotonic() - begin)


def read_rate(file):
    """Sequential read with the kernel's cache empty, the best of three; MB/s."""
    return max(read_once(file) for _ in range(3))


def random_reads(file, readers=2, seconds=5):
    """Random 4 KiB O_DIRECT reads of several readers; reads per second."""
    with multiprocessing.Pool(readers) as pool:
        counts = pool.starmap(_read_randomly, [(str(file), seed, seconds) for seed in range(readers)])
    return sum(counts) / seconds


def _read_randomly(file, seed, seconds):
    chance = random.Random(seed)
    pages = os.path.getsize(file) // 4096
    descriptor = os.open(file, os.O_RDONLY | os.O_DIRECT)
    buffer = [mmap.mmap(-1, 4096)]
    count = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(100):
            os.preadv(descriptor, buffer, int(chance.random() * pages) * 4096)
        count += 100
    os.close(descriptor)
    return count


def random_overwrites(file, seconds=15):
    """Random 4 KiB overwrites with an fsync every 100; writes per second."""
    chance = random.Random(1)
    pages = file.stat().st_size // 4096
    block = chance.randbytes(4096 * 64)
    descriptor = os.open(file, os.O_WRONLY)
    count = 0
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        for _ in range(100):
            at = chance.randrange(63 * 4096)
            os.pwrite(descriptor, block[at : at + 4096], chance.randrange(pages) * 4096)
        os.fsync(descriptor)
        count += 100
    rate = count / (time.monotonic() - begin)
    os.close(descriptor)
    return rate


class Report:
    """The figures, each with its target."""

    def __init__(self):
        self.rows = []

    def add(self, figure, target, ours, plain=None, digits=0):
        self.rows.append({"figure": figure, "target": target, "ours": ours, "plain": plain, "digits": digits})
        say(f"  {figure}: {ours:.{digits}f}" + ("" if plain is None else f" (plain {plain:.{digits}f})"))

    def print_table(self):
        say(f"\n{'figure':58} {'target':>10} {'ours':>10} {'plain':>10}")
        for row in self.rows:
            cells = ["-" if row[key] is None else f"{row[key]:,.{row['digits']}f}" for key in ("ours", "plain")]
            say(f"{row['figure']:58} {row['target']:>10} {cells[0]:>10} {cells[1]:>10} {self.verdict(row)}")

    @staticmethod
    def verdict(row):
        sign, _, value = row["target"].partition(" ")
        if not value:
            return ""
        reached = row["ours"] >= float(value) if sign == ">=" else row["ours"] <= float(value)
        return "" if reached else "  missed"


class Bench:
    def __init__(self, options):
        self.work = options.work
        self.plain = self.work / "plain"
        self.report = Report()
        self.volumes = []
        self.options = options

    def volume(self, name, *options):
        made = Volume(self.work, name, f"--memory-budget={self.options.memory_budget}MB", *options)
        self.volumes.append(made)
        return made

    def run(self):
        say("Series of backups:")
        series = bench_series.make(self.work / "series", self.options.seed, self.options.first_mb * MB)
        self.plain.mkdir(exist_ok=True)
        if self.options.parts == "encrypted":
            self.encrypted(series)
            return
        say("Default volume:")
        volume = self.volume("default")
        volume.mount()
        self.ingest(volume, series)
        self.stored(volume, series)
        self.duplicates(volume, series[-1])
        self.reads(volume, series[0])
        self.remounts(volume, series[1])
        self.memory(volume)
        volume.clean()
        say("Past the kernel's page cache (O_DIRECT):")
        self.direct(series)
        say("An encrypted volume, next to one that is not:")
        self.encrypted(series)
        say("Fixed chunks:")
        self.overwrites()

    def ingest(self, volume, series):
        ours, plain = [], []
        for path in series:
            ours.append(copy_rate(path, volume.mount_point / path.name, "1M"))
            plain.append(copy_rate(path, self.plain / path.name, "1M"))
            (self.plain / path.name).unlink()
        self.report.add("first backup, MB/s", ">= 350", ours[0], plain[0])
        for number, rates in enumerate(zip(ours[1:], plain[1:]), start=2):
            self.report.add(f"later backup {number}, MB/s", ">= 600", *rates)

    def encrypted(self, series):
        """The same backups into both, in turn; then read back with all caches empty. The column "plain" is the volume that is not."""
        volumes = [self.volume("encrypted", "--encrypt"), self.volume("unencrypted")]
        names = [*[f"backup {number}" for number in range(1, len(series) + 1)], "all-duplicate"]
        rates = {name: {} for name in names}
        for volume in volumes:
            volume.mount()
        for number, (name, path) in enumerate(zip(names, [*series, series[-1]])):
            # What is written second may find the machine busier, or faster.
            for volume in volumes if number % 2 else reversed(volumes):
                rates[name][volume.name] = copy_rate(path, volume.mount_point / f"{number}", "1M")
        for name, rate in rates.items():
            self.report.add(f"{name}, encrypted, MB/s", f">= {0.85 * rate['unencrypted']:.0f}", rate["encrypted"], rate["unencrypted"])
        for volume in volumes:
            volume.unmount()
            volume.mount()
        for number, name in enumerate(names[:-1]):
            read = {volume.name: read_once(volume.mount_point / f"{number}")
                    for volume in (volumes if number % 2 else reversed(volumes))}
            self.report.add(f"{name} read back, encrypted, MB/s", f">= {0.9 * read['unencrypted']:.0f}", read["encrypted"],
                            read["unencrypted"])
        stored = [stored_bytes(volume) / MB for volume in volumes]
        self.report.add("stored of the backups, encrypted, MB", f"<= {1.05 * stored[1]:.0f}", *stored)
        for volume in volumes:
            self.memory(volume)
            volume.clean()

    def direct(self, series):
        """The same without the kernel's page cache, which can be most of the cost of a copy on a virtual machine."""
        volume = self.volume("direct")
        volume.mount()
        sources = [*series, series[-1]]
        figures = ["first backup", *[f"later backup {number}" for number in range(2, len(series) + 1)], "all-duplicate"]
        targets = [">= 350", *[">= 600"] * (len(series) - 1), ">= 800"]
        for number, (source, figure, target) in enumerate(zip(sources, figures, targets)):
            ours = copy_rate(source, volume.mount_point / f"direct-{number}", "1M", "oflag=direct")
            plain = copy_rate(source, self.plain / "direct", "1M", "oflag=direct")
            (self.plain / "direct").unlink()
            self.report.add(f"{figure}, O_DIRECT, MB/s", target, ours, plain)
        self.memory(volume)
        volume.clean()

    def stored(self, volume, series):
        compared = self.other_programs(series)
        sizes = {"default": stored_bytes(volume)}
        backup = self.volume("backup", "--backup-volume")
        backup.mount()
        rates = [copy_rate(path, backup.mount_point / path.name, "1M") for path in series]
        sizes["--backup-volume"] = stored_bytes(backup)
        self.report.add("first backup with --backup-volume, MB/s", "", rates[0])
        self.memory(backup)
        backup.clean()
        logical = sum(path.stat().st_size for path in series)
        for options, share in (("default", 1.2), ("--backup-volume", 1.05)):
            target = f"<= {share * compared['restic'] / MB:.0f}" if "restic" in compared else ""
            self.report.add(f"stored of the five, {options}, MB", target, sizes[options] / MB, logical / MB)
        for program, size in compared.items():
            self.report.add(f"stored of the five by {program}, MB", "", size / MB)

    def other_programs(self, series):
        """Bytes that restic and borg store for the series, where installed."""
        sizes = {}
        repository = self.work / "repository"
        env = {**os.environ, "RESTIC_PASSWORD": "bench", "RESTIC_CACHE_DIR": str(self.work / "restic-cache"),
               "BORG_BASE_DIR": str(self.work / "borg")}
        for program, initialize, store in (
            ("restic", ["init", "-r", repository], lambda path: ["backup", "-q", "-r", repository, path]),
            ("borg", ["init", "-e", "none", repository], lambda path: ["create", f"{repository}::{path.stem}", path]),
        ):
            if not shutil.which(program):
                say(f"  {program} is not installed: its stored size is left out")
                continue
            shutil.rmtree(repository, ignore_errors=True)
            run(program, *initialize, env=env)
            for path in series:
                run(program, *store(path), env=env)
            sizes[program] = sum(file.stat().st_size for file in repository.rglob("*") if file.is_file())
            shutil.rmtree(repository)
        return sizes

    def duplicates(self, volume, source):
        for block in ("1M", "4k", "10k"):
            target = volume.mount_point / f"duplicate-{block}"
            ours = copy_rate(source, target, block)
            plain = copy_rate(source, self.plain / "duplicate", block)
            (self.plain / "duplicate").unlink()
            target.unlink()
            self.report.add(f"all-duplicate, writes of {block}, MB/s", ">= 800", ours, plain)

    def reads(self, volume, source):
        ours, plain = volume.mount_point / "cached", self.plain / "cached"
        for file in (ours, plain):
            run("dd", f"if={source}", f"of={file}", "bs=1M", f"count={CACHED_BYTES >> 20}", "conv=fsync", "status=none")
        # Written data may be in no cache: the first read fills ours.
        drop_kernel_caches()
        warm(ours)
        self.report.add("sequential read from our cache, MB/s", ">= 1000", read_rate(ours), read_rate(plain))
        self.report.add("random 4 KiB O_DIRECT reads of two, a second", ">= 60000", random_reads(ours), random_reads(plain))
        plain.unlink()

    def overwrites(self):
        volume = self.volume("fixed", "--hash-type=SHA256")
        volume.mount()
        rates = []
        for folder in (volume.mount_point, self.plain):
            file = folder / "image"
            run("dd", "if=/dev/urandom", f"of={file}", "bs=1M", f"count={OVERWRITTEN_BYTES >> 20}", "conv=fsync",
                "status=none")
            rates.append(random_overwrites(file))
            file.unlink()
        self.report.add("random 4 KiB overwrites, fsync every 100, a second", ">= 3000", *rates)
        self.memory(volume)
        volume.clean()

    def remounts(self, volume, source):
        volume.unmount()
        self.report.add("remount, s", "<= 2", volume.mount(), digits=2)
        # Kills the daemon during a backup, after half a second.
        writer = subprocess.Popen(["dd", f"if={source}", f"of={volume.mount_point / 'cut-off'}", "bs=1M"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        volume.kill()
        writer.wait()
        self.report.add("remount after kill -9 under load, s", "<= 10", volume.mount(), digits=2)

    def memory(self, volume):
        if volume.pid:
            volume.note_memory()
        budget = volume.figures()["memoryBudgetBytes"]
        limit = (budget + JVM_BYTES) / MB
        self.report.add(f"most memory, {volume.name}, MB", f"<= {limit:.0f}", volume.most_memory / MB)

    def clean(self):
        for volume in self.volumes:
            volume.clean()
        shutil.rmtree(self.plain, ignore_errors=True)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench ingest", description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("/var/tmp/sar-bench"),
                        help="work folder; keeps the series of backups between runs (default: %(default)s, about 12 GB)")
    parser.add_argument("--seed", type=int, default=1, help="of the drift between the backups (default: %(default)s)")
    parser.add_argument("--first-mb", type=int, default=700, help="size of the first backup, roughly (default: %(default)s)")
    parser.add_argument("--parts", choices=["all", "encrypted"], default="all",
                        help="all, or an encrypted volume next to one that is not (default: %(default)s)")
    parser.add_argument("--memory-budget", type=int, default=1024, help="MB of each volume (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="where to write the figures (default: figures.json in the work folder)")
    return parser.parse_args()


def main():
    measure(Bench, parse(), lambda report: report.rows, "; MB are 10^6 bytes")


if __name__ == "__main__":
    main()
