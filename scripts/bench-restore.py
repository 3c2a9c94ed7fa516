#!/usr/bin/env python3
"""Backups, disk images and a tree of files, stored and read back cold from a slow disk; prints tables, writes JSON.

Run through scripts/bench restore. One run compares native ext4, btrfs with zstd:1 where the kernel has it, a volume read through its
mount, and borg, restic and rustic where installed. The slow disk is scripts/slow-disk, one for each, with all of a volume; the caches
of the programs are on the work folder's own disk. Files are stored in order from the kernel's cache, each until it is durable, and
read back one by one, each with cold caches, into memory. Processor seconds are the machine's, without those of the slow disk's program.

Backups are the tars of scripts/bench ingest, in a volume with default options and in one with --backup-volume; images are those of
scripts/bench sar, in one with --hash-type=SHA256. The tree is that of scripts/bench metadata, with fewer files; tar reads it
folder by folder, as borg and restic write it as a tar. MB are 10^6 bytes. Removes its mounts, loop devices and processes, also when it is interrupted.
"""

import argparse
import mmap
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import bench_images
import bench_series
import bench_tree
from bench_disk import SlowDisk
from bench_systems import Deduplicated, Native, grid, size_of, table, used_bytes
from bench_volume import drop_kernel_caches, measure, run, say, warm

MB = 1_000_000
# Volumes by the names of their systems, with options of mkfs.sdfs; the first one is also read by several at once and randomly.
KINDS = {"backups": {"ours": [], "ours-encrypted": ["--encrypt"], "ours-backup-volume": ["--backup-volume"]},
         "images": {"ours": ["--hash-type=SHA256"]}, "tree": {"ours": [], "ours-encrypted": ["--encrypt"]}}
AT_ONCE = 4


class Commands(NamedTuple):
    """How a program makes a repository, stores a file or folder in it, and writes a stored file, or a folder as a tar, to its output."""

    make: str
    store: str
    restore: str
    restore_tree: str


# Words in braces are filled in; names and paths have no spaces.
PROGRAMS = {
    "borg": Commands("init -e none {repository}", "create --compression=lz4 {repository}::{name} {file}",
                     "extract --stdout {repository}::{name}", "export-tar {repository}::{name} -"),
    "restic": Commands("init -r {repository}", "backup -q -r {repository} --tag {name} {file}",
                       "dump -q -r {repository} --tag {name} latest {file}", "dump -q -r {repository} --tag {name} latest {file}"),
    "rustic": Commands("init -r {repository}", "backup -r {repository} --tag {name} {file}",
                       "dump -r {repository} --filter-tags {name} latest:{file}",
                       "dump --archive tar -r {repository} --filter-tags {name} latest:{file}"),
}


class Program:
    """A program for backups, with its repository on a slow disk; its cache is on the work folder's own disk."""

    def __init__(self, work, name):
        self.name = name
        self.commands = PROGRAMS[name]
        self.cache = work / f"cache-{name}"
        self.disk = SlowDisk(work / f"disk-{name}")
        self.repository = self.disk.folder / "repository"
        self.env = {**os.environ, "BORG_BASE_DIR": str(self.cache), "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
                    "RESTIC_PASSWORD": "bench", "RESTIC_CACHE_DIR": str(self.cache), "RUSTIC_PASSWORD": "bench",
                    "RUSTIC_CACHE_DIR": str(self.cache), "RUSTIC_NO_PROGRESS": "true", "RUSTIC_LOG_LEVEL": "warn"}

    def words(self, command, file=Path()):
        return [self.name, *command.format(repository=self.repository, file=file, name=file.stem).split()]

    def start(self):
        self.disk.up()
        run(*self.words(self.commands.make), env=self.env)

    def store(self, file):
        """Seconds until the file is durable."""
        warm(file.with_suffix(".tar") if file.is_dir() else file)
        begin = time.monotonic()
        run(*self.words(self.commands.store, file), env=self.env)
        run("sync", "-f", self.repository)
        return time.monotonic() - begin

    def stored_bytes(self):
        return used_bytes(self.disk)

    def reader(self, file):
        restore = self.commands.restore_tree if file.is_dir() else self.commands.restore
        return subprocess.Popen(self.words(restore, file), env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL)

    def forget(self):
        drop_kernel_caches()

    def clean(self):
        self.disk.clean()
        shutil.rmtree(self.cache, ignore_errors=True)


