"""Executes file system calls in one folder, each as the named user, and reports the results.

A line of input is an op: the user, the umask, a call, its arguments. The answer consists of lines of a subject, a field and a value,
separated by tabs, and ends with a dot: the call's result, then every attribute in the folder that differs from its value after the
previous op. An answer does not depend on the file system's numbers or on the time, so that two file systems can be compared.
Usage: hand.py MOUNT_POINT FOLDER [reference]
"""
import ctypes
import errno
import fcntl
import mmap
import os
import random
import stat
import struct
import sys
import time
import urllib.parse
import zlib

AT_FDCWD, AT_SYMLINK_NOFOLLOW, AT_SYMLINK_FOLLOW, AT_EMPTY_PATH, AT_EACCESS = -100, 0x100, 0x400, 0x1000, 0x200
AT_STATX_FORCE_SYNC, STATX_ALL = 0x2000, 0xFFF
STATX = struct.Struct("<IIQIIIHHQQQQ" + "qIi" * 4 + "II")
MS_REMOUNT, MS_NOATIME, PR_SET_DUMPABLE = 32, 1024, 4
SECOND, DAY = 10**9, 86400 * 10**9
GROUPS = {0: [0], 1000: [1000, 2000], 1001: [1001, 2000]}
# Of longer files only parts are read: they are sparse.
WHOLE_BYTES, PART_BYTES, BLOCK = 8 << 20, 1 << 18, 4096
# What a slot without an open file stands for.
NO_FD = 1 << 20
READABLE = (os.O_RDONLY, os.O_RDWR)
ACL_TAGS = {"u:": 1, "u": 2, "g:": 4, "g": 8, "m:": 16, "o:": 32}

libc = ctypes.CDLL(None, use_errno=True)


