"""Shared by scripts/crash-loop: a volume that is mounted by the project's own commands, killed, and taken over by other machines."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
NAME = "crashloop"
# What a command says when it gave up asking the store; see Requests.java.
SILENT_STORE = re.compile(r" was asked for \d+ |did not answer the requests before this one")
STORE_TRIES = 3


class CommandFailed(Exception):
    pass


class Disk:
    """A disk of scripts/slow-disk whose power can be cut: it then loses blocks that were not flushed."""

    def __init__(self, place):
        self.place = place
        self.order("up", "--rate", "0", "--size", "16G", "--write-cache", "volatile")

    def order(self, verb, *words):
        done = subprocess.run([SCRIPTS / "slow-disk", verb, self.place, *map(str, words)], text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise CommandFailed(f"slow-disk {verb} ended with {done.returncode}:\n{done.stdout}")

    def power_off(self, seed):
        self.order("power-off", seed)

    def power_on(self):
        self.order("power-on")

    def lie(self):
        """From now on a flush does nothing."""
        self.order("control", "lie")

    def remove(self):
        self.order("down")


class Former:
    """A machine from which another one takes the volume over."""

    def __init__(self, volume):
        self.mount_point = volume.mount_point
        self.folders = volume.folders()
        self.logs = volume.logs()
        self.daemons = volume.daemons()

    def is_alive(self):
        return bool(daemons_of(self.logs))

    def end(self):
        """Ends what still runs of it."""
        kill_daemons(self.logs)
        detach(self.mount_point)

    def remove(self):
        """Removes all that it had."""
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)


def daemons_of(logs):
    """Returns the numbers of the daemons that were started with one of these logs."""
    marks = {f"-Dsdfs.log.file={log}".encode() for log in logs}
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if not marks.isdisjoint((process / "cmdline").read_bytes().split(b"\0")):
                    found.append(int(process.name))
            except OSError:
                # It has ended, or belongs to another user.
                pass
    return found


def kill_daemons(logs):
    """Kills daemons and waits until they are gone. Returns whether there was one."""
    killed = daemons_of(logs)
    for pid in killed:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    while daemons_of(logs):
        time.sleep(0.02)
    return bool(killed)


def is_mount_point(path):
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return any(line.split()[4] == str(path) for line in mounts)


def detach(path):
    """Removes a mount, whatever state it is in."""
    while is_mount_point(path):
        helper = ["umount", "-l"] if os.geteuid() == 0 else ["fusermount3", "-u", "-z"]
        if subprocess.run([*helper, path], check=False).returncode:
            break


class Volume:
    """A volume whose stores lie in one folder.

    folder: for what a power cut must not touch: configuration and mount point
    stores: for everything else
    """

    name = NAME

    def __init__(self, folder, stores, options=(), remote=None, machines=(), ssd=True):
        """
        remote: a server of bench_stores.py and the address of the object store there, in which the volume then lies
        machines: two of crash_machines.py, in which the daemons then run in turns
        ssd: whether it has an SSD
        """
        self.machines = machines
        self.takeovers = 0
        self.folder = folder
        self.stores = stores
        self.mount_point = folder / "mnt"
        # The passphrase is for --mkfs-option=--encrypt.
        self.env = {**os.environ, "SDFS_CONFIG_DIR": str(folder / "config"), "SDFS_PASSPHRASE": "crash loop"}
        self.mount_point.mkdir(parents=True)
        # What mount.sdfs is told, and where a machine has its folders that has only that.
        self.source = NAME
        self.address = None
        self.machine = folder / "config"
        if remote:
            server, self.address = remote
            self.env |= server.env | {"SDFS_CONFIG_DIR": str(self.machine)}
            options = [f"--object-store={self.address}", "--durability=remote", *options]
        self.must("mkfs.sdfs", f"--volume-name={NAME}", "--volume-capacity=20GB", f"--base-path={stores / 'base'}",
                  "--memory-budget=512MB", *[f"--sar-ssd-location={stores / 'ssd'}", "--sar-ssd-capacity=512MB",
                  "--sar-policy=reference-count", "--sar-reference-count-threshold=2"][:4 * ssd], *options)

    def command(self, script, *words, env=None, kill_after=None):
        """
        Runs one of the project's commands; returns its exit status and its output. kill_after: seconds after which it is killed with all
        that it started, if it still runs. On a busy machine a store may not answer for a minute, which is no defect of the volume: then
        a command that may be repeated is.
        """
        repeats = script in ("mount.sdfs", "sdfs-check") or words[1:2] in (("scrub",), ("gc",))
        tries = STORE_TRIES if self.address and repeats and kill_after is None else 1
        for left in reversed(range(tries)):
            status, text = self.run(script, words, env, kill_after)
            if not (status and left and SILENT_STORE.search(text)):
                break
        return status, text

    def run(self, script, words, env, kill_after):
        # Through a file: the daemon that mount.sdfs starts may keep a pipe open. Threads give commands at the same time.
        with tempfile.TemporaryFile("w+", dir=self.folder) as sink:
            # In a group of its own: Ctrl-C ends the loop, which then ends the volume in order.
            process = subprocess.Popen(self.words(script, *words), env=self.env | (env or {}), text=True, stdout=sink,
                                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                process.wait(kill_after)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            sink.seek(0)
            return process.returncode, sink.read()

    def words(self, script, *words):
        """The words of one of the project's commands on the machine that has the volume."""
        enter = self.machines[self.takeovers % len(self.machines)].enter if self.machines else []
        return [*enter, str(SCRIPTS / script), *map(str, words)]

    def must(self, script, *words):
        status, text = self.command(script, *words)
        if status:
            raise CommandFailed(f"{script} {' '.join(map(str, words))} ended with {status}:\n{text}")
        return text

    def mount(self):
        self.must("mount.sdfs", self.source, self.mount_point)
        self.source = NAME

    def lose_machine(self):
        """Removes all that this machine has of a volume in an object store. The daemon was killed before."""
        self.end()
        for folder in self.folders():
            shutil.rmtree(folder, ignore_errors=True)
        self.source = self.address

    def folders(self):
        """All that this machine has of the volume."""
        return self.stores / "base", self.stores / "ssd", self.machine

    def logs(self):
        return [folder / f"log/{NAME}.log" for folder in (self.stores / "base", self.machine / "volumes" / NAME)]

    def be_taken_over(self, kind):
        """
        Another machine, which has only the address, is to mount the volume while the owner cannot be heard. It is this volume from now
        on. Returns the former owner, and a process that begins with a line of its input: it disturbs the owner, mounts elsewhere,
        and lets the owner go on. It is one process, and made before: a new one waits in the kernel when it closes its copies of files
        of a mount that does not answer.

        kind: pause, a daemon that is stopped; partition, a machine that is cut off; nothing
        """
        former = Former(self)
        if kind == "pause":
            disturb, heal = (" ".join(["kill", f"-{name}", *map(str, former.daemons)]) for name in ("STOP", "CONT"))
        elif kind == "partition":
            owner = self.machines[self.takeovers % len(self.machines)]
            disturb, heal = owner.policy("DROP"), owner.policy("ACCEPT")
        elif kind == "nothing":
            disturb = heal = ":"
        else:
            raise ValueError(kind)
        self.takeovers += 1
        self.machine = self.folder / f"machine-{self.takeovers}"
        self.mount_point = self.folder / f"mnt-{self.takeovers}"
        self.mount_point.mkdir()
        self.env["SDFS_CONFIG_DIR"] = str(self.machine)
        mount = shlex.join(self.words("mount.sdfs", self.address, self.mount_point))
        with open(self.folder / "output-takeover", "w") as sink:
            process = subprocess.Popen(["sh", "-c", f"read line; {disturb}; {mount}; status=$?; {heal}; exit $status"], env=self.env,
                                       stdin=subprocess.PIPE, stdout=sink, stderr=sink, start_new_session=True)
        return former, process

    def taken_over(self, process):
        """Waits for the process of a takeover, which must succeed."""
        if process.wait():
            raise CommandFailed(f"the takeover ended with {process.returncode}:\n{(self.folder / 'output-takeover').read_text()}")
        self.source = NAME

    def start_to_mount(self):
        """Begins to mount and returns the process of the command."""
        return subprocess.Popen(self.words("mount.sdfs", self.source, self.mount_point), env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def daemons(self):
        """Returns the numbers of this volume's daemons: the processes that were started with its log."""
        return daemons_of(self.logs())

    def kill(self):
        """Kills the daemon and waits until it is gone. Returns whether there was one."""
        return kill_daemons(self.logs())

    def unmount(self):
        self.must("sdfscli", NAME, "unmount")

    def is_mounted(self):
        return is_mount_point(self.mount_point)

    def end(self):
        """Ends the daemon and removes the mount, whatever state they are in."""
        self.kill()
        detach(self.mount_point)

    def remove(self):
        self.end()
        if not self.is_mounted():
            shutil.rmtree(self.folder)
