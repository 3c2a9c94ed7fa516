#!/usr/bin/env python3
"""Measures new files on a fast tier (TDDFS), next to the same volume without one and to the fast tier's own file system.

Run through scripts/bench tddfs. Columns: "plain" is the file system that the fast tier lies on; "tddfs" is a volume whose
new files lie whole on that file system; "sar" is a volume that stores them in chunks at once; "encrypted", with --encrypt, is as "tddfs"
and encrypted. All on the same device, in one run; the parts run each system after the other, and repeat. The part "tiers" has systems of its own, with a slow
disk: files larger than the fast tier, as in the TDDFS paper's evaluation (scripts/bench_tiers.py). Removes its mounts and
daemons, also when it is interrupted.
"""

import argparse
import json
import mmap
import os
import random
import shutil
import statistics
import threading
import time
from pathlib import Path

from bench_tiers import SHAPES as TIER_SHAPES, Tiers
from bench_volume import Volume, measure, run, say

MIB = 1 << 20
PARTS = ["sequential", "random", "create", "append", "varmail", "fileserver", "webserver", "pgbench", "migrate", "tiers"]


class Systems:
    """The systems, each as a folder to work in."""

    def __init__(self, work, capacity, encrypt):
        self.work = work
        self.plain = work / "plain"
        self.plain.mkdir(parents=True, exist_ok=True)
        self.tddfs = self.with_fast_tier("raw", "fast", capacity)
        self.volumes = {"tddfs": self.tddfs, "sar": Volume(work, "chunks")}
        if encrypt:
            self.volumes["encrypted"] = self.with_fast_tier("sealed", "fast-encrypted", capacity, "--encrypt")
        for volume in self.volumes.values():
            volume.mount()

    def with_fast_tier(self, name, folder, capacity, *options):
        return Volume(self.work, name, f"--sar-ssd-location={self.work / folder}", f"--sar-ssd-capacity={capacity}",
                      "--tier-mode=tddfs", "--tddfs-unprotected", *options)

    def folders(self):
        return {"plain": self.plain, **{name: volume.mount_point for name, volume in self.volumes.items()}}

    def clean(self):
        for volume in self.volumes.values():
            volume.clean()
        for folder in ("plain", "fast", "fast-encrypted"):
            shutil.rmtree(self.work / folder, ignore_errors=True)


SHOWN = []
ORDER = ["plain", "tddfs", "sar", "encrypted"]
# Time after which the backing file of a deleted file is gone, in seconds.
DELETED_AFTER_S = 3


class Results:
    """Figures by row and system, as they come."""

    def __init__(self):
        self.rows = {}

    def add(self, row, system, figure):
        self.rows.setdefault(row, {}).setdefault(system, []).append(figure)

    def show(self, title):
        SHOWN.extend({"title": title, "row": row, "system": system, "figures": figures}
                     for row, systems in self.rows.items() for system, figures in systems.items())
        say(f"\n{title} (median of the repeats, least to most)")
        names = sorted({name for systems in self.rows.values() for name in systems}, key=ORDER.index)
        say(f"{'':38}{''.join(f'{name:>22}' for name in names)}{'tddfs/plain':>13}")
        for row, systems in self.rows.items():
            cells = ""
            for system in names:
                figures = systems.get(system, [])
                text = "" if not figures else f"{statistics.median(figures):,.1f} ({min(figures):,.0f}-{max(figures):,.0f})"
                cells += f"{text:>22}"
            ratio = ""
            if systems.get("plain") and systems.get("tddfs"):
                ratio = f"{statistics.median(systems['tddfs']) / statistics.median(systems['plain']):.2f}"
            say(f"{row:38}{cells}{ratio:>13}")


def each(systems, repeats):
    """Yields each system in turn, the order changing."""
    names = list(systems.folders().items())
    for repeat in range(repeats):
        for name, folder in names[repeat % len(names):] + names[: repeat % len(names)]:
            yield repeat, name, folder