def call(function, *arguments):
    result = getattr(libc, function)(*arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def int64(value):
    return ctypes.c_int64(value)


def statx(fd, path, flags):
    buffer = ctypes.create_string_buffer(256)
    call("statx", fd, path, flags, STATX_ALL, buffer)
    return STATX.unpack_from(buffer)


def nanoseconds(seconds, nanos):
    return seconds * SECOND + nanos


class Clock:
    """Distinguishes times of the current op from older ones. The kernel's clock of files advances in ticks, so an op waits for the next."""

    def __init__(self):
        self.begin = self.end = 0

    @staticmethod
    def coarse():
        return time.clock_gettime_ns(5)

    def start(self):
        self.begin = self.coarse()
        while self.begin <= self.end:
            time.sleep(0.0005)
            self.begin = self.coarse()

    def stop(self):
        self.end = time.clock_gettime_ns(time.CLOCK_REALTIME)

    def name(self, value):
        if abs(value - self.begin) > DAY:
            return str(value)
        return "now" if value >= self.begin else "then"


class Tree:
    """The contents of the folder, as root sees them."""

    def __init__(self, slots):
        self.slots = slots

    def look(self, force):
        """All attributes: those of subjects, by field."""
        inodes, found = {}, {}
        for path in self.paths():
            self.describe(found, inodes, name_of(path), AT_FDCWD, path, force)
        for slot, fd in sorted(self.slots.items()):
            self.describe(found, {}, "fd %d" % slot, fd, b"", force)
        return found

    def paths(self):
        found, waiting = [b"."], [b"."]
        while waiting:
            folder = waiting.pop()
            with os.scandir(folder) as entries:
                for entry in entries:
                    found.append(entry.path)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        return sorted(found)

    @staticmethod
    def describe(found, inodes, subject, fd, path, force):
        flags = AT_SYMLINK_NOFOLLOW | (AT_STATX_FORCE_SYNC if force else 0) | (0 if path else AT_EMPTY_PATH)
        (mask, _, _, links, uid, gid, mode, _, inode, size, blocks, _, *times, major, minor) = statx(fd, path, flags)
        fields = {
            "type": oct(stat.S_IFMT(mode)),
            "mode": oct(stat.S_IMODE(mode)),
            "owner": "%d:%d" % (uid, gid),
            "links": links,
            "directory size" if stat.S_ISDIR(mode) else "size": size,
            "device": "%d:%d" % (major, minor),
            "mask": hex(mask & STATX_ALL),
        }
        for index, name in enumerate(("atime", "btime", "ctime", "mtime")):
            fields[name] = nanoseconds(*times[3 * index : 3 * index + 2])
        if path:
            first = inodes.setdefault(inode, subject)
            if first != subject:
                fields["same as"] = first
            if stat.S_ISLNK(mode):
                fields["target"] = name_of(os.readlink(path))
            for name in os.listxattr(path, follow_symlinks=False):
                fields["x " + name] = os.getxattr(path, name, follow_symlinks=False).hex()
        found[subject] = fields
        # Not of the attributes: what it is that has them. The number of an inode may be used again.
        fields[""] = (inode, fields["btime"])


def content(path):
    """The bytes of a file, and whether some are not zero; of a long one only its ends."""
    fd = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(fd).st_size
        if size <= WHOLE_BYTES:
            return b"".join(iter(lambda: os.read(fd, 1 << 20), b""))
        return os.pread(fd, PART_BYTES, 0) + os.pread(fd, PART_BYTES, size - PART_BYTES)
    finally:
        os.close(fd)


def described(data):
    return "%d bytes, %08x" % (len(data), zlib.crc32(data))


def pattern(number, length):
    """Bytes without a zero, or zeros only."""
    if number == 0:
        return bytes(length)
    return random.Random(number).randbytes(length).replace(b"\0", b"\1")


def access_list(text):
    """An access list as the kernel takes it, from entries such as u:1000:6; with it also what is none."""
    if text.startswith("hex:"):
        return bytes.fromhex(text[4:])
    value = struct.pack("<I", 2)
    for entry in filter(None, text.split(",")):
        kind, who, permissions = entry.split(":")
        tag = ACL_TAGS[kind if who else kind + ":"]
        value += struct.pack("<HHI", tag, int(permissions), int(who) if who else 0xFFFFFFFF)
    return value


class Calls:
    """The calls by their names. What one returns is its result."""

    def __init__(self, mount_point):
        self.mount_point = mount_point
        self.slots = {}

    def fd(self, slot):
        return self.slots.get(int(slot), NO_FD)

    @staticmethod
    def flags(text, prefix="O_"):
        names = [name for name in text.split("|") if name != "0"]
        return sum(getattr(os, prefix + name) for name in names)

    def open(self, slot, path, flags, mode):
        self.close(slot)
        self.slots[int(slot)] = os.open(path_of(path), self.flags(flags) | os.O_NONBLOCK, int(mode, 8))

    def close(self, slot):
        if int(slot) in self.slots:
            os.close(self.slots.pop(int(slot)))

    def read(self, slot, length):
        return self.unless_fifo(slot, lambda fd: described(os.read(fd, int(length))))

    def pread(self, slot, offset, length):
        return self.unless_fifo(slot, lambda fd: described(os.pread(fd, int(length), int(offset))))

    def write(self, slot, number, length):
        return self.unless_fifo(slot, lambda fd: os.write(fd, pattern(int(number), int(length))))

    def pwrite(self, slot, offset, number, length):
        return self.unless_fifo(slot, lambda fd: os.pwrite(fd, pattern(int(number), int(length)), int(offset)))

    def direct(self, path, block, number, blocks):
        """Writes past the page cache, which takes whole blocks from a page's border."""
        fd = os.open(path_of(path), os.O_WRONLY | os.O_DIRECT | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return "left out"
            with mmap.mmap(-1, int(blocks) * BLOCK) as memory:
                memory.write(pattern(int(number), int(blocks) * BLOCK))
                return os.pwrite(fd, memory, int(block) * BLOCK)
        finally:
            os.close(fd)

    def map(self, slot, offset, number, length):
        """Writes through a shared mapping, within the file."""
        fd = self.fd(slot)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return "left out"
        room = min(os.fstat(fd).st_size, WHOLE_BYTES) - int(offset)
        if room <= 0:
            return "left out"
        with mmap.mmap(fd, int(offset) + room) as memory:
            data = pattern(int(number), min(room, int(length)))
            memory[int(offset) : int(offset) + len(data)] = data
            memory.flush()
        return len(data)

    def unless_fifo(self, slot, action):
        """The kernel does not tell a FUSE file system that a fifo was written to, so its times differ for ever."""
        fd = self.fd(slot)
        if stat.S_ISFIFO(os.fstat(fd).st_mode):
            return "left out"
        return action(fd)

    def lseek(self, slot, offset, whence):
        return os.lseek(self.fd(slot), int(offset), int(whence))

    def seekdata(self, slot, offset):
        """Checks only that no byte but zeros is skipped: zeros may be a hole, or not."""
        fd, at = self.fd(slot), int(offset)
        if not self.has_bytes(fd):
            return "left out"
        size = os.fstat(fd).st_size
        try:
            found = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as e:
            if e.errno != errno.ENXIO or not 0 <= at < size:
                raise
            found = size
        os.lseek(fd, 0, os.SEEK_SET)
        return "no data skipped" if not any(self.bytes_of(fd, at, found)) else "data skipped before %d" % found

    def seekhole(self, slot, offset):
        fd, at = self.fd(slot), int(offset)
        if not self.has_bytes(fd):
            return "left out"
        found = os.lseek(fd, at, os.SEEK_HOLE)
        os.lseek(fd, 0, os.SEEK_SET)
        return "a hole" if not any(self.bytes_of(fd, found, found + 1)) else "data at the hole at %d" % found

    @staticmethod
    def has_bytes(fd):
        return stat.S_ISREG(os.fstat(fd).st_mode) and fcntl.fcntl(fd, fcntl.F_GETFL) & (os.O_PATH | os.O_ACCMODE) in READABLE

    @staticmethod
    def bytes_of(fd, start, end):
        return os.pread(fd, max(0, min(end - start, WHOLE_BYTES)), start)

    def truncate(self, path, size):
        os.truncate(path_of(path), int(size))

    def ftruncate(self, slot, size):
        os.ftruncate(self.fd(slot), int(size))

    def fallocate(self, slot, mode, offset, length):
        call("fallocate", self.fd(slot), int(mode), int64(int(offset)), int64(int(length)))

    def copy(self, source, at, target, to, length):
        copied, left = 0, int(length)
        while left > 0:
            step = os.copy_file_range(self.fd(source), self.fd(target), left, int(at) + copied, int(to) + copied)
            if step == 0:
                break
            copied, left = copied + step, left - step
        return copied

    def fsync(self, slot):
        os.fsync(self.fd(slot))

    def mkdir(self, path, mode):
        os.mkdir(path_of(path), int(mode, 8))

    def rmdir(self, path):
        os.rmdir(path_of(path))

    def unlink(self, path):
        os.unlink(path_of(path))

    def mknod(self, path, kind, mode, major, minor):
        os.mknod(path_of(path), getattr(stat, kind) | int(mode, 8), os.makedev(int(major), int(minor)))

    def symlink(self, target, path):
        os.symlink(path_of(target), path_of(path))

    def readlink(self, path):
        return name_of(os.readlink(path_of(path)))

    def link(self, path, new, follow):
        call("linkat", AT_FDCWD, path_of(path), AT_FDCWD, path_of(new), AT_SYMLINK_FOLLOW if follow == "follow" else 0)

    def linkfd(self, slot, new):
        call("linkat", AT_FDCWD, b"/proc/self/fd/%d" % self.fd(slot), AT_FDCWD, path_of(new), AT_SYMLINK_FOLLOW)

    def rename(self, path, new, flags):
        call("renameat2", AT_FDCWD, path_of(path), AT_FDCWD, path_of(new), int(flags))

    def chmod(self, path, mode):
        os.chmod(path_of(path), int(mode, 8))

    def fchmod(self, slot, mode):
        os.fchmod(self.fd(slot), int(mode, 8))

    def chown(self, path, uid, gid):
        os.chown(path_of(path), int(uid), int(gid))

    def lchown(self, path, uid, gid):
        os.lchown(path_of(path), int(uid), int(gid))

    def fchown(self, slot, uid, gid):
        os.fchown(self.fd(slot), int(uid), int(gid))

    def utimes(self, path, accessed, modified, follow):
        flags = 0 if follow == "follow" else AT_SYMLINK_NOFOLLOW
        call("utimensat", AT_FDCWD, path_of(path), times_of(accessed, modified), flags)

    def futimes(self, slot, accessed, modified):
        call("futimens", self.fd(slot), times_of(accessed, modified))

    def setxattr(self, path, name, value, flags, follow):
        os.setxattr(path_of(path), name, attribute_of(name, value), int(flags), follow_symlinks=follow == "follow")

    def fsetxattr(self, slot, name, value, flags):
        os.setxattr(self.fd(slot), name, attribute_of(name, value), int(flags))

    def getxattr(self, path, name, follow):
        return os.getxattr(path_of(path), name, follow_symlinks=follow == "follow").hex()

    def getxattrroom(self, path, name, room):
        return call("getxattr", path_of(path), name.encode(), ctypes.create_string_buffer(65536), ctypes.c_size_t(int(room)))

    def listxattr(self, path, follow):
        return " ".join(sorted(os.listxattr(path_of(path), follow_symlinks=follow == "follow")))

    def removexattr(self, path, name, follow):
        os.removexattr(path_of(path), name, follow_symlinks=follow == "follow")

    def access(self, path, mode, effective):
        call("faccessat", AT_FDCWD, path_of(path), int(mode), AT_EACCESS if effective == "effective" else 0)

    def stat(self, path, follow):
        mode = os.stat(path_of(path), follow_symlinks=follow == "follow").st_mode
        return oct(mode)

    def list(self, path):
        with os.scandir(path_of(path)) as entries:
            kinds = [(entry.name, oct(stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode))) for entry in entries]
        return " ".join(name_of(name) + " " + kind for name, kind in sorted(kinds))

    def forget(self):
        """Mounts again with the options it has, which drops what the kernel has cached of names and idle inodes."""
        call("mount", b"none", os.fsencode(self.mount_point), None, MS_REMOUNT | MS_NOATIME, None)

    def look(self):
        """Does only what follows every call."""


def path_of(text):
    return urllib.parse.unquote_to_bytes(text)


def name_of(path):
    return urllib.parse.quote_from_bytes(path)


def attribute_of(name, text):
    return access_list(text) if name.startswith("system.posix_acl") else bytes.fromhex(text)


def times_of(*values):
    """UTIME_NOW, UTIME_OMIT, or seconds with nanoseconds after a dot."""
    array = (ctypes.c_int64 * 4)()
    for index, value in enumerate(values):
        named = {"now": (0, (1 << 30) - 1), "omit": (0, (1 << 30) - 2)}.get(value)
        seconds, nanos = named or value.split(".")
        array[2 * index], array[2 * index + 1] = int(seconds), int(nanos)
    return array


class Hand:
    def __init__(self, mount_point, reference):
        self.reference = reference
        self.calls = Calls(mount_point)
        self.clock = Clock()
        self.tree = Tree(self.calls.slots)
        self.known = {}
        self.clock.stop()

    def perform(self, line):
        user, umask, name, *arguments = line.split(" ")
        if name == "all":
            return self.everything()
        self.clock.start()
        kept = self.time_kept(arguments) if self.reference and name == "truncate" else None
        result = self.as_user(int(user), int(umask, 8), getattr(self.calls, name), arguments)
        if kept and result == "ok":
            os.utime(path_of(arguments[0]), ns=kept)
        if self.reference and name.endswith("chown") and arguments[1:] == ["-1", "-1"] and result == "EPERM":
            self.drop_capability(name, arguments[0])
        answer = [("result", "", result)]
        # Both the kernel's cached attributes and those of the file system must be right.
        for force in (False, True):
            answer += self.changes(force)
        self.clock.stop()
        return answer

    def drop_capability(self, name, target):
        """The kernel has done so before it asks a FUSE service, which refuses (KnownDifference)."""
        try:
            inode = self.calls.fd(target) if name == "fchown" else path_of(target)
            os.removexattr(inode, "security.capability")
        except OSError as e:
            if e.errno != errno.ENODATA:
                raise

    @staticmethod
    def time_kept(arguments):
        """ext4 sets the times in truncate(2) to the present size, other file systems do not (KnownDifference.SAME_SIZE)."""
        path, size = arguments
        try:
            status = os.stat(path_of(path))
            return (status.st_atime_ns, status.st_mtime_ns) if status.st_size == int(size) else None
        except OSError:
            return None

    @staticmethod
    def as_user(user, umask, function, arguments):
        os.umask(umask)
        if user != 0:
            os.setgroups(GROUPS[user])
            os.setresgid(user, user, 0)
            os.setresuid(user, user, 0)
            # Otherwise a user could not pass /proc/self/fd.
            libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        try:
            result = function(*arguments)
            return "ok" if result is None else str(result)
        except OSError as e:
            return errno.errorcode[e.errno]
        finally:
            if user != 0:
                os.setresuid(0, 0, 0)
                os.setresgid(0, 0, 0)
                os.setgroups(GROUPS[0])

    def changes(self, force):
        found = self.tree.look(force)
        for subject in sorted(self.known.keys() | found.keys()):
            before, after = self.known.get(subject, {}), found.get(subject)
            if after is None:
                yield subject, "", "gone"
                continue
            if before.get("") != after[""]:
                yield subject, "", "another"
                before = {}
            for field in sorted(before.keys() | after.keys()):
                if field and not self.is_same(field, before.get(field), after.get(field)):
                    value = after.get(field, "gone")
                    yield subject, field, self.clock.name(value) if field.endswith("time") else value
        self.known = found

    def is_same(self, field, before, after):
        """A time that an earlier call set may move a little (KnownDifference.TIME_SET_TWICE)."""
        if before == after:
            return True
        return field.endswith("time") and before is not None and abs(after - before) < SECOND and self.clock.name(after) == "then"

    def everything(self):
        """All contents, with exact times and the bytes of files. Data in the kernel's write-back cache has no blocks yet."""
        fd = os.open(".", os.O_RDONLY)
        call("syncfs", fd)
        os.close(fd)
        for subject, fields in self.tree.look(True).items():
            for field, value in fields.items():
                if field:
                    yield subject, field, value
        for path in self.tree.paths():
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode):
                subject = name_of(path)
                data = content(path)
                yield subject, "content", described(data)
                # Holes and zeros need no space; other bytes do.
                if any(data):
                    yield subject, "space", "some" if status.st_blocks else "none"


def main():
    mount_point, folder, *reference = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    hand = Hand(mount_point, reference)
    for line in sys.stdin:
        for subject, field, value in hand.perform(line.strip()):
            print(subject, field, value, sep="\t")
        print(".", flush=True)


main()
