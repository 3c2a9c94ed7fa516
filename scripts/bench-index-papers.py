#!/usr/bin/env python3
"""Compares fingerprint indexes as figures 5 to 8 and 10 of the ChunkStash paper do: MB of a backup that an index answers for a second.

Run through scripts/bench index --parts papers. Systems: zhu08 (Bloom filter, cache of containers' fingerprints, BerkeleyDB Java
Edition), rocksdb and chunkstash (the volume's own classes). Each is on a simulated hard disk (scripts/slow-disk) and on the disk
of the work folder, which should be an SSD. Each has as much memory as ChunkStash's table and pages need; the kernel's cache is
emptied of the index's files all the time, as the paper opens its files without buffers. Before the first backup, each index has
the chunks of earlier backups (--known), so that no index fits its memory. A backup that takes longer than --seconds is cut off.

No chunk data is cut, hashed, compressed or written: a rate is that of the index alone. Compare only columns of one run. Removes
its disk and folders, also when it is interrupted. Needs root.
"""

import argparse
import json
import mmap
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench_disk import Forgetting, SlowDisk
from bench_volume import SCRIPTS, measure, run, say

MB = 1_000_000
PHASES = ("first", "second", "incremental")
# With how much memory an index is filled before it is measured.
PREPARING_MEMORY = 512 * MB
JVM_HEAP = 128 * MB
# Least ratios of the paper (section 4.5): what its ChunkStash on flash has, to another system.
PAPER = {
    ("first", "zhu08", "disk"): (30, 60), ("second", "zhu08", "disk"): (7, 40),
    ("first", "zhu08", "ssd"): (3, 4), ("second", "zhu08", "ssd"): (2, 4),
    ("first", "chunkstash", "disk"): (1.5, 1.8), ("second", "chunkstash", "disk"): (1.1, 1.2),
}


