package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.sdfs.fuse.Shell;

/** Real mounts whose files the kernel reads and writes itself in backing files. */
@Timeout(120)
class PassthroughMountTest {
    private static final String IMPORTS = """
            import ctypes, fcntl, mmap, os, sys, time
            backing = sys.argv[1]
            def same(name, what):
                a, b = os.stat(name), os.stat(backing + '/' + str(os.stat(name).st_ino))
                if (a.st_size, a.st_mtime_ns) != (b.st_size, b.st_mtime_ns):
                    sys.exit('%s: %s, of the backing file %s' % (what, a, b))
            def holds(name, expected, what):
                found = open(name, 'rb').read()
                if found != expected:
                    sys.exit('%s: %r' % (what, found[:80]))
            """;

    private BackedFileSystem files;

    @BeforeEach
    void open() throws IOException {
        files = new BackedFileSystem();
    }

    @AfterEach
    void close() throws IOException {
        files.close();
    }

    private MountedToy mount() throws IOException, InterruptedException {
        return mount("passthrough");
    }

    private MountedToy mount(String options) throws IOException, InterruptedException {
        MountedToy toy = new MountedToy(files, options);
        if (!toy.mount.passthrough().isOn()) {
            String why = toy.mount.passthrough().toString();
            toy.close();
            assumeTrue(false, "skipped: passthrough is " + why);
        }
        return toy;
    }

    /** Runs a program in the mount point. */
    private void python(MountedToy toy, String program) throws IOException, InterruptedException {
        Path script = Files.createTempFile("sdfs-", ".py");
        try {
            Files.writeString(script, IMPORTS + program);
            assertEquals("", toy.shell("/usr/bin/env python3 " + script + " " + files.folder()));
        } finally {
            Files.delete(script);
        }
    }

    private static long inode(Path file) throws IOException {
        return (long) Files.getAttribute(file, "unix:ino");
    }

    /** Moves a file once the kernel has closed it: a close(2) does not wait for that. */
    private void move(long inode) throws Exception {
        awaitClosed(inode);
        files.move(inode);
    }

    private void awaitClosed(long inode) throws InterruptedException {
        while (files.isOpen(inode)) {
            Thread.sleep(5);
        }
    }

    @Test
    void bytesGoToTheBackingFileWithoutRequests() throws Exception {
        byte[] content = Shell.randomBytes(3_000_017);
        try (MountedToy toy = mount()) {
            Path file = toy.root.resolve("file");
            Files.write(file, content);
            assertArrayEquals(content, Files.readAllBytes(files.onlyBacking()));
            assertArrayEquals(content, Files.readAllBytes(file));
            assertEquals(content.length, Files.size(file));
            Files.write(file, content, StandardOpenOption.APPEND);
            assertEquals(2L * content.length, Files.size(file));
            assertEquals("", toy.shell("cp file copy; cat file | cmp - copy; chmod +x copy; mv copy moved"));
            assertEquals("0", toy.shell("cp $(type -P true) t; ./t; echo $?"));
            assertEquals(0, files.reads.get());
            assertEquals(0, files.writes.get());
        }
    }

    /** The control: without the option the same bytes come as requests. */
    @Test
    void withoutTheOptionTheyComeAsRequests() throws Exception {
        try (MountedToy toy = new MountedToy(files, "nopassthrough")) {
            assertFalse(toy.mount.passthrough().isOn());
            Files.write(toy.root.resolve("file"), new byte[100_000]);
            toy.dropKernelCaches();
            toy.shell("cat file > /dev/null");
            assertTrue(files.writes.get() > 0 && files.reads.get() > 0);
            assertEquals(100_000, Files.size(files.onlyBacking()));
        }
    }

