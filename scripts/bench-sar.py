#!/usr/bin/env python3
"""Disk images of machines, stored and read back from a slow disk, with and without promotion to an SSD; prints tables, writes JSON.

Run through scripts/bench sar. One run compares native ext4, a volume without SSD ("off"), the same with an LRU block
cache of the SSD's size before its disk ("lru"), and a volume with SAR for each policy. The slow disk is scripts/slow-disk, one for each
system; the SSD, and in all systems alike the volume's metadata and hash db, are folders of the work folder's own disk. Volumes are made
with --hash-type=SHA256.

Cold means: volume mounted again, a file of other data read (so that the JVM has compiled the read path), the kernel's caches
dropped. MB are 10^6 bytes. Removes its mounts, loop devices and processes, also when it is interrupted.
"""

import argparse
import json
import mmap
import os
import platform
import random
import shutil
import statistics
import time
from pathlib import Path

import bench_fleet
import bench_images
import bench_storm
from bench_blocks import BLOCK, ZERO, Blocks
from bench_systems import Deduplicated, Native, table
from bench_volume import copy_seconds, measure, say, stored_bytes, warm

MB = 1_000_000
KIB = 1024
PARTS = ("restore", "random", "write", "storm")
DEFAULT_PARTS = PARTS[:3]
READ_SIZES = (4 * KIB, 64 * KIB)
# Promotion continues after the last write: it has ended when nothing was promoted for this time.
SETTLED_SECONDS = 12
# The least capacity of an SSD that mkfs.sdfs takes.
LEAST_SSD_BYTES = 8 << 20


