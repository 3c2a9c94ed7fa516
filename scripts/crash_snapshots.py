"""Shared by scripts/crash-loop: snapshots, clones and quotas of a volume that is killed, and what must be left of them."""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import stat
import time

from crash_volume import CommandFailed
from crash_writers import FULL

MOST_SNAPSHOTS = 4
MOST_CLONES = 2
# The beginning of the names that a schedule gives.
SCHEDULED = "@GMT-"
PAUSE_SECONDS = 0.2
FREE_SECONDS = 300
# What a volume without snapshots may store in addition to the bytes of its files: parts of chunks that were overwritten.
SLACK = 1.1
SLACK_BYTES = 1 << 20


def digest_of(path):
    file = open(path, "rb")
    try:
        return hashlib.sha256(file.read()).hexdigest()
    finally:
        try:
            file.close()
        except OSError as e:
            # The close stores what others wrote, and the disk may be full.
            if e.errno not in FULL:
                raise


def tree_of(folder):
    """Returns inode number, mode, modification time and digest of the bytes of all that lies below a folder, by path."""
    found = {}
    pending = [""]
    while pending:
        path = pending.pop()
        for entry in os.scandir(folder / path):
            status = entry.stat(follow_symlinks=False)
            name = os.path.join(path, entry.name)
            digest = ""
            if stat.S_ISDIR(status.st_mode):
                pending.append(name)
            else:
                digest = digest_of(entry.path)
            found[name] = status.st_ino, status.st_mode, status.st_mtime_ns, digest
    return found


def content_of(tree, below=""):
    """Returns mode and digest of what lies below a folder of a tree: what a clone of the folder has."""
    return {path[len(below):]: (mode, digest) for path, (_, mode, _, digest) in tree.items() if path.startswith(below)}


# A file in a snapshot has its own inode number with the number of the snapshot in the bits above these.
INODE_BITS = 42


def changes_of(before, now):
    """
    Returns the changes from one tree to another as a comparison of snapshots tells them: those that it must tell, and those
    that it may tell, because a file has other attributes, or was overwritten with the same bytes.
    """
    numbers = [{inode % (1 << INODE_BITS): path for path, (inode, *_) in tree.items()} for tree in (before, now)]
    must, may = set(), set()
    for inode in numbers[0].keys() | numbers[1].keys():
        old, new = (paths.get(inode) for paths in numbers)
        if old is None or new is None:
            must.add(("added", new, None) if old is None else ("deleted", old, None))
        elif old != new:
            must.add(("renamed", old, new))
        else:
            (may if before[old][3] == now[new][3] else must).add(("modified", old, None))
    for _, path, _ in [change for change in must if change[0] == "deleted" and ("added", change[1], None) in must]:
        must -= {("deleted", path, None), ("added", path, None)}
        must.add(("modified", path, None))
    return must, may


def differences(expected, found):
    return sorted(path for path in expected.keys() | found.keys() if expected.get(path) != found.get(path))[:5]