def sequential(systems, options):
    results = Results()
    data = random.Random(1).randbytes(MIB)
    for repeat, name, folder in each(systems, options.repeats):
        path = folder / "large"
        for synced in (False, True):
            file = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o644)
            begin = time.monotonic()
            for block in range(options.large_mib):
                # No two blocks are alike.
                os.write(file, block.to_bytes(8, "big") + data[8:])
            if synced:
                os.fsync(file)
            os.close(file)
            rate = options.large_mib / (time.monotonic() - begin)
            results.add("write MiB/s" + (", with fsync" if synced else ", into the cache"), name, rate)
            if synced:
                begin = time.monotonic()
                with open(path, "rb", buffering=0) as opened:
                    while opened.read(MIB):
                        pass
                results.add("warm read MiB/s", name, options.large_mib / (time.monotonic() - begin))
            os.unlink(path)
            # A raw file's backing file is deleted after a commit, a second or more later: not while the next is written.
            os.sync()
            time.sleep(DELETED_AFTER_S)
    results.show("A file in sequence")


def random_reads(systems, options):
    results = Results()
    for repeat, name, folder in each(systems, options.repeats):
        path = folder / "random"
        fio(path, f"--size={options.large_mib}M", "--rw=write", "--bs=1M", "--end_fsync=1")
        for kind in ("randread", "randwrite"):
            figures = fio(path, f"--size={options.large_mib}M", f"--rw={kind}", "--bs=4k", "--direct=1", "--runtime=5",
                          "--time_based")
            results.add(f"{kind} 4 KiB O_DIRECT a second", name, figures)
        os.unlink(path)
    results.show("At random")


def fio(path, *options):
    """Runs fio; returns operations a second, reads and writes together."""
    text = run("fio", "--name=bench", f"--filename={path}", "--ioengine=psync", "--output-format=json", *options)
    job = json.loads(text[text.index("{"):])["jobs"][0]
    return job["read"]["iops"] + job["write"]["iops"]