class Report:
    def __init__(self):
        self.machine = {"cores": os.cpu_count(), "kernel": platform.release(), "date": time.strftime("%Y-%m-%d %H:%M")}
        self.stored, self.ingests, self.restores, self.in_one_mount, self.at_once, self.random_reads = [], [], [], [], [], []

    def figures(self):
        return {"machine": self.machine, "stored": self.stored, "ingests": self.ingests, "restores": self.restores, "inOneMount": self.in_one_mount,
                "atOnce": self.at_once, "randomReads": self.random_reads}

    def print_table(self):
        table("Stored", self.stored)
        table("Cold restores into memory; through the mount, the first after mounting", self.restores)
        table("Restores one after the other in one mount, the kernel's caches emptied before each", self.in_one_mount)
        table("Random 4 KiB reads, cold, one at a time, through the mount", self.random_reads)
        one_mount = [{**row, "system": f"{row['system']}, in one mount"} for row in self.in_one_mount]
        grid("Restores, MB/s (seeks)", self.restores + one_mount, lambda row: f"{row['mbPerSecond']:.0f} ({row['diskSeeks']})")
        grid("Restores, MB of the disk in requests; processor seconds", self.restores + one_mount,
             lambda row: f"{row['diskMb']:.0f} in {row['diskRequests']}; {row['cpuSeconds']:.1f}")
        grid("Restores in one mount, reads of containers", [row for row in self.in_one_mount if row["containerReads"] is not None],
             lambda row: str(row["containerReads"]))
        grid(f"{AT_ONCE} restores at once, MB/s (times one after the other)", self.at_once,
             lambda row: f"{row['mbPerSecond']:.0f} ({row['ratio']:.1f})")
        grid("Stored until durable, MB/s", self.ingests, lambda row: f"{row['mbPerSecond']:.0f}")
        predicted = [row for row in self.in_one_mount if row["predictedSeeks"] is not None]
        grid("Restores in one mount, seeks and MB of the disk, and as sdfscli VOLUME file predicts", predicted,
             lambda row: f"{row['diskSeeks']}, {row['diskMb']:.0f}; {row['predictedSeeks']}, {row['predictedMb']:.0f}")
        say(f"\n{self.machine}")