    @Test
    void filesWithoutABackingFileAreServed() throws Exception {
        files.backsNewFiles = false;
        byte[] content = Shell.randomBytes(300_001);
        try (MountedToy toy = mount()) {
            Path file = toy.root.resolve("file");
            Files.write(file, content);
            assertEquals(content.length, Files.size(file));
            assertTrue(files.writes.get() > 0);
            toy.dropKernelCaches();
            assertArrayEquals(content, Files.readAllBytes(file));
            // Bytes written through a mapping change the modification time, which the kernel does not set here.
            python(toy, """
                    os.utime('file', (1, 1))
                    f = os.open('file', os.O_RDWR)
                    m = mmap.mmap(f, 0)
                    m[5:9] = b'abcd'
                    m.flush()
                    m.close()
                    os.close(f)
                    if os.stat('file').st_mtime == 1:
                        sys.exit('the time stays')
                    """);
        }
    }

    @Test
    void everyWayToReadAndWriteWorks() throws Exception {
        try (MountedToy toy = mount()) {
            python(toy, """
                    f = os.open('f', os.O_RDWR | os.O_CREAT)
                    os.write(f, b'a' * 5000)
                    g = os.open('f', os.O_WRONLY | os.O_APPEND)
                    os.write(g, b'bb')
                    os.ftruncate(f, 5001)
                    os.write(g, b'cc')
                    holds('f', b'a' * 5000 + b'bcc', 'append')
                    m = mmap.mmap(f, 5003)
                    if m[4999:5003] != b'abcc':
                        sys.exit('mapping %r' % m[4999:])
                    m[0:3] = b'map'
                    if os.pread(f, 4, 0) != b'mapa':
                        sys.exit('read does not see the mapping')
                    os.pwrite(f, b'PW', 1)
                    if m[0:4] != b'mPWa':
                        sys.exit('the mapping does not see a write')
                    private = mmap.mmap(f, 4096, flags=mmap.MAP_PRIVATE)
                    private[0:3] = b'xxx'
                    t = os.open('t', os.O_RDWR | os.O_CREAT)
                    if os.sendfile(t, f, 0, 5003) != 5003:
                        sys.exit('sendfile')
                    holds('t', b'mPW' + b'a' * 4997 + b'bcc', 'sendfile')
                    r, w = os.pipe()
                    os.write(w, b'piped')
                    if os.splice(r, t, 5, offset_dst=5003) != 5:
                        sys.exit('splice')
                    holds('t', b'mPW' + b'a' * 4997 + b'bccpiped', 'splice')
                    os.truncate('t', 2)
                    os.truncate('t', 8192)
                    holds('t', b'mP' + bytes(8190), 'truncate')
                    d = os.open('t', os.O_RDWR | os.O_DIRECT)
                    page = mmap.mmap(-1, 4096)
                    page[:] = b'd' * 4096
                    if os.pwritev(d, [page], 4096) != 4096:
                        sys.exit('direct write')
                    holds('t', b'mP' + bytes(4094) + b'd' * 4096, 'direct write')
                    if os.preadv(d, [page], 0) != 4096 or page[0:2] != b'mP':
                        sys.exit('direct read')
                    fcntl.flock(t, fcntl.LOCK_EX)
                    fcntl.lockf(d, fcntl.LOCK_EX)
                    try:
                        fcntl.flock(d, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        sys.exit('two hold the lock')
                    except BlockingIOError:
                        pass
                    os.close(os.open('t', os.O_WRONLY | os.O_TRUNC))
                    holds('t', b'', 'O_TRUNC')
                    os.rename('t', 'u')
                    os.unlink('u')
                    os.pwrite(t, b'unlinked', 0)
                    if os.pread(t, 8, 0) != b'unlinked':
                        sys.exit('unlinked')
                    n = os.open('.', os.O_RDWR | os.O_TMPFILE)
                    os.write(n, b'nameless')
                    ctypes.CDLL(None).linkat(-100, b'/proc/self/fd/%d' % n, -100, b'named', 0x400)
                    holds('named', b'nameless', 'O_TMPFILE')
                    """);
            assertEquals(0, files.reads.get());
            assertEquals(0, files.writes.get());
        }
    }