class WorkDisk:
    """The disk of the work folder."""

    name = "ssd"

    def __init__(self, folder):
        self.folder = folder

    def up(self):
        self.folder.mkdir(parents=True, exist_ok=True)

    def counters(self):
        return {}

    def clean(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class HardDisk(SlowDisk):
    name = "disk"


class Worker:
    """A process of the simulator that stores a backup with a system."""

    def __init__(self, options, system, folder, backup, memory=0, seconds=None, prepare=False):
        name, _, sampling = system.partition("/")
        source = ["--trace", options.trace] if options.trace else \
            ["--synthetic", "strong", "--chunks", options.chunks, "--run", options.run_length, "--seed", options.seed]
        words = [options.java, "-XX:+UseSerialGC", f"-Xmx{(memory or PREPARING_MEMORY) + JVM_HEAP + options.known * 14}",
                 "-cp", options.class_path, "org.opendedup.sar.sim.index.BackupThroughput", "--system", name,
                 "--folder", folder, "--backup", backup, "--known", options.known, "--memory", memory,
                 "--sampling", sampling or 1, *source]
        if prepare:
            words.append("--prepare")
        if seconds:
            words += ["--seconds", seconds]
        self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the measuring process ended with {self.process.wait()}")
        return line

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def io(self):
        lines = Path(f"/proc/{self.process.pid}/io").read_text().splitlines()
        return {name: int(value) for name, value in (line.split(": ") for line in lines)}

    def end(self):
        self.go_on()
        if self.process.wait():
            raise RuntimeError(f"the measuring process ended with {self.process.returncode}")

    def clean(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Report:
    def __init__(self):
        self.rows = []
        self.facts = {}

    def print_table(self):
        systems = list(dict.fromkeys((row["system"], row["device"]) for row in self.rows))
        for title, figure in (("MB/s of the index alone (figures 5 to 7)", lambda row: f"{row['mb_per_second']:.1f}"),
                              ("MB/s with --pipeline-rate for all else", lambda row: f"{row['with_pipeline']:.1f}"),
                              ("reads from the device per 1000 chunks (figure 8)", lambda row: f"{row['reads_per_1000']:.1f}"),
                              ("KB read from the device per 1000 chunks", lambda row: f"{row['kb_read_per_1000']:.1f}"),
                              ("KB written to the device per 1000 chunks", lambda row: f"{row['kb_written_per_1000']:.1f}"),
                              ("found, % of the chunks", lambda row: f"{row['found_percent']:.2f}"),
                              ("stored in the time, % of the backup", lambda row: f"{row['stored_percent']:.1f}")):
            say(f"\n{title}\n{'':14}" + "".join(f"{phase:>14}" for phase in PHASES))
            for system, device in systems:
                cells = [figure(self.row(system, device, phase)) if self.row(system, device, phase) else "-" for phase in PHASES]
                say(f"{system + ' ' + device:14}"[:20].ljust(20) + "".join(f"{cell:>14}" for cell in cells)[6:])
        say(f"\n{'ChunkStash on the SSD, times another':38} {'first':>10} {'paper':>10} {'second':>10} {'paper':>10} {'incremental':>12}")
        for system, device in systems:
            if (system, device) == ("chunkstash", "ssd"):
                continue
            say(f"{system + ' ' + device:38} {self.ratio(system, device, 'first')} {self.ratio(system, device, 'second')} "
                f"{self.ratio(system, device, 'incremental')}")
        for name, value in self.facts.items():
            say(f"{name}: {value}")

    def row(self, system, device, phase):
        return next((row for row in self.rows if (row["system"], row["device"], row["phase"]) == (system, device, phase)), None)

    def ratio(self, system, device, phase):
        best, other = self.row("chunkstash", "ssd", phase), self.row(system, device, phase)
        ours = f"{best['mb_per_second'] / other['mb_per_second']:.1f}" if best and other else "-"
        paper = PAPER.get((phase, system, device))
        published = f"{paper[0]}-{paper[1]}" if paper else "-"
        return f"{ours:>10}" + ("" if phase == "incremental" else f" {published:>10}")


class Bench:
    def __init__(self, options):
        self.options = options
        self.work = options.work
        self.report = Report()
        self.cleaned = []

    def run(self):
        self.clean()
        options = self.options
        disks = {"ssd": lambda: WorkDisk(self.work / "ssd"),
                 "disk": lambda: HardDisk(self.work / "hard-disk", "--size", "16G", "--read-ahead", "128")}
        self.report.facts["random 4 KiB reads of the SSD, microseconds"] = f"{self.read_latency():.0f}"
        self.report.facts["load before"] = Path("/proc/loadavg").read_text().split()[0]
        for system in options.systems:
            for backup in ("known", "first"):
                say(f"{system}: prepares {backup}")
                self.prepare(system, backup)
            for device in options.devices:
                for phase in options.phases:
                    disk = self.keep(disks[device]())
                    disk.up()
                    try:
                        self.measure(system, disk, phase)
                    finally:
                        disk.clean()
            shutil.rmtree(self.prepared(system), ignore_errors=True)
        self.report.facts["load after"] = Path("/proc/loadavg").read_text().split()[0]

    def keep(self, thing):
        self.cleaned.append(thing)
        return thing

    def prepared(self, system):
        return self.work / "prepared" / system.replace("/", "-")

    def prepare(self, system, backup):
        """Makes the files before the first backup ("known"), or from those the files after it."""
        target = self.prepared(system) / backup
        if backup == "first":
            shutil.copytree(self.prepared(system) / "known", target)
        worker = self.keep(Worker(self.options, system, target, backup, memory=self.memory_to_prepare(system), prepare=True))
        worker.line()
        worker.go_on()
        worker.line()
        worker.end()

    @staticmethod
    def memory_to_prepare(system):
        return 0 if system.startswith("chunkstash") else PREPARING_MEMORY

    def measure(self, system, disk, phase):
        source = self.prepared(system) / ("known" if phase == "first" else "first")
        folder = disk.folder / "index"
        shutil.copytree(source, folder)
        run("sync")
        forgetting = self.keep(Forgetting(folder))
        forgetting.begin()
        worker = self.keep(Worker(self.options, system, folder, phase, seconds=self.options.seconds))
        try:
            worker.line()
            io, counters = worker.io(), disk.counters()
            worker.go_on()
            outcome = json.loads(worker.line())
            io_after, counters_after = worker.io(), disk.counters()
            worker.end()
        finally:
            forgetting.clean()
            worker.clean()
        self.add(system, disk.name, phase, outcome, {name: io_after[name] - io[name] for name in io},
                 {name: counters_after[name] - counters[name] for name in counters})

    def add(self, system, device, phase, outcome, io, counters):
        chunks, seconds = outcome["chunks"], outcome["seconds"]
        # The slow disk counts its requests. Elsewhere a call is one, because the kernel's cache is empty.
        reads = counters.get("reads", io["syscr"])
        row = {"system": system, "device": device, "phase": phase, **outcome,
               "mb_per_second": outcome["bytes"] / MB / seconds,
               "with_pipeline": outcome["bytes"] / MB / (seconds + outcome["bytes"] / MB / self.options.pipeline_rate),
               "reads_per_1000": reads / chunks * 1000,
               "kb_read_per_1000": io["read_bytes"] / chunks,
               "kb_written_per_1000": io["write_bytes"] / chunks,
               "found_percent": 100 * outcome["foundChunks"] / chunks,
               "stored_percent": 100 * chunks / outcome["backupChunks"],
               "io": io, "disk": counters}
        self.report.rows.append(row)
        self.report.facts["memory of each index, MB"] = f"{outcome['memory'] / MB:.1f}"
        say(f"  {system} {device} {phase}: {chunks} chunks in {seconds:.1f} s, {row['mb_per_second']:.1f} MB/s, "
            f"{row['reads_per_1000']:.1f} reads per 1000")

    def read_latency(self):
        """Mean microseconds of a random 4 KiB read past the kernel's cache."""
        file = self.work / "latency"
        with open(file, "wb") as output:
            for _ in range(256):
                output.write(random.randbytes(MB))
            os.fsync(output.fileno())
        descriptor = os.open(file, os.O_RDONLY | os.O_DIRECT)
        buffer = [mmap.mmap(-1, 4096)]
        chance = random.Random(1)
        begin = time.monotonic()
        for _ in range(2000):
            os.preadv(descriptor, buffer, chance.randrange(256 * MB // 4096) * 4096)
        seconds = time.monotonic() - begin
        os.close(descriptor)
        file.unlink()
        return seconds / 2000 * 1e6

    def clean(self):
        for thing in reversed(self.cleaned):
            thing.clean()
        self.cleaned.clear()
        HardDisk(self.work / "hard-disk").clean()
        for name in ("prepared", "ssd", "latency"):
            shutil.rmtree(self.work / name, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench index --parts papers", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("/var/tmp/sar-bench-index"), help="work folder (default: %(default)s)")
    parser.add_argument("--trace", help="chunk trace with two backups or more, as of sar-sim; default: a synthetic one")
    parser.add_argument("--chunks", type=int, default=100_000, help="chunks of a synthetic backup (default: %(default)s)")
    parser.add_argument("--run-length", type=int, default=250, help="mean chunks of a run that changes (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the synthetic trace (default: %(default)s)")
    parser.add_argument("--known", type=int, default=2_000_000, help="chunks of earlier backups (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=120, help="longest time of a backup (default: %(default)s)")
    parser.add_argument("--systems", default="zhu08,rocksdb,chunkstash,chunkstash/8,chunkstash/64",
                        type=lambda text: text.split(","),
                        help="systems; chunkstash/N has one of N entries in its table (figure 10) (default: %(default)s)")
    parser.add_argument("--devices", default="disk,ssd", type=lambda text: text.split(","), help="disk, ssd or both (default: both)")
    parser.add_argument("--phases", default=",".join(PHASES), type=lambda text: text.split(","),
                        help="backups to measure (default: %(default)s)")
    parser.add_argument("--pipeline-rate", type=float, default=400, metavar="MB",
                        help="MB/s of cutting, hashing, compressing and writing, for the second table (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="file for the figures (default: figures.json in the work folder)")
    parser.add_argument("--java", default="java", help=argparse.SUPPRESS)
    parser.add_argument("--class-path", default=os.environ.get("SDFS_BENCH_CLASS_PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.class_path:
        sys.exit(f"run {SCRIPTS / 'bench'} index --parts papers")
    measure(Bench, options, lambda report: {"facts": report.facts, "rows": report.rows}, "; index files only")


if __name__ == "__main__":
    main()