class Bench:
    def __init__(self, options):
        self.options = options
        self.work = options.work
        self.report = Report()
        self.systems = []

    def run(self):
        for kind in self.options.kinds:
            say(f"{kind}:")
            files = self.files(kind)
            self.set_up(kind, files)
            for number, file in enumerate(files):
                # A system's speed depends on the memory use of the one before it, so each system runs in each place.
                first = number % len(self.systems)
                turned = self.systems[first:] + self.systems[:first]
                rows = {system.name: self.restore(kind, system, file) for system in turned}
                for row in rows.values():
                    row["timesNative"] = row["mbPerSecond"] / rows["native"]["mbPerSecond"]
                self.report.restores += [rows[system.name] for system in self.systems]
            volumes = [system for system in self.systems if isinstance(system, Deduplicated)]
            for volume in volumes:
                self.restore_in_one_mount(kind, volume, files)
            if kind != "tree" and len(self.options.cache) == 1:
                for system in self.systems:
                    self.restore_at_once(kind, system, files)
                self.read_randomly(kind, volumes[0], files[0])
            self.clean()

    def files(self, kind):
        if kind == "backups":
            return bench_series.make(self.work / "series", self.options.seed, self.options.backup_mb * MB, self.options.versions)
        if kind == "tree":
            tar = bench_tree.make(self.work / "tree", self.options.seed, self.options.tree_files)
            folder = tar.with_suffix("")
            if not folder.exists() or folder.stat().st_ctime < tar.stat().st_mtime:
                shutil.rmtree(folder, ignore_errors=True)
                run("tar", "xf", tar, "-C", tar.parent)
            return [folder]
        return bench_images.make(self.work / "images", bench_images.MACHINES[: self.options.images])

    def set_up(self, kind, files):
        systems = [Native(self.work)]
        if not self.options.alone:
            if has_btrfs():
                systems.append(Native(self.work, "btrfs", "btrfs"))
            else:
                say("  without btrfs: the kernel has none")
            systems += [Program(self.work, name) for name in PROGRAMS if shutil.which(name)]
        are_compared = len(self.options.cache) > 1
        for cache in self.options.cache:
            # The first volume of a kind is enough where policies are compared.
            volumes = list(KINDS[kind].items())[: 1 if are_compared else None]
            # Short: the path of a control socket has it twice.
            suffix = f"-{re.sub('[^a-z0-9]+', '-', cache.replace('references=', ''))}" if are_compared else ""
            systems += [Deduplicated(self.work, name + suffix, self.options, [f"--restore-cache={cache}", *more], hash_type="", whole=True)
                        for name, more in volumes]
        for system in systems:
            # Recorded before it is made: an interruption must also remove an incomplete one.
            self.systems.append(system)
            system.start()
            if isinstance(system, Deduplicated):
                system.store_warm_up()
            seconds = [system.store(file) for file in files]
            stored = system.stored_bytes()
            sizes = [size_of(file) / MB for file in files]
            self.report.stored.append({"kind": kind, "system": system.name, "files": len(files), "mb": sum(sizes),
                                       "storedMb": stored / MB, "seconds": sum(seconds)})
            self.report.ingests += [{"kind": kind, "file": file.stem, "system": system.name, "seconds": took, "mbPerSecond": size / took}
                                    for file, size, took in zip(files, sizes, seconds)]
            say(f"  stored by {system.name}: {stored / MB:.0f} MB, {sum(seconds):.1f} s")

    def restore_in_one_mount(self, kind, system, files):
        """The daemon runs all the time, as in normal use; the kernel's caches are emptied before each file."""
        native = {row["file"]: row for row in self.report.restores if row["system"] == "native" and row["kind"] == kind}
        predicted = [None if file.is_dir() else system.predicted(file) for file in files]
        system.forget()
        for file, expected in zip(files, predicted):
            drop_kernel_caches()
            row = self.timed_restore(kind, system, file)
            row["timesNative"] = row["mbPerSecond"] / native[file.stem]["mbPerSecond"]
            row |= {"predictedSeeks": expected and expected["diskRequests"], "predictedMb": expected and expected["diskBytes"] / MB}
            self.report.in_one_mount.append(row)

    def restore(self, kind, system, file):
        system.forget()
        return self.timed_restore(kind, system, file)

    def timed_restore(self, kind, system, file):
        reads = system.container_reads() if isinstance(system, Deduplicated) else None
        before, cpu_before = system.disk.counters(), machine_cpu_seconds()
        begin = time.monotonic()
        if system.reader(file).wait():
            raise RuntimeError(f"{system.name} did not restore {file}")
        seconds = time.monotonic() - begin
        did, cpu = system.disk.since(before), machine_cpu_seconds() - cpu_before
        size = size_of(file)
        say(f"  {file.stem}: {system.name} {seconds:.2f} s, {did['reads']:.0f} requests, {did['seeks']:.0f} seeks")
        return {"kind": kind, "file": file.stem, "system": system.name, "seconds": seconds, "mbPerSecond": size / MB / seconds,
                "diskRequests": int(did["reads"]), "diskSeeks": int(did["seeks"]), "diskMb": did["read_mb"],
                "diskShare": did["read_mb"] * MB / size, "diskBusySeconds": did["busy_s"], "cpuSeconds": cpu - did["cpu_s"],
                "containerReads": None if reads is None else system.container_reads() - reads}

    def restore_at_once(self, kind, system, files):
        """The first files, read simultaneously; also the sum of their times one after the other, of a volume in one mount."""
        chosen = files[:AT_ONCE]
        system.forget()
        begin = time.monotonic()
        readers = [system.reader(file) for file in chosen]
        if any([reader.wait() for reader in readers]):
            raise RuntimeError("a restore failed")
        seconds = time.monotonic() - begin
        rows = self.report.in_one_mount if isinstance(system, Deduplicated) else self.report.restores
        alone = sum(row["seconds"] for row in rows
                    if row["kind"] == kind and row["system"] == system.name and row["file"] in {file.stem for file in chosen})
        size = sum(size_of(file) for file in chosen) / MB
        self.report.at_once.append({"kind": kind, "file": f"{chosen[0].stem} to {chosen[-1].stem}", "system": system.name,
                                    "seconds": seconds, "mbPerSecond": size / seconds, "oneByOneMbPerSecond": size / alone,
                                    "ratio": alone / seconds})

    def read_randomly(self, kind, system, file):
        system.forget()
        chance = random.Random(self.options.seed)
        pages = file.stat().st_size // 4096
        descriptor = os.open(system.path(file), os.O_RDONLY | os.O_DIRECT)
        buffer = [mmap.mmap(-1, 4096)]
        before = system.disk.counters()
        taken = []
        try:
            for _ in range(self.options.reads):
                begin = time.monotonic()
                os.preadv(descriptor, buffer, chance.randrange(pages) * 4096)
                taken.append((time.monotonic() - begin) * 1000)
        finally:
            os.close(descriptor)
        did = system.disk.since(before)
        self.report.random_reads.append({"kind": kind, "reads": len(taken), "meanMs": statistics.mean(taken),
                                         "p50Ms": statistics.median(taken), "requestsARead": did["reads"] / len(taken),
                                         "kibARead": did["read_mb"] * MB / 1024 / len(taken)})

    def clean(self):
        for system in self.systems:
            system.clean()
        self.systems = []


