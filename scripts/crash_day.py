"""Shared by scripts/crash-loop: an administrator's day, whose hours are seconds, on a volume that programs use and that is killed."""

import json
import os
import shlex
import shutil
import subprocess
import time

from crash_snapshots import content_of, differences, tree_of
from crash_volume import SCRIPTS, CommandFailed, Volume

# By kind: options of mkfs.sdfs, and whether the volume has an SSD.
KINDS = {
    "plain": ([], False),
    "ssd": ([], True),
    # A short journal, so that copies into chunks run beside the programs.
    "tddfs": (["--tier-mode=tddfs", "--tddfs-journal=2"], True),
    "encrypted": (["--encrypt"], True),
}
SCHEDULES = ["--gc-schedule=0/13 * * * * ?", "--scrub-schedule=5/31 * * * * ?", "--snapshot-schedule=3/7 * * * * ?",
             "--snapshot-keep=last=3"]
# Of a volume that is not in an object store, which has the metadata itself.
BACKUPS = ["--backup-interval=1m", "--backup-keep=2"]
SETTINGS = [["--capacity=19GB", "--capacity=20GB"], ["--maximum-full=90", "--maximum-full=100"], ["--write-threads=1", "--write-threads=3"],
            ["--memory=400MB", "--memory=512MB"], ["--snapshot-keep=last=2", "--snapshot-keep=last=3,hourly=2"],
            ["--restore-cache=lru", "--restore-cache=default"], ["--gc-schedule=0/13 * * * * ?", "--gc-schedule=4/9 * * * * ?"]]
PAUSE_SECONDS = 0.2
# After a full disk has space again, until its volume must take everything.
RECOVERY_SECONDS = 60
# What a command answers that finds another one at work.
BUSY = "running", "already"


def number_of(snapshot):
    return int(snapshot[1:])


class Killed(Exception):
    """A command was killed, as it was meant to be."""


class SmallDisk:
    """An ext4 in a file, which can be filled."""

    def __init__(self, place, size):
        self.image, self.place, self.filler = place.with_suffix(".image"), place, place / "filler"
        self.until = 0
        place.mkdir()
        with open(self.image, "wb") as file:
            file.truncate(size)
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", self.image], check=True)
        subprocess.run(["mount", "-o", "loop", self.image, place], check=True)

    def fill(self, left):
        """Leaves that many bytes free."""
        self.until = float("inf")
        space = os.statvfs(self.place)
        fd = os.open(self.filler, os.O_CREAT | os.O_RDWR)
        try:
            os.posix_fallocate(fd, 0, max(1, space.f_bavail * space.f_frsize - left))
        finally:
            os.close(fd)

    def free(self):
        if self.filler.exists():
            self.filler.unlink()
            self.until = time.monotonic() + RECOVERY_SECONDS

    def is_full(self):
        return self.filler.exists()

    def may_be_full(self):
        return time.monotonic() < self.until

    def remove(self):
        subprocess.run(["umount", "-l", self.place], check=False)
        self.image.unlink(missing_ok=True)