    @Test
    void requestsOnRangesReachTheOperations() throws Exception {
        try (MountedToy toy = mount()) {
            python(toy, """
                    f = os.open('f', os.O_RDWR | os.O_CREAT)
                    os.write(f, b'a' * 8192)
                    os.posix_fallocate(f, 0, 20000)
                    same('f', 'fallocate')
                    libc = ctypes.CDLL(None, use_errno=True)
                    long = ctypes.c_long
                    if libc.fallocate(f, 3, long(0), long(4096)) != 0:
                        sys.exit('punch')
                    holds('f', bytes(4096) + b'a' * 4096 + bytes(20000 - 8192), 'punch')
                    if os.lseek(f, 100, os.SEEK_DATA) != 100 or os.lseek(f, 0, os.SEEK_HOLE) != 20000:
                        sys.exit('seek')
                    g = os.open('g', os.O_RDWR | os.O_CREAT)
                    if os.copy_file_range(f, g, 4096, 4096, 10) != 4096:
                        sys.exit('copy')
                    same('g', 'copy')
                    holds('g', bytes(10) + b'a' * 4096, 'copy')
                    os.fsync(f)
                    os.fdatasync(f)
                    """);
            assertEquals(2, files.seeks.get());
            assertEquals(1, files.copies.get());
            assertEquals(2, files.stores.get());
        }
    }

    /** Between a file with and one without a backing file. */
    @Test
    void rangesAreCopiedBetweenBothKinds() throws Exception {
        try (MountedToy toy = mount()) {
            Files.write(toy.root.resolve("backed"), "abcdefgh".getBytes());
            files.backsNewFiles = false;
            Files.write(toy.root.resolve("served"), "01234567".getBytes());
            python(toy, """
                    b, s = os.open('backed', os.O_RDWR), os.open('served', os.O_RDWR)
                    holds('served', b'01234567', 'before')
                    os.copy_file_range(b, s, 2, 0, 0)
                    holds('served', b'ab234567', 'to the served one')
                    os.copy_file_range(s, b, 3, 4, 5)
                    holds('backed', b'abcde456', 'to the backed one')
                    os.sendfile(s, b, 0, 8)
                    holds('served', b'abcde456', 'sendfile to the served one')
                    os.sendfile(b, s, 0, 4)
                    """);
        }
    }

    @Test
    void attributesAreRightAfterEachKindOfWrite() throws Exception {
        try (MountedToy toy = mount()) {
            python(toy, """
                    open('f', 'wb').write(b'a' * 10000)
                    same('f', 'create')
                    def after(what, action):
                        # The old attributes are in the kernel's cache, and new times differ from them.
                        os.utime('f', (1, 1))
                        same('f', what + ': before')
                        f = os.open('f', os.O_RDWR)
                        same('f', what + ': open')
                        os.utime('f', (1, 1))
                        action(f)
                        same('f', what + ': written')
                        if os.fstat(f).st_mtime == 1:
                            sys.exit(what + ': the time stays')
                        os.close(f)
                        same('f', what + ': closed')
                    def mapped(f):
                        m = mmap.mmap(f, 0)
                        m[1:4] = b'map'
                        m.flush()
                        m.close()
                    def mapped_and_seen(f):
                        m = mmap.mmap(f, 0)
                        m[1:4] = b'map'
                        m.flush()
                        os.utime('f', (1, 1))
                        os.stat('f')
                        m[1:4] = b'MAP'
                        m.flush()
                    def appended(f):
                        g = os.open('f', os.O_WRONLY | os.O_APPEND)
                        os.write(g, b'more')
                        os.close(g)
                    def direct(f):
                        g = os.open('f', os.O_WRONLY | os.O_DIRECT)
                        page = mmap.mmap(-1, 4096)
                        os.pwritev(g, [page], 8192 * 2)
                    def sent(f):
                        g = os.open('/bin/sh', os.O_RDONLY)
                        os.sendfile(f, g, 0, 30000)
                    def write_only(f):
                        g = os.open('f', os.O_WRONLY)
                        same('f', 'opened for writing only')
                        os.pwrite(g, b'only', 0)
                        same('f', 'written only')
                        os.pwrite(g, b'only', 9999)
                    after('write only', write_only)
                    os.utime('f', (1, 1))
                    g = os.open('f', os.O_WRONLY)
                    os.stat('f')
                    os.pwrite(g, b'only', 0)
                    same('f', 'written only, not open otherwise')
                    os.stat('f')
                    os.ftruncate(g, 5000)
                    same('f', 'cut only, not open otherwise')
                    os.posix_fallocate(g, 0, 9999)
                    same('f', 'allocated only, not open otherwise')
                    os.close(g)
                    same('f', 'closed')
                    after('write', lambda f: os.pwrite(f, b'x', 1))
                    after('longer', lambda f: os.pwrite(f, b'x', 12000))
                    after('mapping', mapped)
                    after('mapping after a stat', mapped_and_seen)
                    after('append', appended)
                    after('direct', direct)
                    after('sendfile', sent)
                    after('ftruncate', lambda f: os.ftruncate(f, 5))
                    after('fallocate', lambda f: os.posix_fallocate(f, 0, 50000))
                    """);
        }
    }

