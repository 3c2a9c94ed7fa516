#!/usr/bin/env python3
"""Garbage collection through the mount: space returned, restores after it, and what others notice; prints tables, writes JSON.

Run through scripts/bench space. Its parts, each next to its own baseline in the same run:

  restores  five backups on a slow disk (scripts/slow-disk). The oldest three are deleted and collected. The newest two are read back
            cold before and after, and from a fresh volume that got only these two. Stored bytes of all three states.
  arrange   five backups on a slow disk, nothing deleted: v1, v4 and v5 are read back cold before and after a collection without an
            arrangement, and after one with it; then the oldest three are deleted, and v4 and v5 read back after a collection with
            an arrangement. Stored bytes and bytes moved of all states.
  rates     on the work folder's own disk: MB/s of a collection that has to copy what remains of each container, and of one that
            finds nothing but garbage; the share of the disk's space that came back when everything is deleted.
  others    on the same disk: the rate of a writer of new data, and the latency of random reads of 4 KiB with the kernel's caches
            bypassed, alone and beside collections.
  recompress  the five backups in a volume for each level, compressed anew by a collection: stored bytes before and after, and CPU
            seconds of the daemon for that, which depend less on other work on the machine than the seconds that passed. Then the
            newest two read back cold from a slow disk: as they were written, and compressed with --restore-level.

Backups are the tars of scripts/bench ingest. MB are 10^6 bytes. Removes its mounts, loop devices and processes, also when it is interrupted.
"""

import argparse
import json
import mmap
import os
import platform
import random
import statistics
import subprocess
import threading
import time
from pathlib import Path

import bench_series
from bench_systems import Deduplicated, table
from bench_volume import Volume, drop_kernel_caches, measure, run, say, stored_bytes, warm

MB = 1_000_000
PARTS = ["restores", "arrange", "rates", "others", "recompress"]
LEVELS = [3, 6, 9, 12, 19]
BLOCK = 1 << 20