def has_btrfs():
    if shutil.which("modprobe"):
        subprocess.run(["modprobe", "-q", "btrfs"], check=False)
    return "btrfs" in Path("/proc/filesystems").read_text().split()


def machine_cpu_seconds():
    """Processor time of everything on this machine: also of a kernel that decompresses."""
    user, nice, system, _idle, _iowait, irq, softirq = map(int, Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench restore", description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("/var/tmp/sar-bench"),
                        help="work folder; keeps backups and images between runs (default: %(default)s, about 30 GB)")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(KINDS),
                        help=f"some of {','.join(KINDS)} (default: all)")
    parser.add_argument("--backup-mb", type=int, default=700, help="size of the first backup (default: %(default)s)")
    parser.add_argument("--versions", type=int, default=5, help="number of backups (default: %(default)s)")
    parser.add_argument("--images", type=int, default=5, help="number of images (default: %(default)s)")
    parser.add_argument("--tree-files", type=int, default=50_000, help="files of the tree (default: %(default)s, 0.7 GB)")
    parser.add_argument("--cache", action="append", default=[],
                        help="--restore-cache of the volume (default: default); several are compared, each with a volume of its own, which is not read by several at once")
    parser.add_argument("--alone", action="store_true", help="without btrfs, borg, restic and rustic")
    parser.add_argument("--reads", type=int, default=300, help="random reads (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of backups and random reads (default: %(default)s)")
    parser.add_argument("--memory-budget", type=int, default=1024, help="MB of the volume (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="where to write the figures (default: figures.json in the work folder)")
    options = parser.parse_args()
    options.cache = options.cache or ["default"]
    wrong = set(options.kinds) - set(KINDS)
    if wrong:
        parser.error(f"no kind {', '.join(sorted(wrong))}; there are {', '.join(KINDS)}")
    return options


def main():
    measure(Bench, parse(), lambda report: report.figures(), "; MB are 10^6 bytes")


if __name__ == "__main__":
    main()
