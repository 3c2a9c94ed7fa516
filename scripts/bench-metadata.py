#!/usr/bin/env python3
"""Measures small files, names and attributes through the mount, next to a plain file system and the limit of FUSE.

Run through scripts/bench metadata. The same loops run on a volume with default options, on the file system of the work
folder (plain), on a FUSE file system in C that stores nothing (null: scripts/null-fs.c, with the volume's noflush and
noxattr), and through bindfs on the work folder where installed. Rates are calls of one process per second unless stated
otherwise, measured in the process; Python's own share is two to five microseconds per call. The
figures depend on the machine's state: compare only columns of one run. Removes its mount and daemon, also when it is
interrupted.
"""

import argparse
import contextlib
import json
import mmap
import multiprocessing
import os
import random
import re
import shutil
import statistics
import subprocess
import threading
import time
from pathlib import Path

import bench_tree
from bench_volume import SCRIPTS, Volume, drop_kernel_caches, measure, run, say

FILE_BYTES = 4096
SMALL_FILES, SMALL_FOLDERS = 40_000, 40
CLONED_FILES, CLONED_FOLDERS = 100_000, 1000
LISTED_FILES = 100_000
FOUND_FILES, FOUND_FOLDERS = 1_000_000, 1000
TREE_FILES = 80_000
USER, QUOTA_TURNS = 65534, 9
APPENDS, APPEND_BYTES = 1000, 100
SYNC_THREADS = 8
SYNC_CROWD, CROWD_SECONDS, READ_BYTES = 64, 5, 4096
COPIED = "/usr/share"
HUGE_FILES = 10_000_000


def seconds(work, *arguments):
    begin = time.monotonic()
    work(*arguments)
    return time.monotonic() - begin


def rate(count, work, *arguments):
    return count / seconds(work, *arguments)


def in_own(work, paths):
    in_processes(work, [paths])


def in_two(work, paths):
    """Runs the work on both halves of the paths, in two processes."""
    half = len(paths) // 2
    in_processes(work, [paths[:half], paths[half:]])


def in_processes(work, parts):
    # No pool: ending a pool sends its processes the signal that this program treats as an interruption.
    processes = [multiprocessing.Process(target=work, args=(part,)) for part in parts]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        if process.exitcode:
            raise RuntimeError(f"{work.__name__} ended with {process.exitcode}")


# The measured loops contain nothing but the calls.

def create(paths):
    # Bytes that neither repeat nor compress, from a different place of one random buffer for each file.
    data = memoryview(random.Random(paths[0]).randbytes(FILE_BYTES + len(paths)))
    for number, path in enumerate(paths):
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        os.write(file, data[number : number + FILE_BYTES])
        os.close(file)


def create_as_user(paths):
    """As create, by a user whom quotas limit, in a process of its own."""
    # By relative paths: the user need not reach the work folder.
    os.chdir(os.path.dirname(os.path.dirname(paths[0])))
    relative = [os.path.relpath(path) for path in paths]
    os.setgid(USER)
    os.setuid(USER)
    create(relative)


def make_empty(paths):
    for path in paths:
        os.mknod(path, 0o644)


def open_and_read(paths):
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        os.read(file, FILE_BYTES)
        os.close(file)


def stat(paths):
    for path in paths:
        os.stat(path)


def unlink(paths):
    for path in paths:
        os.unlink(path)


def append_and_sync(path):
    """Microseconds of each append with its fsync."""
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
    taken = []
    for _ in range(APPENDS):
        # Not zeros: these are a length in a recipe, and need no force of a container.
        data = os.urandom(APPEND_BYTES)
        begin = time.monotonic()
        os.write(file, data)
        os.fsync(file)
        taken.append((time.monotonic() - begin) * 1e6)
    os.close(file)
    return taken


def append_in_threads(folder):
    """Appends with fsync a second, of several threads with a file each, together."""
    threads = [threading.Thread(target=append_and_sync, args=(folder / f"log{number}",)) for number in range(SYNC_THREADS)]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return SYNC_THREADS * APPENDS / (time.monotonic() - begin)