class Snapshots:
    """
    Makes, compares and deletes snapshots, clones folders of them, and sets quotas, until the daemon is killed. A snapshot of which
    the command has ended is durable, and so is a clone; neither ever changes. One whose command was killed is there as a whole,
    or not at all.
    """

    def __init__(self, volume, name, writers, result, may_be_full=lambda: False):
        """may_be_full: tells whether a command may fail for want of space"""
        self.may_be_full = may_be_full
        # Of the volume's schedule, which its rules delete.
        self.scheduled = {}
        self.volume = volume
        self.name = name
        self.writers = writers
        self.result = result
        # By name: the tree; None if nobody has read it yet.
        self.snapshots = {}
        self.clones = {}
        # Those whose command was begun and has not ended: they may be there.
        self.begun = {}
        self.removing = None
        # Those that a command uses now.
        self.in_use = set()
        self.next = 0

    @contextlib.contextmanager
    def borrowed(self, chance, *others):
        """A snapshot that was read, which is not deleted meanwhile, as the others are not; None if there is none."""
        read = sorted(name for name, tree in self.snapshots.copy().items() if tree)
        name = chance.choice(read) if read else None
        self.in_use = {name, *others}
        try:
            yield name if name in self.snapshots else None
        finally:
            self.in_use = set()

    def run(self, chance, this_round):
        while not this_round.is_ending():
            try:
                self.step(chance)
            except (OSError, CommandFailed) as e:
                # The kill ends a command.
                if not this_round.ending.wait(PAUSE_SECONDS) and not self.may_be_full():
                    self.result.found("other", f"snapshots: {e}")
            this_round.over.wait(PAUSE_SECONDS)

    def step(self, chance):
        kind = chance.random()
        read = [name for name, tree in self.snapshots.items() if tree]
        if not self.snapshots or kind < 0.3 and len(self.snapshots) < MOST_SNAPSHOTS:
            self.create()
        elif kind < 0.5 or len(self.snapshots) >= MOST_SNAPSHOTS:
            free = sorted(self.snapshots.keys() - self.in_use)
            if free:
                self.delete(chance.choice(free))
        elif kind < 0.7 and read and len(self.clones) < MOST_CLONES:
            self.clone(chance.choice(read), chance.choice(self.writers))
        elif kind < 0.8 and self.clones:
            self.remove(chance.choice(sorted(self.clones)))
        elif kind < 0.9 and len(read) > 1:
            self.diff(*chance.sample(read, 2))
        else:
            folder = self.volume.mount_point / chance.choice(self.writers)
            if folder.is_dir():
                self.command("quota", "set", f"--folder={folder}", f"--bytes={chance.randint(1, 9)}GB:10GB")

    def command(self, *words):
        self.result.command(words[0])
        status, text = self.volume.command("sdfscli", self.name, *words)
        if status:
            raise CommandFailed(f"sdfscli {' '.join(map(str, words))} ended with {status}: {text.strip()}")
        return text

    def new_name(self, kind):
        self.next += 1
        return f"{kind}{self.next}"

    def create(self):
        name = self.new_name("s")
        self.begun[name] = None
        self.command("snapshot", "create", name)
        del self.begun[name]
        self.snapshots[name] = None
        self.result.note(f"snapshot {name}")
        self.snapshots[name] = tree_of(self.folder(name))

    def folder(self, name):
        return self.volume.mount_point / ".snapshots" / name

    def delete(self, name):
        self.begun[name] = self.snapshots.pop(name)
        self.command("snapshot", "delete", name)
        del self.begun[name]

    def clone(self, name, writer):
        to = self.new_name("clone-")
        expected = content_of(self.snapshots[name], f"{writer}/")
        self.begun[to] = expected
        self.command("clone", self.folder(name) / writer, self.volume.mount_point / to)
        del self.begun[to]
        self.clones[to] = expected
        self.result.note(f"{to} of {writer} in {name}")

    def remove(self, name):
        self.removing = name
        del self.clones[name]
        shutil.rmtree(self.volume.mount_point / name)
        self.removing = None

    def diff(self, first, second):
        text = self.command("snapshot", "diff", first, second, "--json")
        told = {(change["change"], change["path"].strip("/"), change.get("newPath", "").strip("/") or None)
                for change in json.loads(text[text.index("{"):text.rindex("}") + 1])["changes"]}
        must, may = changes_of(self.snapshots[first], self.snapshots[second])
        if must - told or told - must - may - {("modified", "", None)}:
            self.result.found("wrong", f"the comparison of {first} and {second} does not tell {sorted(must - told)[:5]}, and "
                                       f"tells {sorted(told - must - may)[:5]}")

    def check(self):
        """After a crash: looks at all of them, and adopts those whose command was killed."""
        there = set(os.listdir(self.volume.mount_point / ".snapshots"))
        self.check_scheduled({name for name in there if name.startswith(SCHEDULED)})
        there = {name for name in there if not name.startswith(SCHEDULED)}
        for name in sorted(there - self.snapshots.keys() - self.begun.keys()):
            self.result.found("wrong", f"snapshot {name} is there, and was deleted")
        for name in sorted(self.snapshots.keys() - there):
            self.result.found("lost", f"snapshot {name} is gone")
            del self.snapshots[name]
        if self.removing:
            shutil.rmtree(self.volume.mount_point / self.removing, ignore_errors=True)
            self.removing = None
        for name, tree in self.begun.items():
            if name in there:
                self.snapshots[name] = tree
            elif (self.volume.mount_point / name).is_dir():
                self.clones[name] = tree
        self.begun = {}
        for name, tree in self.snapshots.items():
            self.snapshots[name] = self.compare(f"snapshot {name}", tree, tree_of(self.folder(name)))
        for name, tree in list(self.clones.items()):
            if (self.volume.mount_point / name).is_dir():
                self.compare(name, tree, content_of(tree_of(self.volume.mount_point / name)))
            else:
                self.result.found("lost", f"{name} is gone")
                del self.clones[name]

    def check_scheduled(self, there):
        """The volume's own schedule may delete a snapshot at any moment, but what is there has not changed."""
        found = {}
        for name in there:
            try:
                found[name] = self.compare(f"snapshot {name}", self.scheduled.get(name), tree_of(self.folder(name)))
            except FileNotFoundError:
                pass
            except OSError as e:
                if e.errno != errno.ESTALE:
                    raise
        self.scheduled = found

    def compare(self, what, expected, found):
        if expected is not None and expected != found:
            self.result.found("wrong", f"{what} has changed at {differences(expected, found)}")
        return found

    def spoil(self):
        """For controls: puts another snapshot in the place of one."""
        if not self.snapshots:
            self.create()
        name = min(self.snapshots)
        self.snapshots[name] = self.snapshots[name] or tree_of(self.folder(name))
        self.command("snapshot", "delete", name)
        (self.volume.mount_point / self.writers[0] / "more").mkdir()
        self.command("snapshot", "create", name)
        (self.volume.mount_point / self.writers[0] / "more").rmdir()

    def end(self):
        """Deletes all of them. Then the volume must store nothing but what its files have."""
        for name in list(self.clones):
            self.remove(name)
        self.snapshots = {}
        if os.listdir(self.volume.mount_point / ".snapshots"):
            self.command("snapshot", "delete", "%")
        figures = self.figures()
        for _ in range(FREE_SECONDS):
            if figures["snapshotsBeingFreed"] == 0:
                break
            time.sleep(1)
            figures = self.figures()
        self.command("gc", "--wait", "--leave=0")
        figures = self.figures()
        stored, files = figures["uniqueBytes"], figures["logicalBytes"]
        if figures["snapshots"] or figures["snapshotsBeingFreed"] or stored > SLACK * files + SLACK_BYTES:
            self.result.found("other", f"without snapshots the volume has {stored} bytes of chunks, {files} of files, "
                                       f"{figures['snapshots']} snapshots and {figures['snapshotsBeingFreed']} being freed")

    def figures(self):
        return json.loads(self.command("stats", "--json"))
