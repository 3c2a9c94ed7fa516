package org.opendedup.sar.sdfs.restore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.sdfs.restore.RestoredVolume.bytes;
import static org.opendedup.sar.sdfs.restore.TreeRestoreTest.fail;
import static org.opendedup.sar.sdfs.restore.TreeRestoreTest.with;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.FailingKeyValueStore;
import org.opendedup.sar.metadata.MetadataDefects;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Restores of a volume to which programs write, which cannot store what was written, or whose fast tier has lost files.
 */
@Timeout(60)
class UsedVolumeRestoreTest {
    private static final int FILES = 20;
    private static final int LARGE = 3 << 20;

    @TempDir
    Path folder;

    private final CrashDirectory data = new CrashDirectory(1);
    private final CrashKeyValueStore database = new CrashKeyValueStore();
    private final FailingKeyValueStore metadata = new FailingKeyValueStore(database);
    private final CrashRawFolder raw = new CrashRawFolder(1);
    private VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
    private Volume volume;
    private Path target;

    @BeforeEach
    void create() throws IOException {
        target = folder.resolve("out");
        Volume.create(config, data, database, InstantSource.system());
        open();
    }

    @AfterEach
    void close() throws IOException {
        metadata.fail(false);
        volume.resume();
        volume.close();
    }

    private void open() throws IOException {
        VolumeStores stores = new VolumeStores(
                        data, metadata, new HeapChunkIndex(), InstantSource.system(), RawStores.noCopies(), null)
                .withRaw(raw.opener());
        volume = Volume.open(config, stores, Verification.FINGERPRINTS);
    }

    /** Opens the volume again, with new files on a fast tier. */
    private void useFastTier() throws IOException {
        volume.close();
        config = RawStores.of(config);
        open();
    }

