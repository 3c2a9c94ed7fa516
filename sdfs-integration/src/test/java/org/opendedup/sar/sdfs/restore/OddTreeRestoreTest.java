package org.opendedup.sar.sdfs.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.opendedup.sar.sdfs.restore.RestoredVolume.bytes;
import static org.opendedup.sar.sdfs.restore.TreeRestoreTest.fail;
import static org.opendedup.sar.sdfs.restore.TreeRestoreTest.with;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.io.handle.Handle;
import org.opendedup.sar.io.handle.TrustedPath;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.DBOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksIterator;

/**
 * Trees that are deeper than a path can be, that the destination does not take whole, and whose metadata somebody has
 * edited.
 */
@Timeout(300)
class OddTreeRestoreTest {
    @TempDir
    Path folder;

    private RestoredVolume volume;
    private Path target;

    @BeforeEach
    void makeVolume() throws IOException {
        volume = new RestoredVolume(folder.resolve("base"));
        target = folder.resolve("out");
    }

    @AfterEach
    void closeVolume() throws IOException, InterruptedException {
        volume.close();
        // JUnit's own way to delete a folder ends at the longest path.
        new ProcessBuilder("rm", "-rf", target.toString()).inheritIO().start().waitFor();
    }

    @ParameterizedTest
    @CsvSource({"25, 200, true", "200, 200, true", "200, 200, false", "3000, 2, true", "300, 2, false"})
    void aTreeMayBeDeeperThanAPathIsLong(int depth, int nameBytes, boolean hasOpenat2) throws IOException {
        Libc posix = hasOpenat2 ? new Libc() : with("syscall", (arguments, real) -> (long) (int) fail(Errno.ENOSYS));
        long inode = Inode.ROOT;
        for (int level = 0; level < depth; level++) {
            byte[] content = bytes("at level " + level);
            volume.makeFile(inode, "file", content);
            inode = volume.makeFolder(inode, name(level, nameBytes), 0700 | level % 070);
        }
        volume.volume.makeSymbolicLink(inode, bytes("link"), bytes("end"), new Owner(0, 0));

        RestoreStatus status = volume.restore(target, posix);

        assertEquals(2L * depth + 2, status.entries());
        assertEquals(0, status.damagedPlaces());
        Libc calls = new Libc();
        Handle at = TrustedPath.open(calls, target);
        for (int level = 0; level < depth; level++) {
            assertEquals("at level " + level, Files.readString(at.path().resolve("file")));
            Handle next = at.opened(bytes(name(level, nameBytes)), Libc.O_DIRECTORY, "level " + level);
            assertEquals(0040700 | level % 070, next.status().mode());
            at.close();
            at = next;
        }
        assertEquals("end", Files.readSymbolicLink(at.path().resolve("link")).toString());
        at.close();
    }

    private static String name(int level, int bytes) {
        byte[] name = new byte[bytes];
        Arrays.fill(name, (byte) ('a' + level % 26));
        return new String(name, StandardCharsets.US_ASCII);
    }

    @Test
    void aTreeDeeperThanAPathGoesOnAfterItWasStopped() throws IOException {
        long inode = Inode.ROOT;
        for (int level = 0; level < 100; level++) {
            inode = volume.makeFolder(inode, name(level, 200), 0500);
        }
        volume.makeFile(inode, "file", bytes("deep"));
        Libc killed = with("futimens", (arguments, real) -> fail(Errno.ENOSPC));
        try {
            volume.restore(target, killed);
        } catch (IOException e) {
            assertTrue(e.getMessage().startsWith("setting the times of " + target), e.getMessage());
        }
        RestoreStatus status = volume.restore(target);
        assertEquals(102, status.entries());
        assertEquals(4, status.bytesResumed());
    }

