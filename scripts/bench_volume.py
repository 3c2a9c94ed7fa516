"""Shared by the benchmarks of the mounted file system: a volume, and the commands they run."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
# The folder of the commands that are measured: of this clone, or of an installation (scripts/bench --installed).
COMMANDS = Path(os.environ.get("SDFS_BENCH_COMMANDS", SCRIPTS))


def run(*words, env=None):
    """Runs a program that must succeed; returns its output."""
    done = subprocess.run([str(word) for word in words], env=env, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def say(text):
    print(text, flush=True)


class Volume:
    """A volume made, mounted and removed by the project's own commands."""

    def __init__(self, work, name, *options, base=None):
        self.attach(work, name)
        self.clean()
        self.mount_point.mkdir(parents=True)
        self.script("mkfs.sdfs", f"--volume-name={name}", "--volume-capacity=1TB",
                    f"--base-path={(base or self.folder) / 'base'}", *options)

    def attach(self, work, name):
        """Refers to a volume of that name in the work folder, which may have been made before."""
        self.folder = work / name
        self.name = name
        self.mount_point = self.folder / "mnt"
        self.mount_options = ""
        self.pid = None
        self.most_memory = 0
        # The passphrase is for volumes that are made with --encrypt.
        self.env = {**os.environ, "SDFS_CONFIG_DIR": str(self.folder / "config"), "SDFS_PASSPHRASE": "bench"}

    def script(self, name, *words):
        # Through a file: the daemon that mount.sdfs starts may keep a pipe open.
        with open(self.folder / "output", "w+") as output:
            done = subprocess.run([COMMANDS / name, *map(str, words)], env=self.env, text=True, stdout=output,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            output.seek(0)
            text = output.read()
        if done.returncode:
            raise RuntimeError(f"{name} ended with {done.returncode}:\n{text}")
        return text

    def mount(self):
        """Mounts; seconds until the first listing."""
        begin = time.monotonic()
        options = ["-o", self.mount_options] if self.mount_options else []
        self.script("mount.sdfs", self.name, self.mount_point, *options)
        os.listdir(self.mount_point)
        seconds = time.monotonic() - begin
        self.pid = self.figures("info")["pid"]
        say_java(self.pid)
        return seconds

    def figures(self, command="stats"):
        return json.loads(self.script("sdfscli", self.name, command, "--json"))

    def note_memory(self):
        """The daemon's highest resident memory, VmHWM of proc(5)."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        kilobytes = int(re.search(r"VmHWM:\s+(\d+)", status).group(1))
        self.most_memory = max(self.most_memory, kilobytes * 1024)

    def unmount(self):
        self.note_memory()
        run("umount", self.mount_point)
        self.await_end()

    def kill(self):
        self.note_memory()
        os.kill(self.pid, signal.SIGKILL)
        self.await_end()
        run("umount", "-l", self.mount_point)

    def await_end(self):
        deadline = time.monotonic() + 120
        while Path(f"/proc/{self.pid}").exists():
            if time.monotonic() > deadline:
                raise RuntimeError(f"the daemon {self.pid} does not end")
            time.sleep(0.02)
        self.pid = None

    def end(self):
        """Ends mount and daemon, whatever their state."""
        if os.path.ismount(self.mount_point) or self.pid:
            subprocess.run(["umount", "-l", str(self.mount_point)], stderr=subprocess.DEVNULL, check=False)
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self.await_end()

    def clean(self):
        """Ends mount and daemon, whatever their state, and removes everything."""
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)


_said = set()


def say_java(pid):
    """Names the program and the Java that serve a volume, once each."""
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    java = os.readlink(f"/proc/{pid}/exe")
    learned = any(word.startswith((b"-XX:AOTCache=", b"-XX:SharedArchiveFile=")) for word in words)
    text = f"Served by {COMMANDS / 'mount.sdfs'} with {java}{' and what it learned' if learned else ''}."
    if text not in _said:
        _said.add(text)
        say(text)


def drop_kernel_caches():
    run("sync")
    Path("/proc/sys/vm/drop_caches").write_text("3")


def warm(file):
    """Reads a file in sequence."""
    run("dd", f"if={file}", "of=/dev/null", "bs=1M", "status=none")


def copy_seconds(source, target, block, *dd_options):
    """Copies a file, which is read before, and makes it durable; returns the seconds."""
    warm(source)
    begin = time.monotonic()
    run("dd", f"if={source}", f"of={target}", f"bs={block}", "conv=fsync", "status=none", *dd_options)
    return time.monotonic() - begin


def stored_bytes(volume):
    # The first makes the kernel send its pages; only the second sends the volume a request.
    run("sync", "-f", volume.mount_point)
    run("sync", volume.mount_point)
    return volume.figures()["storedBytes"]


def interrupted(number, _frame):
    raise SystemExit(128 + number)


def measure(bench_class, options, rows, remark=""):
    """Runs a benchmark and cleans up after it, also when it is interrupted; prints its table and writes its figures.

    rows: the figures of the benchmark's report, for the JSON.
    """
    if os.geteuid() != 0:
        sys.exit("scripts/bench: needs root, to drop the kernel's caches between measurements")
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    bench = bench_class(options)
    try:
        bench.run()
    finally:
        bench.clean()
    bench.report.print_table()
    target = options.json or options.work / "figures.json"
    target.write_text(json.dumps(rows(bench.report), indent=2) + "\n")
    say(f"\nAs JSON: {target}. 'plain' is the file system of {options.work}{remark}.")