    private long make(String name, byte[] content) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, bytes(name), 0100644, 0, new Owner(0, 0))
                .inode();
        write(inode, content);
        return inode;
    }

    private void write(long inode, byte[] content) throws IOException {
        OpenFile file = volume.open(inode, true);
        try {
            volume.write(file, 0, ByteBuffer.wrap(content));
            volume.sync(file);
        } finally {
            volume.close(file);
        }
    }

    private static byte[] random(int length, long seed) {
        byte[] content = new byte[length];
        new Random(seed).nextBytes(content);
        return content;
    }

    private RestoreStatus restore(Libc posix) throws IOException {
        TreeRestore restore = new TreeRestore(volume, "", target, Long.MAX_VALUE, posix);
        restore.run(Inode.ROOT);
        return restore.status();
    }

    private void assertRestored(String name, byte[] content) throws IOException {
        assertArrayEquals(content, Files.readAllBytes(target.resolve(name)), name);
    }

    /** Asserts that a file has the mode and the time of the bytes that it was restored with. */
    private void assertAttributes(long inode, String name) throws IOException {
        Attributes expected = volume.attributes(inode);
        Path file = target.resolve(name);
        assertEquals(expected.mode(), Files.getAttribute(file, "unix:mode"), name);
        assertEquals(expected.modifiedNs(), Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS), name);
    }

    @Test
    void whatIsWrittenAndSyncedDuringTheWalkComesBack() throws IOException {
        long[] inodes = new long[2 * FILES];
        for (int i = 0; i < inodes.length; i++) {
            inodes[i] = make("file" + i, i < FILES ? new byte[0] : random(5000, i));
        }
        volume.link(inodes[0], Inode.ROOT, bytes("second name"));
        AtomicInteger made = new AtomicInteger();
        Libc writing = with("openat", (arguments, real) -> {
            if (TreeRestoreTest.name(arguments[1]).startsWith("file") && made.getAndIncrement() == 0) {
                for (int i = 0; i < inodes.length; i++) {
                    volume.change(inodes[i], new AttributeChange(0600, null, null, 0L, null, null, null));
                    write(inodes[i], random(3900, 1000 + i));
                }
            }
            return real.call();
        });

        RestoreStatus status = restore(writing);

        assertTrue(made.get() >= inodes.length, "control: they were written to during the walk");
        for (int i = 0; i < inodes.length; i++) {
            assertRestored("file" + i, random(3900, 1000 + i));
            assertAttributes(inodes[i], "file" + i);
        }
        assertRestored("second name", random(3900, 1000));
        assertAttributes(inodes[0], "second name");
        assertEquals(0, status.damagedPlaces() + status.filesMissing() + status.filesChanging(), status::toString);
    }

    @Test
    void aFileThatIsOpenForWritingOnTheFastTierComesBack() throws IOException {
        useFastTier();
        make("closed", random(5000, 1));
        long inode = make("open", random(LARGE, 2));
        OpenFile held = volume.open(inode, true);
        volume.write(held, 2L * LARGE, ByteBuffer.wrap(bytes("end")));
        assertTrue(raw.numbers().size() >= 2, "control: they are on the fast tier");

        RestoreStatus status = restore(new Libc());

        volume.close(held);
        assertRestored("closed", random(5000, 1));
        byte[] expected = new byte[2 * LARGE + 3];
        System.arraycopy(random(LARGE, 2), 0, expected, 0, LARGE);
        System.arraycopy(bytes("end"), 0, expected, 2 * LARGE, 3);
        assertRestored("open", expected);
        assertEquals(0, status.damagedPlaces() + status.filesMissing() + status.filesChanging(), status::toString);
        assertEquals(status.bytes(), status.bytesDone());
    }

    @Test
    void aFileThatIsWrittenBeforeItIsCopiedHasTheAttributesOfItsBytes() throws IOException {
        useFastTier();
        long inode = make("open", random(5000, 1));
        OpenFile held = volume.open(inode, true);
        AtomicInteger made = new AtomicInteger();
        Libc writing = with("openat", (arguments, real) -> {
            if (TreeRestoreTest.name(arguments[1]).equals("open") && made.getAndIncrement() == 0) {
                volume.change(inode, AttributeChange.ofMode(0600));
                volume.write(held, 0, ByteBuffer.wrap(random(5000, 2)));
            }
            return real.call();
        });

        RestoreStatus status = restore(writing);

        volume.close(held);
        assertTrue(made.get() > 0, "control: it was written meanwhile");
        assertRestored("open", random(5000, 2));
        assertAttributes(inode, "open");
        assertEquals(0, status.filesChanging(), status::toString);
    }

    @Test
    void aFileThatIsWrittenToWhileItIsReadIsNamed() throws IOException {
        useFastTier();
        long inode = make("log", random(LARGE, 2));
        OpenFile held = volume.open(inode, true);
        AtomicInteger pieces = new AtomicInteger();
        Libc writing = with("pwrite", (arguments, real) -> {
            if (pieces.getAndIncrement() == 0) {
                volume.write(held, LARGE, ByteBuffer.wrap(bytes("more")));
            }
            return real.call();
        });

        RestoreStatus status = restore(writing);

        volume.close(held);
        assertRestored("log", random(LARGE, 2));
        assertEquals(1, status.filesChanging(), status::toString);
        assertTrue(status.losses().get(0).startsWith(target.resolve("log") + ": its bytes are of several moments"));
    }

    @Test
    void aFileThatGetsShorterWhileItIsReadEndsThere() throws IOException {
        useFastTier();
        long inode = make("log", random(LARGE, 2));
        OpenFile held = volume.open(inode, true);
        AtomicInteger pieces = new AtomicInteger();
        Libc cutting = with("pwrite", (arguments, real) -> {
            if (pieces.getAndIncrement() == 0) {
                volume.change(inode, new AttributeChange(null, null, null, 1L << 20, null, null, null));
            }
            return real.call();
        });

        RestoreStatus status = restore(cutting);

        volume.close(held);
        assertEquals(1, status.filesChanging(), status::toString);
        assertEquals(1 << 20, Files.size(target.resolve("log")));
    }

    @Test
    void aFileThatTheFastTierHasLostIsNamedAndAllElseComesBack() throws IOException {
        make("in chunks", random(5000, 1));
        useFastTier();
        make("lost", random(5000, 2));
        volume.close();
        raw.wipe();
        open();
        make("new", random(5000, 3));

        RestoreStatus status = restore(new Libc());

        assertEquals(1, status.damagedPlaces(), status::toString);
        assertTrue(status.damages().get(0).startsWith(target.resolve("lost") + ": "), status::toString);
        assertRestored("in chunks", random(5000, 1));
        assertRestored("new", random(5000, 3));
    }

    @Test
    void withoutTheFastTierAFileComesBackAsItWasStoredLast() throws IOException {
        useFastTier();
        long inode = make("copied", random(5000, 1));
        make("only there", random(5000, 2));
        volume.maintenance().forEachReference(inode, (offset, chunk, from, length, prefix) -> {});
        volume.sync();
        raw.setGone(true);

        RestoreStatus status = restore(new Libc());

        raw.setGone(false);
        assertEquals(1, status.filesMissing(), status::toString);
        assertTrue(status.losses().get(0).startsWith(target.resolve("copied") + ": as it was when"), status::toString);
        assertRestored("copied", random(5000, 1));
        assertEquals(1, status.damagedPlaces(), status::toString);
        assertTrue(status.damages().get(0).startsWith(target.resolve("only there") + ": "), status::toString);
    }

    @Test
    void aVolumeThatCannotStoreIsRestoredAsItIsRead() throws IOException {
        make("stored", random(LARGE, 1));
        volume.sync();
        long inode = make("changed", random(LARGE, 2));
        OpenFile held = volume.open(inode, true);
        volume.write(held, 1000, ByteBuffer.wrap(bytes("not stored")));
        metadata.fail(true);
        assertThrows(IOException.class, () -> volume.sync(held));
        volume.close(held);
        assertNotNull(volume.stopped(), "control");

        RestoreStatus status = restore(new Libc());

        assertNotNull(status.notStored());
        assertRestored("stored", random(LARGE, 1));
        byte[] changed = random(LARGE, 2);
        System.arraycopy(bytes("not stored"), 0, changed, 1000, 10);
        assertRestored("changed", changed);
        assertEquals(0, status.damagedPlaces() + status.filesMissing() + status.filesChanging(), status::toString);
        metadata.fail(false);
        assertTrue(volume.resume());
        target = folder.resolve("resumed");
        assertNull(restore(new Libc()).notStored(), "control: it can store again");
        assertRestored("changed", changed);
    }

    @Test
    void aRestoreGoesOnWithAFileThatIsOpenForWriting() throws IOException {
        useFastTier();
        make("closed", random(5000, 1));
        OpenFile held = volume.open(make("open", random(5000, 2)), true);
        Libc killed = with("futimens", (arguments, real) -> fail(Errno.ENOSPC));
        assertThrows(IOException.class, () -> restore(killed));
        volume.write(held, 0, ByteBuffer.wrap(random(7000, 3)));

        RestoreStatus status = restore(new Libc());

        volume.close(held);
        assertTrue(status.bytesResumed() > 0, status::toString);
        assertRestored("closed", random(5000, 1));
        assertRestored("open", random(7000, 3));
        assertFalse(Files.exists(folder.resolve(".out.sdfs-restore")));
    }

    /** Its bytes were copied during the walk: to write all others again must not take them away. */
    @Test
    void aFileWithTwoNamesThatIsOpenForWritingComesBackWhenAllBytesAreWrittenAgain() throws IOException {
        useFastTier();
        long closed = make("closed", random(5000, 1));
        long inode = make("open", random(5000, 2));
        volume.link(inode, Inode.ROOT, bytes("second name"));
        OpenFile held = volume.open(inode, true);
        Libc killed = with("futimens", (arguments, real) -> fail(Errno.ENOSPC));
        assertThrows(IOException.class, () -> restore(killed));
        write(closed, random(6000, 3));
        volume.write(held, 0, ByteBuffer.wrap(random(7000, 4)));

        RestoreStatus status = restore(new Libc());

        volume.close(held);
        assertEquals(0, status.bytesResumed(), "control: all bytes are written again");
        assertRestored("closed", random(6000, 3));
        assertRestored("open", random(7000, 4));
        assertRestored("second name", random(7000, 4));
        assertTrue(
                Files.isSameFile(target.resolve("open"), target.resolve("second name")), "control: it has two names");
        assertEquals(0, status.damagedPlaces() + status.filesMissing() + status.filesChanging(), status::toString);
    }

    @Test
    void aRestoreGoesOnWithAFileWithTwoNamesThatGetsShorter() throws IOException {
        useFastTier();
        make("closed", random(5000, 1));
        long inode = make("open", random(5000, 2));
        volume.link(inode, Inode.ROOT, bytes("second name"));
        OpenFile held = volume.open(inode, true);
        Libc killed = with("futimens", (arguments, real) -> fail(Errno.ENOSPC));
        assertThrows(IOException.class, () -> restore(killed));
        AtomicInteger pieces = new AtomicInteger();
        Libc writing = with("pwrite", (arguments, real) -> {
            if (pieces.getAndIncrement() == 0) {
                volume.change(inode, new AttributeChange(null, null, null, 4000L, null, null, null));
            }
            return real.call();
        });

        RestoreStatus status = restore(writing);

        volume.close(held);
        assertTrue(status.bytesResumed() > 0, status::toString);
        assertEquals(4000, Files.size(target.resolve("second name")));
        assertEquals(1, status.filesChanging(), status::toString);
    }

    /** Names are read in batches: those ahead of the damaged one come back. */
    @Test
    void whatIsListedAheadOfADamagedNameComesBack() throws IOException {
        for (int i = 0; i < 200; i++) {
            make("file" + i, new byte[0]);
        }
        List<String> listed = new ArrayList<>();
        volume.list(
                Inode.ROOT,
                0,
                false,
                (name, inode, type, cookie, attributes) -> listed.add(new String(name, StandardCharsets.UTF_8)));
        volume.close();
        MetadataDefects.putName(database, Inode.ROOT, listed.get(190), 1, 0x10000);
        open();

        RestoreStatus status = restore(new Libc());

        assertEquals(1, status.damagedPlaces(), status::toString);
        assertTrue(status.damages().get(0).contains(": what else is in it cannot be listed: "), status::toString);
        for (String name : listed.subList(2, 120)) {
            assertTrue(Files.exists(target.resolve(name)), name);
        }
    }

    /** The copy of a file that was complete takes its bytes away first. */
    @Test
    void aCopyThatIsInterruptedLeavesNoHolesAfterTheFileWasClosed() throws IOException {
        useFastTier();
        long inode = make("file", random(LARGE, 2));
        Libc killed = with("futimens", (arguments, real) -> fail(Errno.ENOSPC));
        assertThrows(IOException.class, () -> restore(killed));
        assertRestored("file", random(LARGE, 2));
        OpenFile held = volume.open(inode, true);
        AtomicInteger pieces = new AtomicInteger();
        Libc killedInCopy = with("pwrite", (arguments, real) -> {
            boolean isSecond = pieces.getAndIncrement() == 1;
            return isSecond ? Long.valueOf((int) fail(Errno.ENOSPC)) : real.call();
        });
        assertThrows(IOException.class, () -> restore(killedInCopy));
        assertEquals(2, pieces.get(), "control: it was copied, in part");
        volume.close(held);

        RestoreStatus status = restore(new Libc());

        assertRestored("file", random(LARGE, 2));
        assertEquals(0, status.damagedPlaces() + status.filesMissing() + status.filesChanging(), status::toString);
    }

    @Test
    void aRestoreThatIsInterruptedWhenItBeginsAnewLeavesNoHoles() throws IOException {
        useFastTier();
        make("closed", random(LARGE, 1));
        long inode = make("open", random(5000, 2));
        Libc killed = with("futimens", (arguments, real) -> fail(Errno.ENOSPC));
        assertThrows(IOException.class, () -> restore(killed));
        assertRestored("closed", random(LARGE, 1));
        OpenFile held = volume.open(inode, true);
        AtomicInteger cuts = new AtomicInteger();
        Libc killedInCuts = with("ftruncate", (arguments, real) -> {
            Object result = real.call();
            return cuts.incrementAndGet() == 4 ? fail(Errno.ENOTDIR) : result;
        });
        assertThrows(IOException.class, () -> restore(killedInCuts));
        assertEquals(4, cuts.get(), "control: one file was copied, and the other cleared");
        volume.close(held);

        RestoreStatus status = restore(new Libc());

        assertRestored("closed", random(LARGE, 1));
        assertRestored("open", random(5000, 2));
        assertEquals(0, status.damagedPlaces() + status.filesMissing() + status.filesChanging(), status::toString);
    }

    @Test
    void whatAResumedRestoreCannotCopyIsCounted() throws IOException {
        useFastTier();
        make("closed", random(5000, 1));
        OpenFile held = volume.open(make("open", random(5000, 2)), true);
        Libc killed = with("futimens", (arguments, real) -> fail(Errno.ENOSPC));
        assertThrows(IOException.class, () -> restore(killed));
        raw.setGone(true);

        RestoreStatus status = restore(new Libc());

        raw.setGone(false);
        volume.close(held);
        assertEquals(1, status.damages().size(), status::toString);
        assertEquals(1, status.damagedPlaces(), status::toString);
    }

    /** As a program does that unpacks an archive. */
    @Test
    void aFileThatIsWrittenToAndGetsItsTimeBackIsNamed() throws IOException {
        useFastTier();
        long inode = make("log", random(LARGE, 2));
        OpenFile held = volume.open(inode, true);
        long modifiedNs = volume.attributes(inode).modifiedNs();
        AtomicInteger pieces = new AtomicInteger();
        Libc writing = with("pwrite", (arguments, real) -> {
            if (pieces.getAndIncrement() == 0) {
                volume.write(held, 0, ByteBuffer.wrap(random(LARGE, 3)));
                volume.change(inode, new AttributeChange(null, null, null, null, null, modifiedNs, null));
            }
            return real.call();
        });

        RestoreStatus status = restore(writing);

        assertEquals(modifiedNs, volume.attributes(inode).modifiedNs(), "control");
        volume.close(held);
        assertEquals(1, status.filesChanging(), status::toString);
    }

    /** The calls of a file system that has one name where the volume has two: {@code ONE} is {@code one}. */
    private static Libc caseless(Libc calls) {
        Libc.Functions real = calls.functions();
        return new Libc((Libc.Functions) Proxy.newProxyInstance(
                Libc.class.getClassLoader(), new Class<?>[] {Libc.Functions.class}, (proxy, method, arguments) -> {
                    Object[] changed = arguments == null ? null : arguments.clone();
                    for (int i = 0; changed != null && i < changed.length; i++) {
                        boolean isOther = changed[i] instanceof byte[] name && Arrays.equals(name, bytes("ONE\0"));
                        changed[i] = isOther ? bytes("one\0") : changed[i];
                    }
                    return method.invoke(real, changed);
                }));
    }

    @Test
    void aResumedRestoreDoesNotTakeAnotherFileForOneThatCouldNotBeMade() throws IOException {
        volume.link(make("one", random(5000, 1)), Inode.ROOT, bytes("link of one"));
        volume.link(make("ONE", random(5000, 2)), Inode.ROOT, bytes("link of ONE"));
        Libc killed = with("futimens", (arguments, real) -> fail(Errno.ENOSPC));
        assertThrows(IOException.class, () -> restore(caseless(killed)));
        assertRestored("one", random(5000, 1));
        assertRestored("link of ONE", random(5000, 2));

        IOException refused = assertThrows(IOException.class, () -> restore(caseless(new Libc())));

        assertTrue(String.valueOf(refused.getMessage()).contains("to begin again, remove "), refused::toString);
        assertRestored("one", random(5000, 1));
    }
}