    /** A mapping writes without any notice, even after its file was closed. */
    @Test
    void timesAreRightAfterAMappingOutlivedItsFile() throws Exception {
        try (MountedToy toy = mount()) {
            python(toy, """
                    f = os.open('f', os.O_RDWR | os.O_CREAT)
                    os.write(f, b'a' * 4096)
                    m = mmap.mmap(f, 4096)
                    # The module has a duplicate of the descriptor. Closing all of them leaves the mapping.
                    for d in os.listdir('/proc/self/fd'):
                        try:
                            if os.readlink('/proc/self/fd/' + d).endswith('/f'):
                                os.close(int(d))
                        except OSError:
                            pass
                    os.stat('f')
                    time.sleep(0.05)
                    m[0:1] = b'b'
                    m.flush()
                    limit = time.time() + 60
                    number = os.stat('f').st_ino
                    while os.stat('f').st_mtime_ns != os.stat(backing + '/' + str(number)).st_mtime_ns:
                        if time.time() > limit:
                            sys.exit('the old time stays')
                        time.sleep(0.05)
                    """);
        }
    }

    @Test
    void allOpeningsOfAFileShareItsBackingFile() throws Exception {
        try (MountedToy toy = mount()) {
            python(toy, """
                    all = [os.open('f', flags | os.O_CREAT) for flags in (os.O_RDWR, os.O_WRONLY, os.O_RDONLY) * 20]
                    for i, f in enumerate(all):
                        if i % 3 < 2:
                            os.pwrite(f, bytes([i]), i)
                    for f in all[::-1]:
                        os.close(f)
                        g = os.open('f', os.O_RDWR)
                        if len(os.pread(g, 100, 0)) != 59:
                            sys.exit('read')
                        os.close(g)
                    """);
        }
    }

    @Test
    void afterAMoveBothWaysTheBytesAreRight() throws Exception {
        files.backsNewFiles = false;
        try (MountedToy toy = mount()) {
            Path file = toy.root.resolve("f");
            Files.write(file, new byte[20_000]);
            long inode = inode(file);
            for (int round = 1; round <= 6; round++) {
                boolean backed = round % 2 == 0;
                // Each round leaves pages in the kernel's cache and reads ahead, then writes in all ways.
                python(toy, """
                        round = %d
                        holds('f', bytes([round - 1]) * 20000, 'read')
                        f = os.open('f', os.O_RDWR)
                        os.posix_fadvise(f, 0, 0, os.POSIX_FADV_WILLNEED)
                        m = mmap.mmap(f, 0)
                        if m[:] != bytes([round - 1]) * 20000:
                            sys.exit('mapping')
                        m[0:10000] = bytes([round]) * 10000
                        os.pwrite(f, bytes([round]) * 10000, 10000)
                        holds('f', bytes([round]) * 20000, 'written')
                        """.formatted(round));
                assertEquals(backed, Files.exists(files.backingOf(inode)));
                move(inode);
            }
        }
    }

