#!/usr/bin/env python3
"""Volumes in object stores that run on this machine: rates, beside the store's own tool and other programs; prints tables, writes JSON.

Run through scripts/bench scale. Stores are versitygw (scripts/s3-gateway), Ceph with its gateway, and HDFS with three DataNodes, each started
here; what cannot be had is named. In each round all systems store the same new files, which do not shrink and repeat nothing, and read them
back into nothing: the store's own tool (rclone, hdfs dfs), with eight files at once and one by one; a volume with --durability=remote, and one with
local; restic, and S3QL where they are in the PATH. A volume is read on a machine that has nothing of it: other folders, mounted by the address of
the store. Random reads are of 4 KiB, with O_DIRECT, from a volume whose cache has all, beside a volume in local folders. A takeover is
from the kill -9 of one daemon to the first file that was read through another, elsewhere. MB are 10^6 bytes. Removes its mounts and
processes, also when it is interrupted.
"""

import argparse
import json
import mmap
import os
import platform
import random
import shutil
import statistics
import subprocess
import time
from pathlib import Path

from bench_stores import STORES, Unavailable
from bench_systems import table
from bench_volume import Volume, drop_kernel_caches, measure, run, say, warm

MB = 1_000_000
FILE_BYTES = 64 * MB
# Figures of sdfscli VOLUME stats: what was asked of the store, and what was learned of it.
REQUESTS = {"puts": "putRequests", "parts": "partRequests", "reads": "readRequests", "statuses": "statusRequests", "lists": "listRequests",
            "deletes": "deleteRequests", "replaces": "replaceRequests", "repeated": "repeatedRequests"}
LEARNED = {"latency ms": "rangeLatencyMillis", "lane MB/s": "laneMbPerSecond", "lanes": "lanes"}
PARTS = ("rates", "random", "programs", "takeover")


class StoredVolume(Volume):
    """A volume in an object store, as one machine has it: its own configuration, folders and mount point."""

    def __init__(self, work, name, store, machine, *options):
        self.attach(work, machine)
        self.clean()
        self.mount_point.mkdir(parents=True)
        self.name = name
        self.store = store
        self.address = store.address(name)
        self.source = self.address
        self.env |= store.env | {"SDFS_CONFIG_DIR": str(self.folder / "config")}
        if options:
            self.script("mkfs.sdfs", f"--volume-name={name}", "--volume-capacity=1TB", f"--base-path={self.folder / 'base'}",
                        f"--object-store={self.address}", *options)
            self.source = name

    def mount(self):
        begin = time.monotonic()
        self.script("mount.sdfs", self.source, self.mount_point)
        os.listdir(self.mount_point)
        seconds = time.monotonic() - begin
        self.source = self.name
        self.pid = self.figures("info")["pid"]
        return seconds

    def unmount(self):
        """Waits as long as the store needs for what it does not have yet."""
        self.note_memory()
        self.script("sdfscli", self.name, "unmount")
        self.await_end()


class Restic:
    """restic on a server of S3; its cache is in the work folder."""

    name = "restic"

    def __init__(self, work, store):
        self.cache = work / "restic"
        self.env = store.env | {"RESTIC_REPOSITORY": f"s3:{store.endpoint}/{store.bucket}/restic", "RESTIC_PASSWORD": "bench",
                                "RESTIC_CACHE_DIR": str(self.cache), "AWS_DEFAULT_REGION": "us-east-1"}
        run("restic", "-q", "init", env=self.env)

    def write(self, folder):
        begin = time.monotonic()
        run("restic", "-q", "backup", folder, env=self.env)
        return time.monotonic() - begin

    def read(self, folder):
        shutil.rmtree(self.cache, ignore_errors=True)
        drop_kernel_caches()
        begin = time.monotonic()
        discard(["restic", "-q", "dump", "latest", str(folder)], self.env)
        return time.monotonic() - begin

    def clean(self):
        shutil.rmtree(self.cache, ignore_errors=True)


