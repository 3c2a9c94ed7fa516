#!/usr/bin/env python3
"""Measures what the commands of a volume take: mount and unmount, and status, df and others by the client without a JVM and by a JVM.

Run through scripts/bench commands. Both ways are measured in one run, in turns, on a volume with some files. "cpu" is the processor
time of the command and of the daemon together, from the kernel's clock ticks (10 ms each). Removes its mount and its daemon, also
when it is interrupted.
"""

import argparse
import os
import re
import resource
import statistics
import tempfile
import time
from pathlib import Path

from bench_volume import COMMANDS, Volume, run, say

COMMAND_LINES = [[], ["status"], ["status", "--json"], ["df"], ["stats"], ["info"]]
# Any option of the JVM makes scripts/sdfscli run one; this one changes nothing.
JVM = {"SDFS_COMMAND_JAVA_OPTS": "-Dsar.bench=true"}
TICKS = os.sysconf("SC_CLK_TCK")


def daemon_cpu(volume):
    fields = Path(f"/proc/{volume.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(volume, call):
    """Calls; returns wall and processor seconds."""
    before = children_cpu() + (daemon_cpu(volume) if volume.pid else 0)
    begin = time.monotonic()
    call()
    wall = time.monotonic() - begin
    return wall, children_cpu() + (daemon_cpu(volume) if volume.pid else 0) - before


def show(what, how, samples):
    walls = [wall for wall, _ in samples]
    cpu = statistics.mean(cpu for _, cpu in samples)
    say(f"{what:28} {how:10} first {walls[0] * 1000:6.0f} ms   median {statistics.median(walls) * 1000:6.0f} ms   "
        f"slowest {max(walls) * 1000:6.0f} ms   cpu {cpu * 1000:6.0f} ms")


def commands(volume, rounds):
    samples = {}
    for _ in range(rounds):
        for words in COMMAND_LINES:
            for how, variables in (("client", {}), ("JVM", JVM)):
                env = volume.env
                volume.env = {**env, **variables}
                what = " ".join(["sdfscli VOLUME", *words])
                taken = measure(volume, lambda line=words: volume.script("sdfscli", volume.name, *line))
                samples.setdefault((what, how), []).append(taken)
                volume.env = env
    for (what, how), taken in samples.items():
        show(what, how, taken)


def mounts(volume, how, rounds):
    taken = {"mount.sdfs": [], "mount.sdfs after umount -i": [], "sdfscli VOLUME unmount": []}
    for _ in range(rounds):
        taken["mount.sdfs"].append(measure(volume, volume.mount_only))
        # Returns while the daemon still closes the volume.
        run("umount", "-i", volume.mount_point)
        volume.pid = None
        taken["mount.sdfs after umount -i"].append(measure(volume, volume.mount_only))
        volume.pid = None
        taken["sdfscli VOLUME unmount"].append(measure(volume, lambda: volume.script("sdfscli", volume.name, "unmount")))
    for what, samples in taken.items():
        show(what, how, samples)


class CommandVolume(Volume):
    def mount_only(self):
        said = self.script("mount.sdfs", self.name, self.mount_point)
        self.pid = int(re.search(r"process (\d+)", said).group(1))


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench commands", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=10, help="calls of each command; default 10")
    parser.add_argument("--work", type=Path, default=Path("/var/tmp"), help="folder to work in; default /var/tmp")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sdfs-bench-", dir=options.work) as work:
        volume = CommandVolume(Path(work), "commands")
        try:
            client = [COMMANDS.parent / "sdfs-integration/target/sdfs-client", COMMANDS.parent / "lib/sdfs/sdfs-client"]
            if not any(path.exists() for path in client):
                say("There is no client (scripts/build makes it where there is a C compiler): both columns are JVMs.")
            volume.mount()
            for number in range(200):
                (volume.mount_point / f"file{number}").write_bytes(os.urandom(1 << 16))
            commands(volume, options.rounds)
            volume.unmount()
            mounts(volume, "JVM", max(1, options.rounds // 2))
        finally:
            volume.clean()
        # Argon2id takes the second that it is meant to take.
        volume = CommandVolume(Path(work), "encrypted", "--encrypt")
        try:
            mounts(volume, "encrypted", max(1, options.rounds // 2))
        finally:
            volume.clean()


if __name__ == "__main__":
    main()