    @Test
    void readAheadDoesNotFillTheOtherCache() throws Exception {
        try (MountedToy toy = mount()) {
            Path file = toy.root.resolve("f");
            Files.write(file, "first ".repeat(10_000).getBytes());
            python(toy, """
                    f = os.open('f', os.O_RDWR)
                    os.posix_fadvise(f, 0, 0, os.POSIX_FADV_WILLNEED)
                    # Reading ahead is not awaited. If it comes later, this test sees nothing.
                    time.sleep(0.2)
                    os.pwrite(f, b'second', 0)
                    """);
            move(inode(file));
            assertEquals(0, files.reads.get());
            assertEquals("secondfirst ", Files.readString(file).substring(0, 12));
        }
    }

    @Test
    void ifAFileCannotBeRegisteredItIsServedWhileItIsOpen() throws Exception {
        try (MountedToy toy = mount()) {
            Path file = toy.root.resolve("f");
            Files.write(file, "0123".getBytes());
            awaitClosed(inode(file));
            files.wrongDescriptor = 1 << 20;
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.wrap("ab".getBytes()));
                files.wrongDescriptor = -1;
                assertEquals(1, files.writes.get());
                Files.write(file, "ef".getBytes(), StandardOpenOption.APPEND);
                assertEquals(2, files.writes.get(), "all openings are served alike");
                assertEquals("ab23ef", Files.readString(file));
                assertEquals("ab23ef", Files.readString(files.onlyBacking()));
            }
            awaitClosed(inode(file));
            Files.write(file, "gh".getBytes(), StandardOpenOption.APPEND);
            assertEquals(2, files.writes.get());
            assertEquals("ab23efgh", Files.readString(file));
        }
    }

    @Test
    void manyProgramsOpenAndCloseTheSameFiles() throws Exception {
        try (MountedToy toy = mount()) {
            ExecutorService threads = Executors.newFixedThreadPool(8);
            try {
                List<Callable<Integer>> clients = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    int client = i;
                    clients.add(() -> writeMany(toy.root, client));
                }
                for (Future<Integer> result : threads.invokeAll(clients)) {
                    assertEquals(300, result.get());
                }
            } finally {
                threads.shutdownNow();
            }
            assertEquals(0, files.reads.get());
            assertEquals(0, files.writes.get());
        }
    }

    private static int writeMany(Path root, int client) throws IOException {
        int right = 0;
        for (int i = 0; i < 300; i++) {
            Path file = root.resolve(i % 2 == 0 ? "shared" : "own" + client);
            try (FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
                byte[] bytes = {(byte) client, (byte) i, (byte) (i >> 8)};
                channel.write(ByteBuffer.wrap(bytes), 4096L * client);
                ByteBuffer back = ByteBuffer.allocate(3);
                channel.read(back, 4096L * client);
                right += java.util.Arrays.equals(bytes, back.array()) ? 1 : 0;
            }
        }
        return right;
    }

    @Test
    void aFileOpenedForDurableWritesHasItsNameCommitted() throws Exception {
        try (MountedToy toy = mount()) {
            toy.shell("echo 1 > plain");
            assertEquals(0, files.commits.get());
            toy.shell("dd if=/dev/zero of=new oflag=dsync count=1 status=none");
            assertEquals(1, files.commits.get());
            toy.shell("dd if=/dev/zero of=plain oflag=sync conv=notrunc count=1 status=none");
            assertEquals(2, files.commits.get());
        }
    }

    /** msync(2) of a mapping makes the bytes durable in the backing file, and comes as no request. */
    @Test
    void aFileThatAMappingMayWriteHasItsNameCommitted() throws Exception {
        try (MountedToy toy = mount()) {
            python(toy, """
                    with open('mapped', 'w+b') as file:
                        file.truncate(4096)
                        mapping = mmap.mmap(file.fileno(), 4096)
                        mapping[:4] = b'text'
                        mapping.flush()
                    """);
            assertEquals(1, files.commits.get());
            assertEquals(0, files.stores.get());
            toy.shell("cat mapped; echo 1 > written; echo 2 >> written");
            assertEquals(1, files.commits.get(), "no mapping of a file opened so may write");
            toy.shell("exec 3<> mapped");
            assertEquals(2, files.commits.get());
            files.areNamesDurable = true;
            toy.shell("exec 3<> mapped");
            assertEquals(2, files.commits.get());
            python(toy, """
                    with open(os.open('.', os.O_TMPFILE | os.O_RDWR), 'r+b') as file:
                        os.link('/proc/self/fd/%d' % file.fileno(), 'linked', src_dir_fd=0, follow_symlinks=True)
                    """);
            assertEquals(3, files.commits.get(), "its first name");
        }
    }

    @Test
    void aMountWithDurableWritesHasNone() throws Exception {
        try (MountedToy toy = new MountedToy(files, "passthrough,sync")) {
            assertEquals(
                    "off (each write is to be durable)", toy.mount.passthrough().toString());
            Files.write(toy.root.resolve("f"), new byte[10]);
            assertTrue(files.writes.get() > 0);
        }
    }

    @Test
    void openingToReadIsARead() throws Exception {
        try (MountedToy toy = mount()) {
            toy.shell("echo 1 > f; echo 2 >> f");
            assertEquals(0, files.notedReads.get());
            toy.shell("cat f");
            assertEquals(1, files.notedReads.get());
            assertEquals(0, files.droppedCapabilities.get());
        }
    }

    @Test
    void withoutExtendedAttributesAnOpeningToWriteDropsCapabilities() throws Exception {
        try (MountedToy toy = mount("passthrough,noxattr")) {
            toy.shell("echo 1 > f; cat f");
            assertEquals(0, files.droppedCapabilities.get(), "a new file has none");
            toy.shell("echo 2 >> f");
            assertEquals(1, files.droppedCapabilities.get());
        }
    }

    @Test
    void writesOfOthersRemoveSetuidAndCapabilities() throws Exception {
        try (MountedToy toy = mount("passthrough,allow_other")) {
            toy.shell("chmod 777 .; echo 1 > f; echo 1 > g; setfattr -n security.capability"
                    + " -v 0x0100000200040000000000000000000000000000 g");
            assertEquals(
                    "4777 2777",
                    toy.shell("chmod 4777 f; stat -c %a f; chmod 2777 f; stat -c %a f")
                            .replace('\n', ' '));
            assertEquals(
                    "6777 777",
                    toy.shell(
                                    "chmod 6777 f; stat -c %a f; "
                                            + "setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'echo 2 >> f'; stat -c %a f")
                            .replace('\n', ' '));
            assertEquals("1", toy.shell("getfattr -d -m security.capability g | grep -c capability"));
            toy.shell("echo 2 >> g");
            assertEquals("0", toy.shell("getfattr -d -m security.capability g | grep -c capability || true"));
            assertEquals(0, files.writes.get());
        }
    }

    @Test
    void nothingStaysOpenAfterTheEnd() throws Exception {
        mount().close();
        long before = descriptors();
        for (int i = 0; i < 3; i++) {
            try (MountedToy toy = mount()) {
                toy.shell("echo 1 > f" + i + "; cat f" + i);
            }
        }
        assertEquals(before, descriptors());
    }

    private static long descriptors() throws IOException {
        try (var open = Files.list(Path.of("/proc/self/fd"))) {
            return open.filter(PassthroughMountTest::isDevice).count();
        }
    }

    private static boolean isDevice(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().equals(Protocol.DEVICE);
        } catch (IOException e) {
            return false;
        }
    }
}