class S3ql:
    """S3QL on a server of S3, mounted, without encryption, with zlib instead of lzma, which is slower; its cache is in the work folder."""

    name = "S3QL"

    def __init__(self, work, store):
        self.work = work / "s3ql"
        self.work.mkdir(exist_ok=True)
        self.mount_point = self.work / "mnt"
        self.mount_point.mkdir(exist_ok=True)
        self.url = f"s3c4://{store.endpoint.removeprefix('http://')}/{store.bucket}/s3ql/"
        auth = self.work / "auth"
        auth.write_text(f"[s3c4]\nstorage-url: s3c4://\nbackend-login: {store.env['AWS_ACCESS_KEY_ID']}\n"
                        f"backend-password: {store.env['AWS_SECRET_ACCESS_KEY']}\n")
        auth.chmod(0o600)
        self.options = [f"--cachedir={self.work / 'cache'}", f"--authfile={auth}", "--backend-options=no-ssl,disable-expect100,sig-region=us-east-1"]
        run("mkfs.s3ql", "--plain", *self.options, self.url)
        self.mount()

    def mount(self):
        run("mount.s3ql", "--compress=zlib-1", *self.options, f"--log={self.work / 'log'}", self.url, self.mount_point)

    def write(self, folder):
        begin = time.monotonic()
        run("cp", "-r", folder, self.mount_point)
        # It has no fsync: this puts what is dirty into the store.
        run("s3qlctrl", "flushcache", self.mount_point)
        return time.monotonic() - begin

    def read(self, folder):
        run("umount.s3ql", self.mount_point)
        shutil.rmtree(self.work / "cache")
        self.mount()
        drop_kernel_caches()
        return read_seconds(self.mount_point / folder.name)

    def clean(self):
        if os.path.ismount(self.mount_point):
            subprocess.run(["umount.s3ql", self.mount_point], check=False)
        shutil.rmtree(self.work, ignore_errors=True)


def discard(words, env=None):
    """Runs a program whose output is not kept."""
    done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"{words[0]} ended with {done.returncode}: {done.stderr.strip()[-500:]}")


def read_seconds(folder):
    """Seconds to read the files of a folder, one after the other, into nothing."""
    begin = time.monotonic()
    for file in sorted(folder.iterdir()):
        warm(file)
    return time.monotonic() - begin


class Report:
    def __init__(self):
        self.machine = {"cores": os.cpu_count(), "kernel": platform.release(), "date": time.strftime("%Y-%m-%d %H:%M")}
        self.rates, self.requests, self.random_reads, self.takeovers, self.missing = [], [], [], [], []

    def figures(self):
        return vars(self)

    def add(self, store, what, system, mb, seconds):
        say(f"  {what}: {system} {mb / seconds:.0f} MB/s")
        self.rates.append({"store": store, "what": what, "system": system, "mb": mb, "seconds": seconds})

    def add_requests(self, store, what, system, volume):
        """Adds what a volume has asked of the store since it was mounted."""
        asked = volume.figures()["objectStore"]
        self.requests.append({"store": store, "what": what, "system": system} | {name: asked[key] for name, key in REQUESTS.items()}
                             | {"MB sent": asked["sentBytes"] / MB, "MB received": asked["receivedBytes"] / MB}
                             | {name: asked[key] for name, key in LEARNED.items()})

    def print_table(self):
        rows, tools = [], {}
        for row in self.rates:
            key = {name: row[name] for name in ("store", "what", "system")}
            if key in [{name: other[name] for name in key} for other in rows]:
                continue
            each = [other["mb"] / other["seconds"] for other in self.rates if key.items() <= other.items()]
            rows.append(key | {"MB/s": statistics.median(each), "lowest": min(each), "highest": max(each), "rounds": len(each)})
            if "own tool" in row["system"]:
                tools[row["store"], row["what"]] = max(tools.get((row["store"], row["what"]), 0), statistics.median(each))
        for row in rows:
            best = tools.get((row["store"], row["what"]))
            row["of own tool, %"] = best and round(100 * row["MB/s"] / best)
        table("Rates, the median of the rounds; restores on a machine that has nothing of the volume", rows)
        table("Requests since the mount, of each round, and what was learned of the store's ranges", self.requests)
        table("Random reads of 4 KiB, with O_DIRECT, all in the cache of this machine", self.random_reads)
        table("Takeover: seconds after kill -9, by mount.sdfs ADDRESS elsewhere", self.takeovers)
        for text in self.missing:
            say(f"Without {text}")
        say(f"\n{self.machine}")