def sync_in_crowd(folder, until):
    """Appends with fsync in many threads, with a file each, until a time of the monotonic clock."""
    def append(path):
        file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
        while time.monotonic() < until:
            os.write(file, os.urandom(APPEND_BYTES))
            os.fsync(file)
        os.close(file)

    threads = [threading.Thread(target=append, args=(folder / f"crowd{number}",)) for number in range(SYNC_CROWD)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def reads_beside(folder):
    """Microseconds of single random reads past the kernel's cache, while a crowd syncs in another process."""
    path = folder / "read"
    path.write_bytes(os.urandom(64 << 20))
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    os.fsync(file)
    buffer = mmap.mmap(-1, READ_BYTES)
    chance = random.Random(1)
    crowd = multiprocessing.Process(target=sync_in_crowd, args=(folder, time.monotonic() + CROWD_SECONDS))
    crowd.start()
    time.sleep(0.5)
    taken = []
    while crowd.is_alive():
        begin = time.monotonic()
        os.preadv(file, [buffer], chance.randrange((64 << 20) // READ_BYTES) * READ_BYTES)
        taken.append((time.monotonic() - begin) * 1e6)
        time.sleep(0.001)
    crowd.join()
    os.close(file)
    return taken


def command(line):
    """Runs a shell command and discards its output."""
    subprocess.run(line, shell=True, stdout=subprocess.DEVNULL, check=True)


def copy_and_sync(source, place):
    command(f"cp -a '{source}' '{source}-copy'")
    place.sync()


class OnVolume:
    """The column of a volume."""

    column = "ours"

    def __init__(self, work, budget_mb, mount_options):
        self.volume = Volume(work, "metadata", f"--memory-budget={budget_mb}MB")
        self.volume.mount_options = mount_options
        self.volume.mount()
        self.folder = self.volume.mount_point

    def sync(self):
        # The first makes the kernel send its pages; only the second sends the volume a request.
        run("sync", "-f", self.folder)
        run("sync", self.folder)

    def limit(self, folder):
        """Gives a folder a quota that nothing reaches."""
        self.volume.script("sdfscli", self.volume.name, "quota", "set", f"--folder={folder}", "--bytes=8TB:9TB",
                           "--files=8000000:9000000")

    def processor_seconds(self):
        """What the daemon has used, in user mode and in the kernel."""
        fields = Path(f"/proc/{self.volume.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def forget(self):
        self.volume.unmount()
        self.volume.mount()
        drop_kernel_caches()

    def cloned(self, source, target):
        """Seconds of a clone in the daemon, from its start until it is durable."""
        return json.loads(self.volume.script("sdfscli", self.volume.name, "clone", source, target, "--json"))["seconds"]

    def live_heap_bytes(self):
        """Heap of the daemon, after a garbage collection."""
        histogram = run("jcmd", self.volume.pid, "GC.class_histogram")
        return int(re.search(r"^Total\s+\d+\s+(\d+)", histogram, re.MULTILINE).group(1))

    def clean(self):
        self.volume.clean()


class OnPlain:
    """The column of the work folder's own file system."""

    column = "plain"

    def __init__(self, work):
        self.folder = work / "plain"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    def sync(self):
        run("sync", "-f", self.folder)

    def forget(self):
        drop_kernel_caches()

    def clean(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class OnNull:
    """The column of a FUSE file system in C that stores nothing: what the kernel's requests take alone."""

    column = "null"

    def __init__(self, work, mount_options):
        self.folder, program = work / "null", work / "null-fs"
        self.clean()
        self.folder.mkdir()
        run("gcc", "-O2", "-o", program, SCRIPTS / "null-fs.c")
        run(program, self.folder, *({"noflush", "noxattr"} & set(mount_options.split(","))))

    def sync(self):
        run("sync", "-f", self.folder)

    def forget(self):
        # It has the names in memory only: the kernel alone forgets them.
        drop_kernel_caches()

    def clean(self):
        if os.path.ismount(self.folder):
            run("umount", "-l", self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)


class OnBindfs:
    """The column of bindfs, a passthrough in C on libfuse, with its defaults."""

    column = "bindfs"

    def __init__(self, work):
        self.behind, self.folder = work / "bindfs-behind", work / "bindfs"
        self.clean()
        for folder in (self.behind, self.folder):
            folder.mkdir()
        self.mount()

    def mount(self):
        run("bindfs", self.behind, self.folder)

    def sync(self):
        run("sync", "-f", self.behind)

    def forget(self):
        run("umount", self.folder)
        self.mount()
        drop_kernel_caches()

    def clean(self):
        if os.path.ismount(self.folder):
            run("umount", "-l", self.folder)
        for folder in (self.folder, self.behind):
            shutil.rmtree(folder, ignore_errors=True)


class Report:
    """The figures, each with its target: a bound, or a multiple of the plain file system's."""

    def __init__(self, columns):
        self.columns = columns
        self.rows = {}

    def add(self, figure, target, column, value, digits=0):
        row = self.rows.setdefault(figure, {"figure": figure, "target": target, "digits": digits})
        row[column] = value
        say(f"  {column:6} {figure}: {value:,.{digits}f}")

    def print_table(self):
        say(f"\n{'figure':52} {'target':>14} " + " ".join(f"{column:>10}" for column in self.columns))
        for row in self.rows.values():
            cells = [f"{row[column]:,.{row['digits']}f}" if column in row else "-" for column in self.columns]
            say(f"{row['figure']:52} {row['target']:>14} " + " ".join(f"{cell:>10}" for cell in cells) + verdict(row))


def verdict(row):
    words = row["target"].split()
    if not words or "ours" not in row or "x" in words and words[-1] not in row:
        return ""
    bound = float(words[1])
    if "x" in words:
        # A share of another column's speed, or a multiple of its time, in seconds or microseconds.
        bound = row[words[-1]] / bound if words[0] == ">=" else row[words[-1]] * bound
        return "" if row["ours"] <= bound else "  missed"
    reached = row["ours"] >= bound if words[0] == ">=" else row["ours"] <= bound
    return "" if reached else "  missed"


class Bench:
    PARTS = ("small", "quota", "fsync", "beside", "listing", "tree", "copy", "clone", "find", "memory")

    def __init__(self, options):
        self.options = options
        self.places = [OnPlain(options.work)]
        if shutil.which("gcc"):
            self.places.append(OnNull(options.work, options.mount_options))
        else:
            say("  gcc is not installed: the column of scripts/null-fs.c is left out")
        if shutil.which("bindfs"):
            self.places.append(OnBindfs(options.work))
        else:
            say("  bindfs is not installed: its column is left out")
        self.ours = None
        self.report = Report(["ours", *(place.column for place in self.places)])

    def scaled(self, count):
        return max(100, int(count * self.options.scale))

    def run(self):
        self.ours = OnVolume(self.options.work, self.options.memory_budget, self.options.mount_options)
        self.places.insert(0, self.ours)
        for part in self.options.parts:
            say(f"{part}:")
            getattr(self, part)()
        if self.options.huge:
            say("huge:")
            self.huge()

    def small(self):
        """In turns, so that another program's load affects all columns."""
        count = self.scaled(SMALL_FILES)
        for place in self.places:
            paths = made_paths(place.folder / "small", count, SMALL_FOLDERS)
            self.small_files(place, paths, "", in_one)
            self.small_files(place, paths, ", two processes", in_two)

    def small_files(self, place, paths, how, run_on):
        def add(figure, target, work):
            self.report.add(figure + how, "" if how else target, place.column, rate(len(paths), run_on, work, paths))

        add("create of 4 KiB files, a second", ">= 15000", create)
        if not how:
            self.report.add("sync after it, s", "", place.column, seconds(place.sync), 2)
        place.sync()
        add("open, read, close, warm, a second", ">= 10000", open_and_read)
        run_on(stat, paths)
        add("stat, warm, a second", ">= 50000", stat)
        add("unlink, a second", ">= 8000", unlink)
        place.sync()

    def quota(self):
        """In turns, in a folder with a quota and in one without. By processor time of the daemon, because the
        difference is less than rates differ between turns."""
        count = self.scaled(SMALL_FILES) // 4
        folders = {"without a quota": self.ours.folder / "free", "with one": self.ours.folder / "limited"}
        for folder in folders.values():
            folder.mkdir()
        self.ours.limit(folders["with one"])
        spent = {name: [] for name in folders}
        rates = {name: [] for name in folders}
        for turn in range(QUOTA_TURNS):
            for name in list(folders)[:: 1 if turn % 2 else -1]:
                paths = made_paths(folders[name] / str(turn), count, SMALL_FOLDERS)
                for folder in {os.path.dirname(path) for path in paths}:
                    os.chmod(folder, 0o777)
                self.ours.sync()
                before = self.ours.processor_seconds()
                rates[name].append(rate(count, in_own, create_as_user, paths))
                spent[name].append((self.ours.processor_seconds() - before) / count * 1e6)
        for name in folders:
            figure = f"create of 4 KiB files by a user, {name}"
            self.report.add(f"{figure}, a second", "", "ours", statistics.median(rates[name]))
            self.report.add(f"{figure}, us of the daemon", "", "ours", statistics.median(spent[name]), 1)
            say(f"    us of each turn: {', '.join(f'{us:.0f}' for us in spent[name])}")

    def fsync(self):
        for place in self.places:
            taken = append_and_sync(place.folder / "log")
            self.report.add("append of 100 bytes with fsync, median us", "<= 2 x plain", place.column,
                            statistics.median(taken))
            self.report.add("append of 100 bytes with fsync, mean us", "", place.column, statistics.fmean(taken))
            self.report.add(f"the same in {SYNC_THREADS} threads together, a second", ">= 5000", place.column,
                            append_in_threads(place.folder))

    def beside(self):
        for place in self.places:
            taken = reads_beside(place.folder)
            self.report.add(f"read of 4 KiB beside {SYNC_CROWD} threads of fsync, median us", "<= 2000", place.column,
                            statistics.median(taken))
            self.report.add("the same, 99th percentile, us", "", place.column, statistics.quantiles(taken, n=100)[98])

    def listing(self):
        count = self.scaled(LISTED_FILES)
        for place in self.places:
            paths = made_paths(place.folder / "listed", count, 1)
            self.report.add("mknod, a second", "", place.column, rate(count, make_empty, paths))
            place.forget()
            line = f"ls -l '{place.folder}/listed/0'"
            self.report.add(f"ls -l of {count} files, cold, s", "", place.column, seconds(command, line), 2)
            self.report.add(f"ls -l of {count} files, s", "<= 1", place.column, seconds(command, line), 2)
            self.report.add(f"ls -f of {count} files, s", "", place.column, seconds(command, line.replace("-l", "-f")), 2)
            self.report.add("find of them, with attributes, s", "<= 1", place.column,
                            seconds(command, f"find '{place.folder}/listed' -newer /"), 2)
            self.report.add("rm -r of them, s", "<= 4 x plain", place.column,
                            seconds(command, f"rm -r '{place.folder}/listed'"), 2)

    def tree(self):
        tar = bench_tree.make(self.options.work / "tree", self.options.seed, self.scaled(TREE_FILES))
        unpack, remove = (f"{work} a tree of {self.scaled(TREE_FILES)} files" for work in ("unpack", "remove"))
        saves_requests = {"noflush", "noxattr"} <= set(self.options.mount_options.split(","))
        for place in self.places:
            command(f"cat '{tar}'")
            place.sync()
            self.report.add(f"{unpack}, s", f"<= {3 if saves_requests else 4} x plain", place.column,
                            seconds(command, f"tar -xf '{tar}' -C '{place.folder}'"), 1)
            self.report.add("sync after it, s (unpacking)", "", place.column, seconds(place.sync), 1)
            self.report.add(f"{remove}, s", ">= 0.3 x plain", place.column,
                            seconds(command, f"rm -rf '{place.folder}/tree'"), 1)
            place.sync()

    def copy(self):
        command(f"tar -cf /dev/null '{COPIED}'")
        for place in self.places:
            self.report.add(f"cp -a {COPIED}, s", "<= 1.5 x bindfs", place.column,
                            seconds(command, f"cp -a '{COPIED}' '{place.folder}/copied'"), 1)
            self.report.add("sync after it, s (copying)", "", place.column, seconds(place.sync), 1)
            command(f"rm -rf '{place.folder}/copied'")
            place.sync()

    def clone(self):
        """A clone, and cp -a of the same files in the same volume; both are durable at the end of their times."""
        count = self.scaled(CLONED_FILES)
        figure = f"of {count} files of 4 KiB within the volume, files a second"
        for place in (self.ours, self.places[1]):
            source = place.folder / "cloned"
            create(made_paths(source, count, max(1, CLONED_FOLDERS * count // CLONED_FILES)))
            place.sync()
            for state in ("after mounting", "again") if place is self.ours else ():
                if state == "after mounting":
                    place.forget()
                self.report.add(f"clone, {state}, {figure}", ">= 20000", place.column,
                                count / place.cloned(source, place.folder / f"clone {state}"))
            self.report.add(f"cp -a {figure}", "", place.column, rate(count, copy_and_sync, source, place))

    def find(self):
        count = self.scaled(FOUND_FILES)
        for place in self.places:
            paths = made_paths(place.folder / "found", count, FOUND_FOLDERS)
            self.report.add("mknod in 1000 directories, two processes, a second", "", place.column,
                            rate(count, in_two, make_empty, paths))
            place.sync()
            place.forget()
            self.report.add(f"find over {count} files, cold, s", "<= 30", place.column,
                            seconds(command, f"find '{place.folder}/found'"), 1)
            place.forget()
            self.report.add(f"find with attributes over {count} files, cold, s", "", place.column,
                            seconds(command, f"find '{place.folder}/found' -newer /"), 1)
            if place is not self.ours:
                command(f"rm -r '{place.folder}/found'")

    def memory(self):
        """After find: memory of the daemon for the files, when the kernel remembers them all."""
        found = self.ours.folder / "found"
        if not found.exists():
            make_empty(made_paths(found, self.scaled(FOUND_FILES), FOUND_FOLDERS))
        count = self.scaled(FOUND_FILES)
        self.ours.forget()
        before = self.ours.live_heap_bytes()
        command(f"find '{found}' -newer /")
        self.report.add("heap for a cached inode, bytes", "<= 300", "ours",
                        (self.ours.live_heap_bytes() - before) / count)
        self.ours.volume.note_memory()
        self.report.add("most memory of the daemon, MB", "", "ours", self.ours.volume.most_memory / 1e6)
        command(f"rm -r '{found}'")

    def huge(self):
        count = self.scaled(HUGE_FILES)
        folder = self.ours.folder / "huge"
        self.report.add(f"mknod of {count} files in one directory, a second", "", "ours",
                        rate(count, in_two, make_empty_numbered, made_ranges(folder, count)))
        self.ours.sync()
        self.ours.forget()
        begin = time.monotonic()
        listed = int(run("sh", "-c", f"find '{folder}' -mindepth 1 -printf x | wc -c"))
        if listed != count:
            raise RuntimeError(f"{listed} of {count} files were listed")
        self.report.add(f"listing {count} files of one directory, cold, s", "", "ours", time.monotonic() - begin, 1)
        self.ours.volume.note_memory()
        self.report.add("most memory of the daemon after it, MB", "", "ours", self.ours.volume.most_memory / 1e6)

    def clean(self):
        for place in self.places:
            with contextlib.suppress(OSError, RuntimeError):
                place.clean()
        for name in ("metadata",):
            shutil.rmtree(self.options.work / name, ignore_errors=True)


def in_one(work, paths):
    work(paths)


def made_paths(folder, count, folders):
    """Paths of files to be made, spread over folders that this makes."""
    below = [folder / str(number) for number in range(folders)]
    for path in below:
        path.mkdir(parents=True)
    share = -(-count // folders)
    return [f"{below[number // share]}/file-{number}" for number in range(count)]


def made_ranges(folder, count):
    """Ranges of file numbers, small enough to list their paths; a list of all paths would be large."""
    folder.mkdir()
    return [(str(folder), start, min(start + 10_000, count)) for start in range(0, count, 10_000)]


def make_empty_numbered(ranges):
    for folder, start, end in ranges:
        for number in range(start, end):
            os.mknod(f"{folder}/{number}", 0o644)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench metadata", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--work", type=Path, default=Path("/var/tmp/sar-bench-metadata"),
                        help="work folder; keeps the tar of the source tree between runs (default: %(default)s, about 5 GB)")
    parser.add_argument("--seed", type=int, default=1, help="of the source tree (default: %(default)s)")
    parser.add_argument("--memory-budget", type=int, default=1024, help="MB of the volume (default: %(default)s)")
    parser.add_argument("--mount-options", default="", help="of the volume, such as noacl,noflush (default: none)")
    parser.add_argument("--scale", type=float, default=1, help="share of every number of files (default: %(default)s)")
    parser.add_argument("--parts", nargs="+", choices=Bench.PARTS, default=Bench.PARTS, metavar="PART",
                        help=f"what to measure, of {', '.join(Bench.PARTS)} (default: all)")
    parser.add_argument("--huge", action="store_true",
                        help="also 10 million files in one directory; takes long")
    parser.add_argument("--json", type=Path, help="where to write the figures (default: figures.json in the work folder)")
    return parser.parse_args()


def main():
    measure(Bench, parse(), lambda report: list(report.rows.values()))


if __name__ == "__main__":
    main()