def create(systems, options):
    results = Results()
    data = random.Random(2).randbytes(4096 + 10_000)
    for repeat, name, folder in each(systems, options.repeats):
        inside = folder / f"small{repeat}"
        inside.mkdir()
        begin = time.monotonic()
        for number in range(options.files):
            file = os.open(inside / str(number), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
            os.write(file, data[number % 10_000:][:4096])
            os.close(file)
        results.add("create with 4 KiB, us", name, (time.monotonic() - begin) / options.files * 1e6)
        shutil.rmtree(inside)
    results.show("Small files")


def append(systems, options):
    results = Results()
    for repeat, name, folder in each(systems, options.repeats):
        path = folder / "log"
        file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
        taken = []
        for _ in range(options.appends):
            data = os.urandom(100)
            begin = time.monotonic()
            os.write(file, data)
            os.fsync(file)
            taken.append((time.monotonic() - begin) * 1e6)
        os.close(file)
        os.unlink(path)
        results.add("append 100 bytes and fsync, us", name, statistics.median(taken))
        results.add("the same, 99th percentile, us", name, statistics.quantiles(taken, n=100)[98])
    results.show("Appends")


# Filebench's shapes: the operations of one loop, their order and mean sizes are those of its workload files varmail.f,
# fileserver.f and webserver.f. A driver of our own, because filebench needs a kernel without address randomization.

class Shape:
    def __init__(self, folder, files, mean, seed):
        self.folder = folder
        self.mean = mean
        self.random = random.Random(seed)
        self.names = [folder / f"f{number}" for number in range(files)]
        self.data = self.random.randbytes(4 * MIB)
        for name in self.names[: files * 4 // 5]:
            self.whole_write(name, False)

    def size(self, mean):
        return max(1, int(self.random.gammavariate(1.5, mean / 1.5)))

    def bytes(self, length):
        at = self.random.randrange(len(self.data) - min(length, MIB))
        return self.data[at:at + min(length, MIB)]

    def whole_write(self, name, sync):
        file = os.open(name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o644)
        os.write(file, self.bytes(self.size(self.mean)))
        if sync:
            os.fsync(file)
        os.close(file)

    def whole_read(self, name):
        with open(name, "rb", buffering=0) as file:
            while file.read(MIB):
                pass

    def append(self, name, mean, sync):
        file = os.open(name, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644)
        os.write(file, self.bytes(self.size(mean)))
        if sync:
            os.fsync(file)
        os.close(file)

    def existing(self, chosen):
        while True:
            name = chosen.choice(self.names)
            if name.exists():
                return name


def varmail(shape, chosen):
    """deletefile, createfile + append + fsync, open + read + append + fsync, open + read: four operations counted."""
    chosen.choice(shape.names).unlink(missing_ok=True)
    shape.whole_write(chosen.choice(shape.names), True)
    name = shape.existing(chosen)
    shape.whole_read(name)
    shape.append(name, 16 << 10, True)
    shape.whole_read(shape.existing(chosen))
    return 4


def fileserver(shape, chosen):
    """createfile + write, open + append, open + read whole file, deletefile, stat."""
    shape.whole_write(chosen.choice(shape.names), False)
    shape.append(shape.existing(chosen), 16 << 10, False)
    shape.whole_read(shape.existing(chosen))
    chosen.choice(shape.names).unlink(missing_ok=True)
    os.stat(shape.existing(chosen))
    return 5


def webserver(shape, chosen):
    """ten times open + read whole file, and an append to one log."""
    for _ in range(10):
        shape.whole_read(shape.existing(chosen))
    shape.append(shape.folder / "log", 16 << 10, False)
    return 11


SHAPES = {"varmail": (varmail, 1000, 16 << 10, 16), "fileserver": (fileserver, 1000, 128 << 10, 16),
          "webserver": (webserver, 1000, 16 << 10, 16)}


def shape(systems, options, kind):
    loop, files, mean, threads = SHAPES[kind]
    results = Results()
    for repeat, name, folder in each(systems, options.repeats):
        inside = folder / f"{kind}{repeat}"
        inside.mkdir()
        made = Shape(inside, files, mean, repeat)
        os.sync()
        counts = [0] * threads
        end = time.monotonic() + options.seconds
        failures = []

        def work(thread):
            chosen = random.Random(repeat * 1000 + thread)
            while time.monotonic() < end:
                try:
                    counts[thread] += loop(made, chosen)
                except FileNotFoundError:
                    # Another thread deleted the file that was chosen.
                    continue
                except OSError as failure:
                    failures.append(failure)
                    return

        workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if failures:
            raise failures[0]
        results.add(f"{kind}, operations a second", name, sum(counts) / options.seconds)
        shutil.rmtree(inside)
    results.show(f"The shape of filebench's {kind}: {files} files of {mean >> 10} KiB, {threads} threads, "
                 f"{options.seconds} s")


def pgbench(systems, options):
    programs = postgres_programs()
    if not programs:
        say("\npgbench: left out, PostgreSQL is not installed")
        return
    results = Results()
    for repeat, name, folder in each(systems, options.repeats):
        tps = postgres(programs, folder / f"pg{repeat}", options.seconds)
        results.add("pgbench, transactions a second", name, tps)
    results.show(f"PostgreSQL: pgbench, scale 10, 4 clients, {options.seconds} s")


def postgres_programs():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found and shutil.which("pgbench") else None


def postgres(programs, folder, seconds):
    """Makes a database in a folder, and runs pgbench on it; transactions a second."""
    folder.mkdir()
    shutil.chown(folder, "postgres")
    folder.chmod(0o700)
    sockets = Path("/tmp") / f"sdfs-bench-pg-{os.getpid()}"
    sockets.mkdir(exist_ok=True)
    shutil.chown(sockets, "postgres")

    def as_postgres(*words):
        return run("setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *words)

    data = folder / "data"
    as_postgres(programs / "initdb", "-D", data, "-A", "trust", "--no-instructions")
    port = "5499"
    log = sockets / "log"
    as_postgres(programs / "pg_ctl", "-D", data, "-w", "-l", log, "-o", f"-p {port} -k {sockets} -h ''", "start")
    try:
        as_postgres("pgbench", "-h", sockets, "-p", port, "-i", "-q", "-s", "10", "postgres")
        text = as_postgres("pgbench", "-h", sockets, "-p", port, "-c", "4", "-j", "2", "-T", str(seconds), "postgres")
        return float(next(line for line in text.splitlines() if line.startswith("tps")).split()[2])
    finally:
        as_postgres(programs / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(sockets, ignore_errors=True)


def migrate(systems, options):
    """Migrates files by command while a reader reads another file at random; the reader's 99th percentile."""
    volume = systems.tddfs
    say(f"\nMigration of {options.migrated_mib} MiB, and a reader of 4 KiB beside it")
    for repeat in range(options.repeats):
        folder = volume.mount_point / f"cold{repeat}"
        folder.mkdir()
        source = random.Random(100 + repeat)
        for number in range(options.migrated_mib // 64):
            with open(folder / f"file{number}", "wb") as file:
                for _ in range(64):
                    file.write(source.randbytes(MIB))
        other = volume.mount_point / f"read{repeat}"
        with open(other, "wb") as file:
            for _ in range(256):
                file.write(source.randbytes(MIB))
        volume.script("sdfscli", volume.name, "tier", "migrate", f"read{repeat}")
        os.sync()
        alone = percentiles(other, lambda: time.sleep(5))
        begin = time.monotonic()
        beside = percentiles(other, lambda: volume.script("sdfscli", volume.name, "tier", "migrate", f"cold{repeat}"))
        rate = options.migrated_mib / (time.monotonic() - begin)
        say(f"  {rate:6.1f} MiB/s; a read's median and 99th percentile: alone {alone[0]:.2f} and {alone[1]:.2f} ms, "
            f"beside {beside[0]:.2f} and {beside[1]:.2f} ms ({beside[1] / alone[1]:.1f} times)")
        shutil.rmtree(folder)
        other.unlink()


def percentiles(path, work):
    """Reads at random past the kernel's cache while the work runs; median and 99th percentile in milliseconds."""
    done = threading.Event()
    taken = []

    def read():
        buffer = mmap.mmap(-1, 4096)
        file = os.open(path, os.O_RDONLY | os.O_DIRECT)
        chosen = random.Random(7)
        blocks = os.fstat(file).st_size // 4096
        while not done.is_set():
            begin = time.monotonic()
            os.preadv(file, [buffer], chosen.randrange(blocks) * 4096)
            taken.append((time.monotonic() - begin) * 1e3)
            time.sleep(0.002)
        os.close(file)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        work()
    finally:
        done.set()
        reader.join()
    return statistics.median(taken), statistics.quantiles(taken, n=100)[98]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("/var/tmp/sdfs-bench-tddfs"), help="folder on the device to measure")
    parser.add_argument("--parts", default=",".join(PARTS), help="which parts to run (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10, help="duration of each shape and of pgbench")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--appends", type=int, default=1000)
    parser.add_argument("--large-mib", type=int, default=1024)
    parser.add_argument("--migrated-mib", type=int, default=1024)
    parser.add_argument("--encrypt", action="store_true", help="also measure an encrypted volume with a fast tier")
    parser.add_argument("--fast-tier", default="16GB", help="capacity of the fast tier (default: %(default)s)")
    tiers = parser.add_argument_group("the part tiers")
    tiers.add_argument("--shapes", default=",".join(TIER_SHAPES), help="(default: %(default)s)")
    tiers.add_argument("--reads", help="percents of reads, such as 90,50 (default: those of the shape)")
    tiers.add_argument("--designs", default="slow,fast,dedup,sar,open,tddfs", help="(default: %(default)s)")
    tiers.add_argument("--tiers-mib", type=int, default=1536, help="bytes of the files, in MiB (default: %(default)s)")
    tiers.add_argument("--fast-percent", type=int, default=25, help="fast tier, in percent of them (default: %(default)s)")
    tiers.add_argument("--requests", type=int, default=300, help="(default: %(default)s)")
    tiers.add_argument("--memory-budget", type=int, default=256, help="of each volume, in MB (default: %(default)s, the least)")
    tiers.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="file for the figures (default: figures.json in the work folder)")
    options = parser.parse_args()
    parts = options.parts.split(",")
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    measure(Bench, options, lambda report: SHOWN, "; 'sar' is a volume without a fast tier")


class Bench:
    """The parts that were asked for, on three systems."""

    def __init__(self, options):
        self.options = options
        self.report = self
        self.systems = None
        self.tiers = Tiers(options)

    def run(self):
        if self.options.parts != "tiers":
            self.systems = Systems(self.options.work, self.options.fast_tier, self.options.encrypt)
        say(f"The fast tier and the plain file system: {run('df', '-T', self.options.work).splitlines()[1]}")
        for part in self.options.parts.split(","):
            if part in SHAPES:
                shape(self.systems, self.options, part)
            else:
                {"sequential": sequential, "random": random_reads, "create": create, "append": append,
                 "pgbench": pgbench, "migrate": migrate, "tiers": self.run_tiers}[part](self.systems, self.options)

    def run_tiers(self, _systems, _options):
        self.tiers.run()
        SHOWN.extend(self.tiers.rows)

    def print_table(self):
        """Everything was printed when it was measured."""

    def clean(self):
        self.tiers.clean()
        if self.systems:
            self.systems.clean()


if __name__ == "__main__":
    main()