class Day:
    """
    Gives the commands of an administrator, one after another, some of which are killed: collections, scrubs, defragmentation, backups
    of the metadata, restores, other options, passphrases and data locations, and sends snapshots to a replica. The volume's own
    schedules make and prune snapshots, collect and scrub, too. The disk is full now and then.
    """

    def __init__(self, kind, volume, snapshots, result, disk):
        self.volume = volume
        self.snapshots = snapshots
        self.result = result
        self.disk = disk
        self.scratch = volume.folder / "day"
        self.scratch.mkdir()
        self.replica = None
        self.replicas = 0
        # Snapshots of the replica, and the one that is not whole there.
        self.received = {}
        self.sending = None
        self.passphrases = 0
        # The volume's tree before it was unmounted.
        self.now = {}
        self.volume.must("sdfscli", volume.name, "set", *SCHEDULES, *([] if volume.address else BACKUPS))
        self.actions = [self.collect, self.scrub, self.look, self.prune, self.set, self.restore, self.send, self.defragment]
        # A volume in a store has one data location.
        if not volume.address:
            self.actions += [self.back_up, self.locations]
        if disk:
            self.actions.append(self.fill)
        if kind == "tddfs":
            self.actions += [self.migrate, self.reload]
        if kind == "encrypted":
            self.actions += [self.change_key, self.add_key]

    def run(self, chance, this_round):
        while not this_round.is_ending():
            try:
                chance.choice(self.actions)(chance)
                if self.disk and chance.random() < 1 / 2:
                    self.disk.free()
            except Killed:
                pass
            except (OSError, CommandFailed) as e:
                if not this_round.ending.wait(PAUSE_SECONDS) and not self.is_excused(str(e)):
                    self.result.found("other", f"day: {e}")
            this_round.over.wait(PAUSE_SECONDS)

    def is_excused(self, text):
        return any(word in text for word in BUSY) or self.may_be_full()

    def may_be_full(self):
        return self.disk is not None and self.disk.may_be_full()

    def command(self, chance, *words, env=None, fails=()):
        """Gives a command; one in six is killed. Returns what it prints. fails: the exit codes for what it could not do with files in use"""
        self.result.command(words[0])
        kill_after = chance.choice([0.5, 1, 3]) * chance.random() if chance.random() < 1 / 6 else None
        status, text = self.volume.command("sdfscli", self.volume.name, *words, env=env, kill_after=kill_after)
        if status < 0:
            self.result.command("kill of a command")
            raise Killed
        if status and status not in fails:
            raise CommandFailed(f"sdfscli {' '.join(map(str, words))} ended with {status}: {text.strip()}")
        return text

    def collect(self, chance):
        self.command(chance, "gc", "--wait", *chance.choice([[], ["--arrange=5"], ["--recompress=zstd:3"], ["--leave=0"]]))

    def scrub(self, chance):
        self.command(chance, "scrub", "start", *chance.choice([[], ["--wait"]]))

    def look(self, chance):
        self.command(chance, *chance.choice([["check"], ["status"], ["damaged"], ["quota", "report"], ["snapshot", "list"], ["heal", "--wait"]]))

    def prune(self, chance):
        self.command(chance, "snapshot", "prune", f"--keep-last={chance.randint(1, 2)}")

    def set(self, chance):
        self.command(chance, "set", chance.choice(chance.choice(SETTINGS)))

    def back_up(self, chance):
        self.command(chance, "metadata-backup", self.volume.stores / "offsite")

    def defragment(self, chance):
        found = sorted(self.volume.mount_point.glob("writer-*/*"))
        if found:
            path = chance.choice(found)
            try:
                self.command(chance, "defrag", path, "--share=50")
            except CommandFailed:
                # A program may have removed it.
                if path.exists():
                    raise

    def migrate(self, chance):
        self.command(chance, "tier", "migrate", ".", fails=[1])

    def reload(self, chance):
        found = sorted(self.volume.mount_point.glob("writer-*/*"))
        if found:
            self.command(chance, "tier", "reload", chance.choice(found), fails=[1])

    def locations(self, chance):
        """Another data location is added, and left again."""
        folder = self.volume.stores / "more"
        # It may be one already: a command before was killed, or found a collection at work.
        self.command(chance, "add-location", folder)
        self.command(chance, "evacuate-location", folder, "--wait")
        shutil.rmtree(folder, ignore_errors=True)

    def fill(self, chance):
        self.result.command("full disk")
        self.disk.fill(chance.choice([0, 1, 16, 100]) << 20)
        # It stays full for a while, also for further commands, and when the kill comes.
        time.sleep(chance.uniform(0.5, 5))

    def change_key(self, chance):
        """A passphrase is changed; a command that was killed has done it, or nothing."""
        self.passphrases += 1
        new = f"passphrase {self.passphrases}"
        try:
            self.command(chance, "key", "change", env={"SDFS_NEW_PASSPHRASE": new})
        except Killed:
            if not self.opens(new):
                return
        self.volume.env["SDFS_PASSPHRASE"] = new

    def opens(self, passphrase):
        status, text = self.volume.command("sdfscli", self.volume.name, "key", "test", env={"SDFS_PASSPHRASE": passphrase})
        if status not in (0, 7):
            raise CommandFailed(f"key test ended with {status}: {text.strip()}")
        return status == 0

    def add_key(self, chance):
        """A slot is added and removed again."""
        new = f"added {self.passphrases}"
        slots = json.loads(self.command(chance, "key", "list", "--json"))["slots"]
        for slot in slots:
            if slot.get("label") == "added":
                self.command(chance, "key", "remove", slot["slot"])
                return
        self.command(chance, "key", "add", "--label=added", env={"SDFS_NEW_PASSPHRASE": new})
        if not self.opens(new):
            self.result.found("lost", "a passphrase that was added opens nothing")

    def restore(self, chance):
        with self.snapshots.borrowed(chance) as name:
            if name is None:
                return
            writer, to = chance.choice(self.snapshots.writers), self.scratch / "restored"
            expected = content_of(self.snapshots.snapshots[name], f"{writer}/")
            for left in self.scratch.iterdir():
                if left.name != "stream":
                    shutil.rmtree(left)
            if expected:
                self.command(chance, "restore", self.snapshots.folder(name) / writer, to)
                self.compare(f"{writer} of {name}, restored", expected, content_of(tree_of(to)))

    def compare(self, what, expected, found):
        if expected != found:
            self.result.found("wrong", f"{what} differs at {differences(expected, found)}")

    def send(self, chance):
        """A snapshot is sent to a replica; one that was cut off is sent to its end, or given up if it is deleted here."""
        if self.sending and self.sending not in self.snapshots.snapshots:
            self.to_replica("--abort")
            self.sending = None
        if self.replica is None or not self.received.keys() & self.snapshots.snapshots.keys() and not self.sending:
            self.make_replica()
        with self.snapshots.borrowed(chance, self.sending, *self.received) as name:
            # A replica receives only what is younger than what it has.
            if name is None or any(number_of(name) < number_of(other) for other in (*self.received, self.sending or name)) or name in self.received:
                return
            tree = self.snapshots.snapshots[name]
            earlier, self.sending = self.sending, self.sending or name
            self.command(chance, "send", name, f"--to={self.receiver('--answer')}")
            if earlier:
                self.received[earlier] = self.snapshots.snapshots[earlier]
            self.received[name] = tree
            self.sending = None

    def receiver(self, *words):
        env = [f"{name}={self.replica.env[name]}" for name in ("SDFS_CONFIG_DIR", "SDFS_PASSPHRASE")]
        env.append(f"SDFS_STREAM_PASSPHRASE={self.volume.env['SDFS_PASSPHRASE']}")
        return shlex.join(["env", *env, str(SCRIPTS / "sdfscli"), self.replica.name, "receive", *words])

    def to_replica(self, *words):
        self.replica.must("sdfscli", self.replica.name, "receive", *words)

    def make_replica(self):
        self.remove_replica()
        self.replicas += 1
        folder = self.volume.folder / f"replica-{self.replicas}"
        self.replica = Volume(folder, folder, ssd=False)
        self.received, self.sending = {}, None

    def remove_replica(self):
        if self.replica:
            self.replica.remove()
            self.replica = None

    def check(self):
        """After the volume was opened again: the replica has what was sent."""
        if not self.received or self.sending:
            return
        self.replica.mount()
        try:
            for name, tree in self.received.items():
                self.compare(f"snapshot {name} of the replica", content_of(tree),
                             content_of(tree_of(self.replica.mount_point / ".snapshots" / name)))
            newest = next(reversed(self.received))
            self.compare("the replica", content_of(self.received[newest]), content_of(tree_of(self.replica.mount_point)))
        finally:
            self.replica.unmount()

    def before_unmount(self):
        self.now = tree_of(self.volume.mount_point)

    def unmounted(self, chance):
        """While the volume is not mounted: it is rolled back to a snapshot, and forth again; either command may be killed."""
        with self.snapshots.borrowed(chance) as name:
            if name is None or chance.random() < 1 / 2:
                return
            before = content_of(self.now)
            possible = [content_of(self.snapshots.snapshots[name])]
            try:
                self.command(chance, "snapshot", "rollback", name)
            except Killed:
                possible.append(before)
            self.result.command("rollback")
            self.volume.mount()
            found = content_of(tree_of(self.volume.mount_point))
            if found not in possible:
                self.result.found("wrong", f"after a rollback to {name} the volume differs at {differences(possible[0], found)}")
            kept = [entry for entry in os.listdir(self.volume.mount_point / ".snapshots") if entry.startswith("before-rollback-")]
            self.volume.unmount()
            for entry in sorted(kept, reverse=True)[:1]:
                self.volume.must("sdfscli", self.volume.name, "snapshot", "rollback", entry, "--discard")
            self.volume.mount()
            self.compare("the volume that was rolled back and forth", before, content_of(tree_of(self.volume.mount_point)))
            for entry in kept:
                self.volume.must("sdfscli", self.volume.name, "snapshot", "delete", entry)
            self.volume.unmount()

    def end(self):
        """The day is over: what would go on by a schedule does not."""
        self.volume.must("sdfscli", self.volume.name, "set", "--snapshot-schedule=off", "--gc-schedule=off", "--scrub-schedule=off")

    def remove(self):
        self.remove_replica()
        if self.disk:
            self.disk.remove()