def packs_bytes(folder):
    """Bytes that the packs take on their disk."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*.pack"))


def data_folder(volume):
    return volume.folder / "base" / "chunkstore"


def settle(volume):
    run("sync", "-f", volume.mount_point)
    run("sync", volume.mount_point)


def collect(volume, *options):
    """Collects, and waits; the report and the seconds."""
    settle(volume)
    begin = time.monotonic()
    volume.script("sdfscli", volume.name, "gc", "--wait", *options)
    return time.monotonic() - begin


def write_blocks(path, first, count):
    """Writes blocks of 1 MiB that compress by half and are made from their numbers."""
    with open(path, "wb") as out:
        for number in range(first, first + count):
            out.write(block(number))
        out.flush()
        os.fsync(out.fileno())


def block(number):
    unique = random.Random(number).randbytes(BLOCK // 2)
    return b"".join(unique[at:at + 2048] + unique[at:at + 64] * 32 for at in range(0, BLOCK // 2, 2048))


class Report:
    def __init__(self):
        self.machine = {"cores": os.cpu_count(), "kernel": platform.release(), "date": time.strftime("%Y-%m-%d %H:%M")}
        self.restores, self.stored, self.rates, self.others, self.levels = [], [], [], [], []

    def figures(self):
        return {"machine": self.machine, "stored": self.stored, "restores": self.restores, "rates": self.rates,
                "others": self.others, "levels": self.levels}

    def print_table(self):
        table("Stored, on the slow disk", self.stored)
        table("Cold restores from the slow disk, the first after mounting", self.restores)
        table("Collections on the work folder's own disk", self.rates)
        table("Others beside collections", self.others)
        table("Collections that compress harder, on the work folder's own disk", self.levels)
        say(f"\n{self.machine}")


class Bench:
    def __init__(self, options):
        self.options = options
        self.work = options.work
        self.report = Report()
        self.things = []

    def run(self):
        files = bench_series.make(self.work / "series", self.options.seed, self.options.backup_mb * MB)
        if "restores" in self.options.parts:
            self.measure_restores(files)
        if "arrange" in self.options.parts:
            self.measure_arrangement(files)
        if "rates" in self.options.parts:
            self.measure_rates()
        if "others" in self.options.parts:
            self.measure_others()
        if "recompress" in self.options.parts:
            self.measure_levels(files)
            self.measure_recompressed_restores(files)

    def started(self, name):
        system = Deduplicated(self.work, name, self.options, hash_type="")
        self.things.append(system)
        system.start()
        system.store_warm_up()
        return system

    def measure_restores(self, files):
        kept = files[3:]
        collected, fresh = self.started("collected"), self.started("fresh")
        for file in files:
            collected.store(file)
        for file in kept:
            fresh.store(file)
        self.note_stored("all five", collected)
        for round_number in range(self.options.rounds):
            self.read_back(f"before, {round_number + 1}", collected, kept)
            self.read_back(f"fresh, {round_number + 1}", fresh, kept)
        for file in files[:3]:
            collected.path(file).unlink()
        seconds = collect(collected.volume)
        say(f"  collected in {seconds:.1f} s")
        self.note_stored("two newest, collected", collected)
        self.note_stored("two newest, fresh", fresh)
        for round_number in range(self.options.rounds):
            self.read_back(f"after, {round_number + 1}", collected, kept)
            self.read_back(f"fresh, {self.options.rounds + round_number + 1}", fresh, kept)
        self.clean()

    def measure_arrangement(self, files):
        system = self.started("arranged")
        for file in files:
            system.store(file)
        read = [files[0], files[3], files[4]]
        for state, options in (("all five", None), ("all five, collected", []), ("all five, arranged", ["--arrange=10"]),
                               ("two newest, arranged", ["--arrange=10"])):
            if state.startswith("two"):
                for file in files[:3]:
                    system.path(file).unlink()
                read = files[3:]
            if options is not None:
                seconds = collect(system.volume, *options)
                last = json.loads(system.volume.script("sdfscli", system.volume.name, "gc", "status", "--json"))["last"]
                moved = last.get("arrangement", {}).get("movedBytes", 0)
                say(f"  {state}: {seconds:.1f} s, {moved / MB:.1f} MB moved, {last['copiedBytes'] / MB:.1f} MB copied")
            self.note_stored(state, system)
            for round_number in range(self.options.rounds):
                self.read_back(f"{state}, {round_number + 1}", system, read)
        self.clean()

    def note_stored(self, state, system):
        stored = stored_bytes(system.volume)
        self.report.stored.append({"state": state, "storedMb": stored / MB,
                                   "packsOnDiskMb": packs_bytes(system.disk.folder / "chunks") / MB})

    def read_back(self, state, system, files):
        for file in files:
            system.forget()
            before = system.disk.counters()
            begin = time.monotonic()
            warm(system.path(file))
            seconds = time.monotonic() - begin
            did = system.disk.since(before)
            self.report.restores.append({"state": state, "file": file.stem, "seconds": seconds,
                                         "mbPerSecond": file.stat().st_size / MB / seconds, "diskSeeks": int(did["seeks"]),
                                         "diskMb": did["read_mb"], "diskBusySeconds": did["busy_s"]})
            say(f"  {state}: {file.stem} {seconds:.2f} s, {did['seeks']:.0f} seeks, {did['read_mb']:.0f} MB")

    def plain_volume(self, name):
        volume = Volume(self.work, name, f"--memory-budget={self.options.memory_budget}MB")
        self.things.append(volume)
        volume.mount()
        return volume

    def measure_rates(self):
        volume = self.plain_volume("rates")
        count = self.options.blocks
        write_blocks(volume.mount_point / "all", 0, count)
        with open(volume.mount_point / "half", "wb") as out:
            for number in range(0, count, 2):
                out.write(block(number))
        settle(volume)
        for state, name in (("every second MiB is garbage", "all"), ("everything is garbage", "half")):
            stored, on_disk = stored_bytes(volume), packs_bytes(data_folder(volume))
            (volume.mount_point / name).unlink()
            seconds = collect(volume, "--leave=0")
            left = packs_bytes(data_folder(volume))
            self.report.rates.append({"state": state, "storedMb": stored / MB, "seconds": seconds,
                                      "mbPerSecond": stored / MB / seconds, "packsBeforeMb": on_disk / MB,
                                      "packsAfterMb": left / MB, "returnedShare": 1 - left / on_disk})
        self.clean()

    def measure_others(self):
        volume = self.plain_volume("others")
        count = self.options.blocks
        write_blocks(volume.mount_point / "read", 10_000_000, count // 2)
        settle(volume)
        number = 20_000_000
        for what, work in (("writes, MB/s", self.writer), ("random reads, median ms", self.reader)):
            alone, beside = [], []
            for _ in range(self.options.rounds):
                alone.append(work(volume, number))
                number += count
                with Collections(self, volume, number):
                    beside.append(work(volume, number + count))
                number += 2 * count
            row = {"what": what, "alone": statistics.median(alone), "besideCollections": statistics.median(beside)}
            row["ratio"] = row["besideCollections"] / row["alone"]
            self.report.others.append(row)
        self.clean()

    def writer(self, volume, number):
        target = volume.mount_point / "written"
        source = self.work / "blocks"
        with open(source, "wb") as out:
            for each in range(number, number + self.options.blocks // 2):
                out.write(block(each))
        warm(source)
        begin = time.monotonic()
        run("dd", f"if={source}", f"of={target}", "bs=1M", "conv=fsync", "status=none")
        return source.stat().st_size / MB / (time.monotonic() - begin)

    def reader(self, volume, number):
        chance = random.Random(number)
        path = volume.mount_point / "read"
        pages = path.stat().st_size // 4096
        drop_kernel_caches()
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
        buffer = [mmap.mmap(-1, 4096)]
        taken = []
        try:
            for _ in range(self.options.reads):
                begin = time.monotonic()
                os.preadv(descriptor, buffer, chance.randrange(pages) * 4096)
                taken.append((time.monotonic() - begin) * 1000)
        finally:
            os.close(descriptor)
        return statistics.median(taken)

    def measure_levels(self, files):
        for kind, volume_options in (("default", ()), ("--backup-volume", ("--backup-volume",))):
            for level in self.options.levels:
                system = Deduplicated(self.work, f"level{level}", self.options, volume_options, slow=False, hash_type="")
                self.things.append(system)
                system.start()
                # Not later: the first files also warm up the JVM.
                for file in files:
                    system.store(file)
                settle(system.volume)
                before, raw = stored_bytes(system.volume), system.volume.figures()["uniqueBytes"]
                cpu = system.cpu_seconds()
                compiling = collect(system.volume)
                cpu_of_none = system.cpu_seconds() - cpu
                cpu = system.cpu_seconds()
                say(f"  {kind}, zstd:{level}; a collection of nothing took {compiling:.1f} s")
                if level > (3 if volume_options else 1):
                    seconds = collect(system.volume, f"--recompress=zstd:{level}")
                    cpu = system.cpu_seconds() - cpu
                    after = stored_bytes(system.volume)
                    self.report.levels.append({
                        "volume": kind, "level": level, "uniqueMb": raw / MB, "storedMb": before / MB, "recompressedMb": after / MB,
                        "savedShare": 1 - after / before, "cpuSecondsOfNone": cpu_of_none, "cpuSeconds": cpu,
                        "uniqueMbPerCpuSecond": raw / MB / cpu, "seconds": seconds})
                self.clean()

    def measure_recompressed_restores(self, files):
        level = f"zstd:{self.options.restore_level}"
        written, recompressed = self.started("written"), self.started("recompressed")
        for file in files:
            written.store(file)
            recompressed.store(file)
        for system in (written, recompressed):
            settle(system.volume)
        self.note_stored("five, as written", written)
        seconds = collect(recompressed.volume, f"--recompress={level}")
        say(f"  compressed anew with {level} in {seconds:.1f} s")
        self.note_stored(f"five, {level}", recompressed)
        for round_number in range(self.options.rounds):
            self.read_back(f"as written, {round_number + 1}", written, files[3:])
            self.read_back(f"{level}, {round_number + 1}", recompressed, files[3:])
        self.clean()

    def clean(self):
        for thing in self.things:
            thing.clean()
        self.things = []


class Collections:
    """Collections one after the other, each with garbage in every container, until the block ends."""

    def __init__(self, bench, volume, number):
        self.bench, self.volume, self.number = bench, volume, number
        self.ending = False
        self.thread = threading.Thread(target=self.collect_all_the_time)

    def __enter__(self):
        count = self.bench.options.blocks
        write_blocks(self.volume.mount_point / "garbage", self.number, count)
        # Every second MiB stays: each container has to be copied.
        with open(self.volume.mount_point / "kept", "wb") as out:
            for each in range(self.number, self.number + count, 2):
                out.write(block(each))
        settle(self.volume)
        (self.volume.mount_point / "garbage").unlink()
        self.volume.script("sdfscli", self.volume.name, "gc", "--leave=0")
        self.thread.start()
        return self

    def collect_all_the_time(self):
        while not self.ending:
            # The first one may be running still.
            subprocess.run([Path(__file__).parent / "sdfscli", self.volume.name, "gc", "--wait", "--leave=0"],
                           env=self.volume.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    def __exit__(self, *_):
        self.ending = True
        self.thread.join()


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench space", description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("/var/tmp/sar-bench"),
                        help="work folder; keeps backups between runs (default: %(default)s, about 10 GB)")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=PARTS,
                        help=f"some of {','.join(PARTS)} (default: all)")
    parser.add_argument("--backup-mb", type=int, default=300, help="size of the first backup (default: %(default)s)")
    parser.add_argument("--blocks", type=int, default=1500, help="MiB of a file of the rates (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=2, help="of each restore and rate (default: %(default)s)")
    parser.add_argument("--levels", type=lambda text: [int(level) for level in text.split(",")], default=LEVELS,
                        help=f"of zstd (default: {','.join(map(str, LEVELS))})")
    parser.add_argument("--restore-level", type=int, default=9, help="of zstd, for the restores (default: %(default)s)")
    parser.add_argument("--reads", type=int, default=1500, help="random reads (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the backups (default: %(default)s)")
    parser.add_argument("--memory-budget", type=int, default=1024, help="MB of the volume (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="where to write the figures (default: figures.json in the work folder)")
    options = parser.parse_args()
    wrong = set(options.parts) - set(PARTS)
    if wrong:
        parser.error(f"no part {', '.join(sorted(wrong))}; there are {', '.join(PARTS)}")
    return options


def main():
    measure(Bench, parse(), lambda report: report.figures(), "; MB are 10^6 bytes")


if __name__ == "__main__":
    main()
