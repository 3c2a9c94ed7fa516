"""Shared by scripts/crash-loop: file contents that name themselves, and what a folder may contain after a crash."""

import random
import zlib

BLOCK = 4096
LINE = 32
ABSENT = 0


def block_bytes(file, block, version):
    """Returns one block. Each line of 32 bytes names its file, its place and its version, and ends with a checksum."""
    if version == ABSENT:
        return bytes(BLOCK)
    lines = []
    for line in range(block * BLOCK // LINE, (block + 1) * BLOCK // LINE):
        head = f"{file:08x} {line:08x} {version:06x}"
        lines.append(f"{head} {zlib.crc32(head.encode()) >> 8:06x}\n")
    return "".join(lines).encode()


def file_of(content):
    """Returns the file that the first whole line of the content names, or None if none does: it has no bytes yet."""
    for at in range(0, len(content), LINE):
        head, _, checksum = content[at:at + LINE].rpartition(b" ")
        if checksum.strip() == b"%06x" % (zlib.crc32(head) >> 8):
            return int(head[:8], 16)
    return None


class File:
    """What one file may contain: for each block the versions that a crash may leave, the newest last."""

    def __init__(self, file):
        self.file = file
        self.blocks = []
        self.version = 0
        # Blocks of which a write was refused after the kernel had taken it: a later fsync does not make them durable.
        self.doubtful = set()

    def write(self, first, count):
        """Records a write that is about to be made; returns its bytes."""
        self.version += 1
        while len(self.blocks) < first + count:
            self.blocks.append([ABSENT])
        self.doubtful.difference_update(range(first, first + count))
        for block in range(first, first + count):
            self.blocks[block].append(self.version)
        return b"".join(block_bytes(self.file, block, self.version) for block in range(first, first + count))

    def copy(self):
        """Returns what a new file with the same bytes may contain."""
        copy = File(self.file)
        copy.version = self.version
        copy.blocks = [[ABSENT, versions[-1]] for versions in self.blocks]
        return copy

    def content(self):
        """The bytes that were written last."""
        return b"".join(block_bytes(self.file, block, versions[-1]) for block, versions in enumerate(self.blocks))

    def failed(self):
        """Records that a write or an fsync was refused."""
        self.doubtful.update(block for block, versions in enumerate(self.blocks) if len(versions) > 1)

    def truncate(self, blocks):
        for versions in self.blocks[blocks:]:
            versions.append(ABSENT)

    def synced(self):
        """Records that fsync has returned. Returns the number of blocks that it made durable."""
        fresh = 0
        for block, versions in enumerate(self.blocks):
            if len(versions) > 1 and block not in self.doubtful:
                self.blocks[block] = versions[-1:]
                fresh += 1
        return fresh

    def length(self):
        """Returns the number of blocks up to the last that has bytes."""
        return max((i + 1 for i, versions in enumerate(self.blocks) if versions[-1] != ABSENT), default=0)

    def shown(self, found):
        """Compares the file's bytes as a program reads them after its own writes. Yields what is wrong."""
        for block, versions in enumerate(self.blocks):
            here = found[block * BLOCK:(block + 1) * BLOCK].ljust(BLOCK, b"\0")
            if block not in self.doubtful and here != block_bytes(self.file, block, versions[-1]):
                yield f"block {block} is not of version {versions[-1]}: {here[:LINE]!r}"

    def check(self, found):
        """Compares the file's bytes after a crash. Yields (kind, text) for what is lost or wrong, and adopts what is there."""
        if len(found) > len(self.blocks) * BLOCK:
            yield "wrong", f"{len(found)} bytes, but only {len(self.blocks) * BLOCK} were ever written"
        for block, versions in enumerate(self.blocks):
            bytes_here = found[block * BLOCK:(block + 1) * BLOCK].ljust(BLOCK, b"\0")
            seen = next((v for v in reversed(versions) if bytes_here == block_bytes(self.file, block, v)), None)
            if seen is None:
                seen = yield from self._check_lines(block, versions, bytes_here)
            if seen is None:
                self.doubtful.add(block)
            else:
                # A mount shows what is durable: the next crash must not take it back.
                self.blocks[block] = [seen]
                self.doubtful.discard(block)

    def _check_lines(self, block, versions, found):
        """Compares a block in which writes that were not acknowledged may be mixed."""
        old = next((v for v in range(self.version, -1, -1) if found == block_bytes(self.file, block, v)), None)
        if old is not None:
            yield "lost", f"block {block} has version {old}, expected one of {versions}"
            return old
        candidates = [block_bytes(self.file, block, v) for v in versions]
        for at in range(0, BLOCK, LINE):
            line = found[at:at + LINE]
            if not any(line == candidate[at:at + LINE] for candidate in candidates):
                yield "wrong", f"byte {block * BLOCK + at} is {line!r}, expected one of the versions {versions}"
                return versions[-1]
        return None


class Folder:
    """What one folder may contain: the states of its names since the last sync, the newest last. Each maps a name to a File."""

    def __init__(self, path):
        self.path = path
        self.states = [{}]

    def names(self):
        return self.states[-1]

    def change(self, **changes):
        """Records a change of names that is about to be made: a name's file, or None if it is removed."""
        state = dict(self.states[-1])
        for name, file in changes.items():
            if file is None:
                state.pop(name, None)
            else:
                state[name] = file
        self.states.append(state)

    def synced(self):
        """Records that all changes of names are durable. Returns their number."""
        fresh = len(self.states) - 1
        self.states = self.states[-1:]
        return fresh

    def check(self, found):
        """
        Compares the names and the file that each shows (see file_of) after a crash: they must be those of one moment since
        the last sync. Yields (kind, text) if they are not, and adopts the nearest moment, the newest of several.
        """
        nearest = min(reversed(self.states), key=lambda state: len(self._differences(state, found)))
        differences = self._differences(nearest, found)
        if differences:
            yield "lost", f"the names are those of no moment since the last sync; the nearest has other files at {differences}"
        self.states = [{name: file for name, file in nearest.items() if name in found}]

    @staticmethod
    def _differences(state, found):
        """Returns the names that only one side has, or that show another file. A file without bytes may be any."""
        return sorted(name for name in state.keys() | found.keys()
                      if name not in state or name not in found or found[name] not in (None, state[name].file))


def seeded(seed, *parts):
    return random.Random(":".join(map(str, (seed, *parts))))
