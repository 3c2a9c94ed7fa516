"""Shared by scripts/crash-loop: programs that change files of a volume, and know what must be there after a crash."""

import errno
import os

from crash_model import BLOCK, File, Folder, file_of, seeded

# Files of one group have the same content, so that chunks have several references.
GROUPS = 12
GROUP_BLOCKS = 48


# What a full disk, or a quota, answers.
FULL = errno.ENOSPC, errno.EDQUOT
PAUSE_SECONDS = 0.2


class Writer:
    """Changes the files of its own folder until the daemon is killed, and reads them meanwhile."""

    FILES = 24
    BLOCKS = 64
    # Of new files, those that are synced at once.
    SYNCED = 1

    def __init__(self, number, mount_point, result, control, seed, may_be_full=lambda: False):
        """may_be_full: tells whether a change may be refused for want of space"""
        self.folder = Folder(mount_point / f"writer-{number}")
        self.result = result
        self.control = control
        self.seed = seed
        self.number = number
        self.may_be_full = may_be_full
        self.next_file = (number + 1) << 20
        self.next_name = 0
        self.made = False

    def run(self, round_number, this_round):
        chance = seeded(self.seed, round_number, self.number)
        try:
            while not this_round.over.is_set():
                try:
                    if not self.made:
                        os.makedirs(self.folder.path, exist_ok=True)
                        self.sync(self.folder.path.parent)
                        self.made = True
                    self.step(chance)
                except OSError as e:
                    if e.errno not in FULL or not self.may_be_full():
                        raise
                    this_round.over.wait(PAUSE_SECONDS)
        except OSError as e:
            if not this_round.ending.is_set():
                self.result.found("other", f"{self.folder.path.name}: {e}")

    def step(self, chance):
        names = self.folder.names()
        own = [name for name, file in names.items() if file.file >= GROUPS]
        if names and chance.random() < 0.1:
            self.look(chance.choice(sorted(names)))
        kind = chance.random()
        if len(names) < 4 or kind < 0.25 and len(names) < self.FILES:
            self.create(chance)
        elif kind < 0.35:
            self.create_of_group(chance)
        elif kind < 0.75 and own:
            self.overwrite(chance, chance.choice(own))
        elif kind < 0.85:
            self.rename(chance, names)
        elif kind < 0.9 or len(names) >= self.FILES:
            self.remove(chance.choice(sorted(names)))
        else:
            self.sync_folder()

    def new_name(self):
        self.next_name += 1
        return f"f{self.next_name:06d}"

    def new_file(self):
        self.next_file += 1
        return File(self.next_file - 1)

    def create(self, chance):
        file = self.new_file()
        self.fill(file, file.write(0, chance.randint(1, self.BLOCKS)), chance.random() < self.SYNCED)

    def create_of_group(self, chance):
        file = File(chance.randrange(GROUPS))
        self.fill(file, file.write(0, GROUP_BLOCKS))

    def fill(self, file, content, sync=True):
        name = self.new_name()
        self.change({name: file}, lambda: os.close(os.open(self.folder.path / name, os.O_CREAT | os.O_EXCL, 0o644)))
        self.written(name, file, [(0, content)], sync)

    def change(self, names, act):
        """Changes names; a change that is refused has not happened."""
        self.folder.change(**names)
        try:
            act()
        except OSError as e:
            if e.errno in FULL:
                self.folder.states.pop()
            raise

    def overwrite(self, chance, name, truncate=0.1):
        file = self.folder.names()[name]
        writes = []
        for _ in range(chance.randint(1, 5)):
            first = chance.randint(0, min(len(file.blocks), self.BLOCKS - 1))
            count = chance.randint(1, min(16, self.BLOCKS - first))
            writes.append((first, file.write(first, count)))
        truncated = None
        if chance.random() < truncate:
            truncated = chance.randint(0, file.length())
            file.truncate(truncated)
        self.written(name, file, writes, sync=chance.random() < 0.6, truncated=truncated)

    def written(self, name, file, writes, sync, truncated=None):
        try:
            self.write(name, file, writes, sync, truncated)
        except OSError:
            file.failed()
            raise

    def write(self, name, file, writes, sync, truncated):
        fd = os.open(self.folder.path / name, os.O_RDWR)
        try:
            for first, content in writes:
                at = 0
                while at < len(content):
                    at += os.pwrite(fd, content[at:], first * BLOCK + at)
            if truncated is not None:
                os.ftruncate(fd, truncated * BLOCK)
            if sync:
                if self.control != "unsynced":
                    os.fsync(fd)
                # A file that was made durable has its name, and a commit takes all names of one moment.
                self.acknowledge(f"fsync {self.folder.path.name}/{name} file {file.file:x} version {file.version}",
                                 file.synced(), self.folder.synced())
        finally:
            os.close(fd)

    def rename(self, chance, names):
        source = chance.choice(sorted(names))
        target = chance.choice(sorted(names)) if chance.random() < 0.5 else self.new_name()
        if source != target:
            self.change({source: None, target: names[source]},
                        lambda: os.rename(self.folder.path / source, self.folder.path / target))

    def remove(self, name):
        self.change({name: None}, lambda: os.unlink(self.folder.path / name))

    def look(self, name):
        """Reads a file as it is now, past the kernel's cache."""
        with open(self.folder.path / name, "rb", buffering=0) as stream:
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            content = stream.readall()
        for text in self.folder.names()[name].shown(content):
            self.result.found("wrong", f"{self.folder.path.name}/{name} is read while it is used: {text}")

    def sync_folder(self):
        self.sync(self.folder.path)
        self.acknowledge(f"fsync {self.folder.path.name}", 0, self.folder.synced())

    def sync(self, path):
        if self.control != "unsynced":
            fd = os.open(path, os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def acknowledge(self, text, blocks, names):
        self.result.acknowledge(blocks, names)
        self.result.note(f"ACKNOWLEDGED {text}: {blocks} blocks, {names} changes of names")

    def unmounted(self):
        """Records that the volume was unmounted in order: everything is durable."""
        for file in self.folder.names().values():
            file.synced()
        self.folder.synced()

    def check(self):
        """Compares the folder with what may be there. Returns the number of bytes read."""
        try:
            names = os.listdir(self.folder.path)
        except FileNotFoundError:
            if self.made:
                self.result.found("lost", f"{self.folder.path.name} is missing")
                self.made = False
                self.folder = Folder(self.folder.path)
            return 0
        self.made = True
        contents = {name: self.read(name) for name in names}
        for kind, text in self.folder.check({name: file_of(content) for name, content in contents.items()}):
            self.result.found(kind, f"{self.folder.path.name}: {text}")
        for name, file in self.folder.names().items():
            for kind, text in file.check(contents[name]):
                self.result.found(kind, f"{self.folder.path.name}/{name}: {text}")
        return sum(map(len, contents.values()))

    def read(self, name):
        try:
            return (self.folder.path / name).read_bytes()
        except OSError as e:
            self.result.found("lost", f"{self.folder.path.name}/{name}: {e}")
            return b""


class SmallFiles(Writer):
    """Makes and removes many small files, as mail or a build does."""

    FILES = 150
    BLOCKS = 2
    SYNCED = 0.2

    def step(self, chance):
        names = sorted(self.folder.names())
        if len(names) < self.FILES and chance.random() < 0.6 or not names:
            self.create(chance)
        elif chance.random() < 0.2:
            self.look(chance.choice(names))
        else:
            self.remove(chance.choice(names))


class VirtualMachine(Writer):
    """Overwrites blocks of one large file, as a virtual machine those of its disk."""

    BLOCKS = 1024

    def step(self, chance):
        names = sorted(self.folder.names())
        if not names:
            file = self.new_file()
            self.fill(file, file.write(0, self.BLOCKS))
        elif chance.random() < 0.05:
            self.look(names[0])
        else:
            self.overwrite(chance, names[0], truncate=0)


class Backups(Writer):
    """Writes something that changes little again and again, each time as a whole in a new file, and keeps the newest of them."""

    FILES = 3
    BLOCKS = 512

    def step(self, chance):
        names = sorted(self.folder.names())
        if len(names) >= self.FILES:
            self.remove(names[0])
            return
        if names:
            self.look(chance.choice(names))
        file = self.folder.names()[names[-1]].copy() if names else self.new_file()
        if not names:
            file.write(0, self.BLOCKS)
        for _ in range(chance.randint(1, 5)):
            file.write(chance.randrange(self.BLOCKS - 8), chance.randint(1, 8))
        self.fill(file, file.content())