class Promoting(Deduplicated):
    """A volume with SAR."""

    def __init__(self, work, policy, options, capacity, suffix="", **placement):
        name, _, threshold = policy.partition(":")
        full_name = policy.replace(":", "-") + suffix
        self.ssd = work / f"ssd-{full_name}"
        sar = [f"--sar-ssd-location={self.ssd}", f"--sar-ssd-capacity={capacity}", f"--sar-policy={name}"]
        if threshold:
            sar.append(f"--sar-reference-count-threshold={threshold}")
        super().__init__(work, full_name, options, volume_options=sar, **placement)

    def start(self):
        shutil.rmtree(self.ssd, ignore_errors=True)
        self.ssd.mkdir()
        super().start()

    def settle(self):
        """Waits until no chunk waits for the SSD, and promotion has ended."""
        promoted, since = -1, time.monotonic()
        while time.monotonic() - since < SETTLED_SECONDS:
            now = self.status()["promotion"]
            waiting = now["queuedChunks"] + now["rememberedChunks"]
            if waiting or now["promotedChunks"] != promoted:
                promoted, since = now["promotedChunks"], time.monotonic()
            time.sleep(0.5)

    def status(self):
        return json.loads(self.ask("status", "--json"))

    def ssd_blocks(self, image):
        """Numbers of an image's blocks that are on the SSD."""
        lines = self.ask("explain", self.path(image), "--chunks").splitlines()
        # Offset, chunk, bytes, references, run, verdict.
        there = [line.split() for line in lines if line.endswith(" on-ssd")]
        return {int(offset) // BLOCK for offset, *_ in there}

    def ask(self, *words):
        return self.volume.script("sdfscli", self.volume.name, "sar", *words)

    def clean(self):
        super().clean()
        shutil.rmtree(self.ssd, ignore_errors=True)


class Reads:
    """Aligned spans of the images, of one size, in random order, and the times of each system for them."""

    def __init__(self, over, size, spans):
        self.over, self.size, self.spans = over, size, spans
        self.milliseconds = {}
        self.hit_share = {}

    def measure(self, system, images):
        system.forget()
        sources = [open(image, "rb") for image in images]
        files = [os.open(system.path(image), os.O_RDONLY | os.O_DIRECT) for image in images]
        buffer = mmap.mmap(-1, self.size)
        taken = []
        try:
            for image, offset in self.spans:
                begin = time.monotonic()
                got = os.preadv(files[image], [buffer], offset)
                taken.append((time.monotonic() - begin) * 1000)
                if os.pread(sources[image].fileno(), self.size, offset) != buffer[:got]:
                    raise RuntimeError(f"{system.name}: wrong bytes at {offset} of {images[image].name}")
        finally:
            for file in files:
                os.close(file)
            for source in sources:
                source.close()
        self.milliseconds[system.name] = taken
        say(f"  {self.title()}: {system.name} {statistics.mean(taken):.3f} ms")

    def title(self):
        return f"{self.size // KIB} KiB over {self.over}"

    def rows(self):
        for system, taken in self.milliseconds.items():
            ordered = sorted(taken)
            share = self.hit_share.get(system)
            yield {"over": self.over, "bytes": self.size, "reads": len(taken), "system": system,
                   "meanMs": statistics.mean(taken), "p50Ms": percentile(ordered, 50), "p95Ms": percentile(ordered, 95),
                   "p99Ms": percentile(ordered, 99),
                   "timesOff": statistics.mean(self.milliseconds["off"]) / statistics.mean(taken),
                   "hitShare": share, "bound": None if share is None or share == 1 else 1 / (1 - share)}


def percentile(ordered, percent):
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


class Report:
    """All figures of a run; keys as JSON has them."""

    def __init__(self):
        self.machine = {"cores": os.cpu_count(), "kernel": platform.release(), "date": time.strftime("%Y-%m-%d %H:%M")}
        self.images, self.restores, self.writes, self.memory, self.storms = [], [], [], [], []
        self.reads = []

    def figures(self):
        return {"machine": self.machine, "images": self.images, "restores": self.restores,
                "randomReads": [row for reads in self.reads for row in reads.rows()], "writes": self.writes, "memory": self.memory,
                "storms": self.storms}

    def print_table(self):
        figures = self.figures()
        table("Images, in the order in which they are stored", figures["images"])
        table("Cold restores: seconds and what the disk did", figures["restores"])
        table("Random reads, cold, one at a time", figures["randomReads"])
        table("Writing all images, one after the other", figures["writes"])
        table("Memory and SSD", figures["memory"])
        table("Boot storms, cold", figures["storms"])
        say(f"\n{self.machine}")


def in_turn(systems, round_number):
    """The systems, another one first in each round, because the machine's speed changes during a run."""
    first = round_number % len(systems)
    return systems[first:] + systems[:first]


class Bench:
    def __init__(self, options):
        self.options = options
        self.work = options.work
        self.report = Report()
        self.systems = []
        self.capacity = None

    def run(self):
        if set(self.options.parts) & set(DEFAULT_PARTS):
            self.read_and_write()
        if "storm" in self.options.parts:
            self.storms()

    def read_and_write(self):
        say("Images:")
        made = bench_images.make(self.work / "images", bench_images.MACHINES[: self.options.images])
        self.images = made
        for image in made:
            self.report.images.append({"image": image.stem, "mb": image.stat().st_size / MB,
                                       "notHolesMb": image.stat().st_blocks * 512 / MB, **bench_images.versions(image)})
        if {"restore", "random"} & set(self.options.parts):
            self.set_up()
            if "restore" in self.options.parts:
                self.restores()
            if "random" in self.options.parts:
                self.random_reads()
            self.memory()
            self.clean()
        if "write" in self.options.parts:
            self.writes()

    def storms(self):
        """Boot storms of each system in turn, because a fleet's volumes take much space together."""
        say("Boot storms:")
        images = bench_fleet.make(self.work / "fleet", self.options.machines)
        off = Deduplicated(self.work, "off", self.options)
        stored = self.storm(off, images, 0)
        for share in self.options.storm_shares:
            capacity = max(int(stored * share / 100), LEAST_SSD_BYTES)
            name = f"-{share:g}-percent"
            self.storm(Deduplicated(self.work, "lru" + name, self.options, disk_options=("--cache-bytes", capacity)), images, capacity)
            for policy in self.options.policy:
                self.storm(Promoting(self.work, policy, self.options, capacity, suffix=name), images, capacity)

    def storm(self, system, images, capacity):
        """Stores the fleet, starts it several times, and then some machines alone; returns the stored bytes."""
        self.start(system)
        system.store_warm_up()
        for image in images:
            copy_seconds(image, system.path(image), "1M", "conv=sparse")
        if isinstance(system, Promoting):
            system.settle()
        stored = stored_bytes(system.volume)
        alone = range(1, len(images), max(1, len(images) // max(1, self.options.alone)))[: self.options.alone]
        for numbers in [range(len(images))] * self.options.storms + [[number] for number in alone]:
            row = bench_storm.storm(system, images, self.work, numbers)
            self.report.storms.append({"ssdBytes": capacity, "storedBytes": stored, **row})
            if isinstance(system, Promoting):
                system.settle()
        system.clean()
        self.systems.remove(system)
        return stored

    def start(self, system):
        # Recorded before it is made: an interruption must also remove an incomplete one.
        self.systems.append(system)
        system.start()
        return system

    def set_up(self):
        """Stores the images in every system. The size of the volume without SSD determines the size of the SSD."""
        say("Storing:")
        self.fill(self.start(Native(self.work)))
        off = self.start(Deduplicated(self.work, "off", self.options))
        self.fill(off)
        self.capacity = self.ssd_capacity(off.volume)
        self.fill(self.start(Deduplicated(self.work, "lru", self.options, disk_options=("--cache-bytes", self.capacity))))
        for policy in self.options.policy:
            self.fill(self.start(Promoting(self.work, policy, self.options, self.capacity)))

    def ssd_capacity(self, volume):
        stored = stored_bytes(volume)
        capacity = int(stored * self.options.ssd_share)
        self.report.machine.update({"storedBytes": stored, "ssdBytes": capacity})
        say(f"  stored {stored / MB:.0f} MB; SSD {capacity / MB:.1f} MB")
        return capacity

    def fill(self, system):
        seconds = 0
        if isinstance(system, Deduplicated):
            system.store_warm_up()
        for image in self.images:
            seconds += system.store(image)
        if isinstance(system, Promoting):
            system.settle()
        say(f"  {system.name}: {seconds:.1f} s")

    def restores(self):
        """Each image from each system, cold; the systems take turns, so that the machine's state affects all of them."""
        say("Cold restores:")
        for number, image in enumerate(self.images):
            taken = {system.name: self.restore(system, image) for system in in_turn(self.systems, number)}
            rows = {system.name: taken[system.name] for system in self.systems}
            for row in rows.values():
                row["timesNative"] = rows["native"]["seconds"] / row["seconds"]
                row["timesOff"] = rows["off"]["seconds"] / row["seconds"]
            self.report.restores += rows.values()

    def restore(self, system, image):
        system.forget()
        before = system.disk.counters()
        begin = time.monotonic()
        warm(system.path(image))
        seconds = time.monotonic() - begin
        did = system.disk.since(before)
        say(f"  {image.stem}: {system.name} {seconds:.2f} s, {did['reads']:.0f} requests, {did['seeks']:.0f} seeks")
        return {"image": image.stem, "system": system.name, "seconds": seconds, "mbPerSecond": image.stat().st_size / MB / seconds,
                "diskRequests": int(did["reads"]), "diskMb": did["read_mb"], "diskSeeks": int(did["seeks"]),
                "diskBusySeconds": did["busy_s"], "cacheHitMb": did["cache_hit_mb"]}

    def random_reads(self):
        """Chunks on the SSD, for each policy; then chunks that images share, which are the same for all systems."""
        say("Random reads:")
        blocks = Blocks(self.images)
        chance = random.Random(self.options.seed)
        read_before = set()
        plain = [system for system in self.systems if system.name in ("off", "lru")]
        promoting = [system for system in self.systems if isinstance(system, Promoting)]
        on_ssd = {system.name: [system.ssd_blocks(image) for image in self.images] for system in promoting}
        for size in READ_SIZES:
            for system in promoting:
                there = on_ssd[system.name]
                reads = self.sample(f"chunks on the SSD ({system.name})", size, blocks, chance, read_before,
                                    lambda image, number: number in there[image])
                self.take(reads, [*plain, system], blocks, on_ssd)
            reads = self.sample("chunks shared between images", size, blocks, chance, read_before,
                                lambda image, number: blocks.shared(blocks.ids[image][number]))
            self.take(reads, [*plain, *promoting], blocks, on_ssd)

    def sample(self, over, size, blocks, chance, read_before, wanted):
        """Spans of which no block was read before: only the first read of each chunk counts."""
        candidates = list(blocks.spans(size, wanted))
        chance.shuffle(candidates)
        chosen = []
        for image, offset in candidates:
            first = offset // BLOCK
            ids = {block for block in blocks.ids[image][first : first + size // BLOCK] if block != ZERO}
            if not ids & read_before:
                read_before |= ids
                chosen.append((image, offset))
            if len(chosen) == self.options.reads:
                break
        say(f"  {size // KIB} KiB over {over}: {len(chosen)} of {len(candidates)} places")
        return Reads(over, size, chosen)

    def take(self, reads, systems, blocks, on_ssd):
        if not reads.spans:
            return
        for system in in_turn(systems, len(self.report.reads)):
            if system.name in on_ssd:
                reads.hit_share[system.name] = hit_share(reads, blocks, on_ssd[system.name])
            reads.measure(system, self.images)
        reads.milliseconds = {system.name: reads.milliseconds[system.name] for system in systems}
        self.report.reads.append(reads)

    def writes(self):
        """Rounds in which every volume stores all images again; odd rounds in reverse order."""
        say("Writing:")
        for disk in ("slow", "plain"):
            taken = {}
            for turn in range(self.options.rounds):
                names = ["off", *self.options.policy]
                for name in names if turn % 2 == 0 else reversed(names):
                    taken.setdefault(name, []).append(self.write(name, slow=disk == "slow"))
                    say(f"  {disk} disk, round {turn + 1}, {name}: {taken[name][-1][0]:.2f} s, CPU {taken[name][-1][1]:.2f} s")
            self.report.writes += self.write_rows(disk, taken)

    def write(self, name, slow):
        """Seconds, and processor seconds of the daemon, to store all images in a new volume."""
        if name == "off":
            system = self.start(Deduplicated(self.work, "off", self.options, slow=slow))
        else:
            system = self.start(Promoting(self.work, name, self.options, self.capacity, slow=slow))
        seconds = sum(system.store(image) for image in self.images)
        cpu_seconds = system.cpu_seconds()
        if self.capacity is None:
            self.capacity = self.ssd_capacity(system.volume)
        system.clean()
        self.systems.remove(system)
        return seconds, cpu_seconds

    def write_rows(self, disk, taken):
        total = sum(image.stat().st_size for image in self.images) / MB
        for name, rounds in taken.items():
            costs = [[100 * (ours / off - 1) for ours, off in zip(pair, offs)] for pair, offs in zip(rounds, taken["off"])]
            by_time, by_cpu = zip(*costs)
            yield {"disk": disk, "system": name, "rounds": len(rounds),
                   "mbPerSecond": total / statistics.median(seconds for seconds, _ in rounds),
                   "medianCostPercent": statistics.median(by_time), "leastCostPercent": min(by_time), "mostCostPercent": max(by_time),
                   "cpuSeconds": statistics.median(cpu for _, cpu in rounds), "medianCpuCostPercent": statistics.median(by_cpu)}

    def memory(self):
        for system in self.systems:
            if isinstance(system, Deduplicated):
                system.volume.note_memory()
                self.report.memory.append({"system": system.name, "mostResidentMb": system.volume.most_memory / MB, **used(system)})

    def clean(self):
        for system in self.systems:
            system.clean()
        self.systems = []


def used(system):
    """Memory and SSD space that SAR uses; None if there is no SSD."""
    status = system.status() if isinstance(system, Promoting) else {}
    figures = {**status.get("memory", {}), **status.get("space", {}), **status.get("promotion", {}), **status.get("reads", {})}
    names = ("mapTableEntries", "mapTableHeapBytes", "mapTableBytesPerEntry", "lruItems", "lruHeapBytes", "promotedChunks", "byWrite",
             "byRead", "byRecipe", "ssdUsedBytes", "ssdHits", "homeReads")
    return {name: figures.get(name) for name in names}


def hit_share(reads, blocks, there):
    """Share of the spans all of whose blocks, except zeros, are on the SSD."""
    def hit(image, offset):
        first = offset // BLOCK
        return all(blocks.ids[image][number] == ZERO or number in there[image] for number in range(first, first + reads.size // BLOCK))
    return sum(hit(image, offset) for image, offset in reads.spans) / len(reads.spans)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench sar", description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("/var/tmp/sar-bench"),
                        help="work folder; keeps the images between runs (default: %(default)s, about 30 GB)")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(DEFAULT_PARTS),
                        help=f"some of {','.join(PARTS)} (default: {','.join(DEFAULT_PARTS)})")
    parser.add_argument("--policy", action="append",
                        help="of SAR, reference-count or cost, with :N for another threshold; may be repeated; none: no SAR "
                             "(default: reference-count, reference-count:2, cost)")
    parser.add_argument("--images", type=int, default=len(bench_images.MACHINES), help="number of images (default: all, %(default)s)")
    parser.add_argument("--ssd-share", type=float, default=0.02, help="SSD bytes per stored byte (default: %(default)s)")
    parser.add_argument("--machines", type=int, default=20, help="machines of a boot storm (default: %(default)s)")
    parser.add_argument("--storms", type=int, default=3, help="boot storms of each system (default: %(default)s)")
    parser.add_argument("--alone", type=int, default=4, help="machines that start alone after the storms (default: %(default)s)")
    parser.add_argument("--storm-shares", type=lambda text: [float(share) for share in text.split(",")], default=[2.0, 5.0, 10.0],
                        help="SSD bytes of boot storms, in percent of the stored bytes (default: 2,5,10)")
    parser.add_argument("--reads", type=int, default=500, help="random reads of each kind and system (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=4,
                        help="rounds of writing; even, so that each volume is first equally often (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the random reads (default: %(default)s)")
    parser.add_argument("--memory-budget", type=int, default=1024, help="MB of each volume (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="where to write the figures (default: figures.json in the work folder)")
    options = parser.parse_args()
    wrong = set(options.parts) - set(PARTS)
    if wrong:
        parser.error(f"no part {', '.join(sorted(wrong))}; there are {', '.join(PARTS)}")
    options.policy = [policy for policy in options.policy or ["reference-count", "reference-count:2", "cost"] if policy != "none"]
    return options


def main():
    measure(Bench, parse(), lambda report: report.figures(), "; MB are 10^6 bytes")


if __name__ == "__main__":
    main()