class Bench:
    def __init__(self, options):
        self.options = options
        self.work = options.work / "scale"
        self.report = Report()
        self.store = None
        self.systems = []

    def run(self):
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        for name in self.options.stores:
            say(f"{name}:")
            try:
                self.store = STORES[name](self.work / name)
                self.store.start()
            except Unavailable as e:
                self.miss(f"{name}: {e}")
                self.clean()
                continue
            for part in self.options.parts:
                getattr(self, part)()
                self.clean_systems()
            self.clean()

    def miss(self, text):
        say(f"  without {text}")
        self.report.missing.append(text)

    def data(self, number):
        """A folder of files that no other call made, in the kernel's cache."""
        folder = self.work / f"data-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        chance = random.Random(f"{self.options.seed}:{number}")
        for file in range(max(1, self.options.mb * MB // FILE_BYTES)):
            with open(folder / f"f{file:03d}", "wb") as target:
                for _ in range(FILE_BYTES // MB):
                    target.write(chance.randbytes(MB))
        run("sync", "-f", folder)
        for file in folder.iterdir():
            warm(file)
        return folder

    def megabytes(self, folder):
        return sum(file.stat().st_size for file in folder.iterdir()) / MB

    def volume(self, *options, name="pool", machine="first"):
        volume = StoredVolume(self.work, name, self.store, f"{self.store.name}-{name}-{machine}", *options)
        self.systems.append(volume)
        return volume

    def rates(self):
        """Writes and restores by the store's own tool and by volumes, in turns."""
        tool = self.store.tool()
        kinds = ("remote", "local")
        volumes = {kind: self.volume(f"--durability={kind}", name=f"rates-{kind}") for kind in kinds}
        for number in range(self.options.rounds):
            data = self.data(number)
            mb = self.megabytes(data)
            turns = [lambda: self.own_tool(tool, data, mb), *(lambda kind=kind: self.rate_of(volumes[kind], kind, data, mb) for kind in kinds)]
            first = number % len(turns)
            for turn in turns[first:] + turns[:first]:
                turn()
            shutil.rmtree(data)

    def own_tool(self, tool, data, mb):
        name = self.store.name
        self.report.add(name, "write", f"own tool: {tool.name}", mb, tool.put(data, data.name))
        drop_kernel_caches()
        memory = Path("/dev/shm") / f"sar-bench-scale-{os.getpid()}"
        if shutil.disk_usage("/dev/shm").free > 2 * mb * MB:
            memory.mkdir()
            try:
                seconds = tool.get(data.name, memory)
            finally:
                shutil.rmtree(memory)
            self.report.add(name, "restore", f"own tool: {tool.name}, at once", mb, seconds)
            drop_kernel_caches()
        self.report.add(name, "restore", f"own tool: {tool.name}, one by one", mb, tool.read(data.name))

    def rate_of(self, volume, kind, data, mb):
        for file in data.iterdir():
            warm(file)
        volume.mount()
        begin = time.monotonic()
        run("cp", "-r", data, volume.mount_point)
        # The first makes the kernel send its pages; only the second is a commit.
        run("sync", "-f", volume.mount_point)
        run("sync", volume.mount_point)
        synced = time.monotonic() - begin
        if kind == "remote":
            self.report.add_requests(self.store.name, "write", f"ours, {kind}", volume)
        volume.unmount()
        stored = time.monotonic() - begin
        name = self.store.name
        if kind == "remote":
            self.report.add(name, "write", "ours, --durability=remote, until synced", mb, synced)
        else:
            self.report.add(name, "write", "ours, --durability=local, until synced here", mb, synced)
            self.report.add(name, "write", "ours, --durability=local, until in the store", mb, stored)
        elsewhere = self.volume(name=volume.name, machine="second")
        seconds = elsewhere.mount()
        drop_kernel_caches()
        self.report.add(name, "restore", f"ours, {kind}", mb, read_seconds(elsewhere.mount_point / data.name))
        self.report.add_requests(name, "restore", f"ours, {kind}", elsewhere)
        say(f"    mounted elsewhere in {seconds:.1f} s")
        drop_kernel_caches()
        self.report.add(name, "restore again, from our cache", f"ours, {kind}", mb, read_seconds(elsewhere.mount_point / data.name))
        elsewhere.unmount()
        elsewhere.clean()

    def random(self):
        """Random reads of a volume whose cache has all, beside those of a volume in folders."""
        data = self.data("random")
        volume = self.volume("--durability=local", name="random")
        local = Volume(self.work, "local")
        self.systems.append(local)
        for each in (volume, local):
            each.mount()
            run("cp", "-r", data, each.mount_point)
            each.unmount()
            each.mount()
            read_seconds(each.mount_point / data.name)
        for number in range(2 * self.options.rounds):
            each, system = [(volume, "volume in the store"), (local, "volume in folders")][number % 2]
            self.report.random_reads.append({"store": self.store.name, "system": system} | self.read_randomly(each.mount_point / data.name))
        shutil.rmtree(data)

    def read_randomly(self, folder):
        drop_kernel_caches()
        chance = random.Random(self.options.seed)
        files = sorted(folder.iterdir())
        descriptors = [os.open(file, os.O_RDONLY | os.O_DIRECT) for file in files]
        buffer, taken = [mmap.mmap(-1, 4096)], []
        try:
            for _ in range(self.options.reads):
                descriptor = chance.choice(descriptors)
                place = chance.randrange(FILE_BYTES // 4096) * 4096
                begin = time.monotonic()
                os.preadv(descriptor, buffer, place)
                taken.append((time.monotonic() - begin) * 1e6)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        taken.sort()
        return {"reads": len(taken), "mean us": statistics.mean(taken), "p50 us": taken[len(taken) // 2],
                "p99 us": taken[len(taken) * 99 // 100]}

    def programs(self):
        """Other programs on the same server of S3, and ours with the same files, in turns."""
        if not hasattr(self.store, "endpoint"):
            self.miss(f"restic and S3QL on {self.store.name}: they have no client for it")
            return
        systems = []
        for program, made in ("restic", Restic), ("mkfs.s3ql", S3ql):
            if shutil.which(program):
                systems.append(made(self.work, self.store))
                self.systems.append(systems[-1])
            else:
                self.miss(f"{made.name}: {program} is not installed")
        for number in range(self.options.rounds):
            data = self.data(f"programs-{number}")
            mb = self.megabytes(data)
            for system in systems:
                self.report.add(self.store.name, "write", system.name, mb, system.write(data))
                self.report.add(self.store.name, "restore", system.name, mb, system.read(data))
            shutil.rmtree(data)

    def takeover(self):
        first = self.volume("--durability=remote", name="takeover")
        for number in range(self.options.rounds + 2):
            first.mount()
            file = first.mount_point / f"f{number}"
            content = os.urandom(MB)
            with open(file, "wb") as target:
                target.write(content)
                target.flush()
                os.fsync(target.fileno())
            second = self.volume(name="takeover", machine=f"other-{number}")
            begin = time.monotonic()
            first.kill()
            mounted = second.mount()
            if (second.mount_point / file.name).read_bytes() != content:
                raise RuntimeError(f"{file.name} differs after the takeover")
            seconds = time.monotonic() - begin
            say(f"  takeover: {seconds:.1f} s")
            self.report.takeovers.append({"store": self.store.name, "seconds": seconds, "of them mount.sdfs": mounted})
            second.unmount()
            second.clean()
        first.clean()

    def clean_systems(self):
        for system in reversed(self.systems):
            system.clean()
        self.systems = []

    def clean(self):
        self.clean_systems()
        if self.store:
            self.store.stop()
            self.store = None
        for folder in self.work.glob("data-*"):
            shutil.rmtree(folder)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench scale", description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("/var/tmp/sar-bench"), help="work folder (default: %(default)s, about 10 GB)")
    parser.add_argument("--stores", type=lambda text: text.split(","), default=list(STORES), help=f"some of {','.join(STORES)} (default: all)")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS), help=f"some of {','.join(PARTS)} (default: all)")
    parser.add_argument("--mb", type=int, default=1024, help="MB that are stored in a round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each (default: %(default)s)")
    parser.add_argument("--reads", type=int, default=5000, help="random reads of a round (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of files and random reads (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="where to write the figures (default: figures.json in the work folder)")
    options = parser.parse_args()
    for chosen, all_of in (options.stores, STORES), (options.parts, PARTS):
        for wrong in set(chosen) - set(all_of):
            parser.error(f"there is no {wrong}; there are {', '.join(all_of)}")
    return options


def main():
    measure(Bench, parse(), lambda report: report.figures(), "; MB are 10^6 bytes")


if __name__ == "__main__":
    main()