    @Test
    void nodesThatMayNotBeMadeAreNamedAndAllElseIsRestored() throws IOException {
        Owner owner = new Owner(0, 0);
        volume.volume.makeNode(Inode.ROOT, bytes("a fifo"), 0010600, 0, owner);
        long linked = volume.volume
                .makeNode(Inode.ROOT, bytes("null"), 0020666, 0x103, owner)
                .inode();
        volume.volume.link(linked, Inode.ROOT, bytes("null too"));
        volume.makeFile(Inode.ROOT, "file", bytes("stored"));
        Libc posix = with("mknodat", (arguments, real) -> fail(Errno.EPERM));

        RestoreStatus status = volume.restore(target, posix);

        assertEquals("stored", Files.readString(target.resolve("file")));
        // The second name of the device is first reported as a copy, and then as missing.
        assertEquals(4, status.entriesLost(), status::toString);
        assertTrue(
                status.losses().contains(target.resolve("a fifo") + ": cannot be made there: Operation not permitted"),
                status::toString);
        assertFalse(Files.exists(target.resolveSibling(".out.sdfs-restore")));
        assumeTrue(System.getProperty("user.name").equals("root"), "needs root, to make devices");
        Path second = folder.resolve("second");
        assertEquals(0, volume.restore(second).entriesLost(), "the control");
        assertEquals(2, Files.getAttribute(second.resolve("null too"), "unix:nlink"));
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EXDEV, Errno.ENAMETOOLONG})
    void aLinkThatCannotBeMadeThereIsNamedAndAllElseIsRestored(int errno) throws IOException {
        long file = volume.makeFile(Inode.ROOT, "file", bytes("stored"));
        volume.volume.link(file, Inode.ROOT, bytes("second name"));
        volume.volume.makeSymbolicLink(Inode.ROOT, bytes("link"), bytes("file"), new Owner(0, 0));
        Libc linkless = with("linkat", (arguments, real) -> fail(errno));
        Libc posix = with(linkless, "symlinkat", (arguments, real) -> fail(errno));

        RestoreStatus status = volume.restore(target, posix);

        assertEquals(2, status.entriesLost(), status::toString);
        assertEquals("stored", Files.readString(target.resolve("file")));
        assertEquals("stored", Files.readString(target.resolve("second name")));
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 129, 130, 241, 242, 255})
    void aDestinationMayHaveAsLongANameAsAFile(int length) throws IOException {
        volume.makeFile(Inode.ROOT, "file", bytes("stored"));
        target = folder.resolve("ä".repeat(length / 2) + "n".repeat(length % 2));
        Libc killed = with("futimens", (arguments, real) -> fail(Errno.ENOSPC));
        assertThrows(IOException.class, () -> volume.restore(target, killed));
        RestoreStatus status = volume.restore(target);
        assertEquals(6, status.bytesResumed());
        assertEquals("stored", Files.readString(target.resolve("file")));
        try (Stream<Path> beside = Files.list(folder)) {
            assertEquals(2, beside.count(), "the base and the destination");
        }
    }

    @Test
    void twoDestinationsWithLongNamesHaveNoWorkFolderInCommon() {
        assertNotEquals(WorkFolder.nameFor("n".repeat(254) + "1"), WorkFolder.nameFor("n".repeat(254) + "2"));
        assertEquals(".out.sdfs-restore", WorkFolder.nameFor("out"));
    }

    @Test
    void anAttributeThatIsTooLargeForTheDestinationIsNamedAndAllElseIsRestored() throws IOException {
        long file = volume.makeFile(Inode.ROOT, "file", bytes("stored"));
        byte[] name = bytes("user.large");
        volume.volume.setExtendedAttribute(file, name, new byte[60_000], SetMode.CREATE);
        volume.volume.setExtendedAttribute(file, bytes("user.small"), bytes("x"), SetMode.CREATE);
        for (int errno : new int[] {Errno.E2BIG, Errno.ENOSPC, Errno.ERANGE, Errno.EDQUOT}) {
            Path out = folder.resolve("out" + errno);
            Libc posix = with(
                    "fsetxattr",
                    (arguments, real) -> ((byte[]) arguments[2]).length > 1000 ? fail(errno) : real.call());
            RestoreStatus status = volume.restore(out, posix);
            assertEquals(1, status.attributesLost(), status::toString);
            assertTrue(status.losses().get(0).startsWith(out.resolve("file") + ": the attribute user.large: "));
            assertEquals("x", new String((byte[]) Files.getAttribute(out.resolve("file"), "user:small")));
        }
    }

    @Test
    void aFileSystemThatTakesRootForNobodyIsWrittenTo() throws IOException {
        long sub = volume.makeFolder(Inode.ROOT, "sub", 0755);
        volume.makeFile(sub, "file", bytes("stored"));
        // What statx tells of an owner, wherever one looks.
        Libc squashed = with("statx", (arguments, real) -> {
            Object result = real.call();
            ByteBuffer.wrap((byte[]) arguments[4])
                    .order(ByteOrder.nativeOrder())
                    .putInt(20, 65534);
            return result;
        });
        Libc posix = with(squashed, "fchown", (arguments, real) -> fail(Errno.EPERM));

        RestoreStatus status = volume.restore(target, posix);

        assertEquals(3, status.attributesLost(), status::toString);
        assertEquals("stored", Files.readString(target.resolve("sub/file")));
        try (Stream<Path> inside = Files.list(target)) {
            assertEquals(List.of(target.resolve("sub")), inside.toList());
        }
    }

    @Test
    void whereThereAreNoHardLinksEachNameGetsAFile() throws IOException {
        long file = volume.makeFile(Inode.ROOT, "a", bytes("stored"));
        volume.volume.link(file, Inode.ROOT, bytes("b"));
        volume.volume.link(file, Inode.ROOT, bytes("c"));
        Libc posix = with("linkat", (arguments, real) -> fail(Errno.EPERM));
        Libc killed = with(posix, "futimens", (arguments, real) -> fail(Errno.ENOSPC));
        try {
            volume.restore(target, killed);
        } catch (IOException e) {
            assertTrue(e.getMessage().startsWith("setting the times of " + target), e.getMessage());
        }
        RestoreStatus status = volume.restore(target, posix);
        assertEquals(2, status.entriesLost(), status::toString);
        for (String name : List.of("a", "b", "c")) {
            assertEquals("stored", Files.readString(target.resolve(name)));
            assertEquals(1, Files.getAttribute(target.resolve(name), "unix:nlink"));
        }
    }

    @Test
    void whatTheDestinationCannotHoldIsNamedAndAllElseIsRestored() throws IOException {
        long sparse = volume.makeFile(Inode.ROOT, "sparse", bytes("stored"));
        volume.volume.change(sparse, new AttributeChange(null, null, null, 20L << 40, null, null, null));
        volume.makeFile(volume.makeFolder(Inode.ROOT, "folder?", 0755), "inside", bytes("stored"));
        volume.makeFile(Inode.ROOT, "a?", bytes("stored"));
        volume.volume.link(volume.makeFile(Inode.ROOT, "b?", bytes("linked")), Inode.ROOT, bytes("b"));
        volume.volume.makeSymbolicLink(Inode.ROOT, bytes("link?"), bytes("nowhere"), new Owner(0, 0));
        volume.makeFile(Inode.ROOT, "file", bytes("stored"));
        Libc small = with(
                "ftruncate", (arguments, real) -> (long) arguments[1] > 1L << 40 ? fail(Errno.EFBIG) : real.call());
        int[] refusals = {Errno.EEXIST, Errno.EILSEQ, Errno.ENAMETOOLONG, Errno.EINVAL};
        for (int refusal : refusals) {
            target = folder.resolve("out" + refusal);
            Libc posix = small;
            for (String call : List.of("openat", "mkdirat", "symlinkat", "linkat")) {
                posix = with(posix, call, (arguments, real) -> {
                    Object name = arguments[call.equals("linkat") ? 3 : call.equals("symlinkat") ? 2 : 1];
                    boolean isLooked = call.equals("openat") && ((int) arguments[2] & Libc.O_CREAT) == 0;
                    return isOdd(name) && !(isLooked && refusal == Errno.EEXIST) ? fail(refusal) : real.call();
                });
            }
            Libc killed = with(posix, "futimens", (arguments, real) -> fail(Errno.ENOSPC));
            assertThrows(IOException.class, () -> volume.restore(target, killed));

            RestoreStatus status = volume.restore(target, posix);

            assertEquals(4, status.filesMissing(), status::toString);
            assertEquals(1, status.entriesLost(), status::toString);
            for (String name : List.of("sparse", "folder?, with all that is in it", "a?", "b?", "link?")) {
                assertTrue(
                        status.losses().stream()
                                .anyMatch(loss -> loss.startsWith(target.resolve(name) + ": cannot be")),
                        status::toString);
            }
            assertEquals("stored", Files.readString(target.resolve("file")));
            assertEquals("linked", Files.readString(target.resolve("b")));
            try (Stream<Path> inside = Files.list(target)) {
                assertEquals(2, inside.count(), status::toString);
            }
        }
    }

    private static boolean isOdd(Object name) {
        return TreeRestoreTest.name(name).endsWith("?");
    }

    @Test
    void aFullDestinationEndsARestoreAndOneThatHasRoomForOthersDoesNot() throws IOException {
        volume.makeFile(Inode.ROOT, "file", bytes("stored"));
        volume.makeFile(Inode.ROOT, "large", new byte[] {1});
        Libc crowded = with(
                "openat",
                (arguments, real) ->
                        TreeRestoreTest.name(arguments[1]).equals("large") ? fail(Errno.ENOSPC) : real.call());
        RestoreStatus status = volume.restore(target, crowded);
        assertEquals(1, status.filesMissing(), status::toString);
        assertEquals("stored", Files.readString(target.resolve("file")));
        Libc full = with(
                "openat",
                (arguments, real) -> ((int) arguments[2] & Libc.O_CREAT) != 0 ? fail(Errno.ENOSPC) : real.call());
        assertThrows(NoSpaceException.class, () -> volume.restore(folder.resolve("full"), full));
    }

    @Test
    void aSingleFileGetsItsNameWhereThereAreNoHardLinksToo() throws IOException {
        long file = volume.makeFile(Inode.ROOT, "file", bytes("stored"));
        Libc linkless = with("linkat", (arguments, real) -> fail(Errno.EPERM));
        Libc neither = with(linkless, "renameat2", (arguments, real) -> fail(Errno.EINVAL));
        var e = assertThrows(IOException.class, () -> restoreOne(file, neither));
        assertEquals("giving its name to " + target + ": Invalid argument", e.getMessage());
        assertFalse(Files.exists(target));
        restoreOne(file, linkless);
        assertEquals("stored", Files.readString(target));
        assertFalse(Files.exists(target.resolveSibling(".out.sdfs-restore")));
    }

    private void restoreOne(long file, Libc posix) throws IOException {
        new TreeRestore(volume.volume, "file", target, Long.MAX_VALUE, posix).run(file);
    }

    @Test
    void aStoredNameThatLeadsOutOfTheTreeIsDamageAndAllElseIsRestored() throws Exception {
        long bad = volume.makeFolder(Inode.ROOT, "bad", 0755);
        volume.makeFile(bad, "..xvictim", bytes("attack"));
        long good = volume.makeFolder(Inode.ROOT, "good", 0755);
        volume.makeFile(good, "file", bytes("stored"));
        volume.whileClosed(() -> rename("..xvictim", "../victim"));

        RestoreStatus status = volume.restore(target);

        assertEquals(1, status.damagedPlaces(), status::toString);
        assertTrue(status.damages().get(0).startsWith(target.resolve("bad") + ": "), status::toString);
        assertTrue(status.damages().get(0).contains("'../victim'"), status::toString);
        assertEquals("stored", Files.readString(target.resolve("good/file")));
        assertFalse(Files.exists(target.resolve("victim"), LinkOption.NOFOLLOW_LINKS));
    }

    /**
     * Gives an entry of the volume's database another name, past the volume; its place by the old name's hash stays.
     */
    private void rename(String name, String other) throws Exception {
        String path = volume.config().locations().metadata().toString();
        List<ColumnFamilyDescriptor> families = new ArrayList<>();
        try (Options options = new Options()) {
            for (byte[] family : RocksDB.listColumnFamilies(options, path)) {
                families.add(new ColumnFamilyDescriptor(family));
            }
        }
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        int renamed = 0;
        try (DBOptions options = new DBOptions();
                RocksDB database = RocksDB.open(options, path, families, handles)) {
            for (ColumnFamilyHandle handle : handles) {
                try (RocksIterator iterator = database.newIterator(handle)) {
                    for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
                        byte[] key = iterator.key();
                        if (new String(key, StandardCharsets.ISO_8859_1).endsWith(name)) {
                            byte[] edited = key.clone();
                            byte[] replacement = bytes(other);
                            System.arraycopy(
                                    replacement, 0, edited, key.length - replacement.length, replacement.length);
                            database.put(handle, edited, iterator.value());
                            database.delete(handle, key);
                            renamed++;
                        }
                    }
                }
            }
            handles.forEach(ColumnFamilyHandle::close);
        }
        assertEquals(1, renamed);
    }
}
