package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.raw.OutlivingMapping;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.raw.FastTier.Place;
import org.opendedup.sar.volume.store.Ballasts;
import org.opendedup.sar.volume.store.VolumeLocations;
import org.opendedup.sar.volume.store.VolumeStores;

/** Raw files on a real fast tier: what a volume shows, where the bytes are, and that migration keeps them. */
@Timeout(120)
class RawFilesTest {
    private static final Owner OWNER = new Owner(0, 0, 0);

    @MemoryFolder
    Path folder;

    private VolumeConfig config;

    @AutoClose
    private Volume volume;

    @BeforeEach
    void create() throws IOException {
        config = config(Placement.TDDFS, 0);
        Volume.create(config);
        volume = Volume.open(config);
    }

    private VolumeConfig config(Placement placement, int copyAfterS) {
        HotSettings sar = new HotSettings(true, 64L << 20, 2, 1 << 20, true, 1000, HotSettings.Policy.REFERENCE_COUNT);
        return VolumeConfigs.in(folder, 1L << 40, Chunking.VARIABLE_SHA256)
                .withSsd(folder.resolve("ssd"), sar)
                .withRaw(new RawSettings(placement, 64L << 20, 80, 60, copyAfterS));
    }

    private void remount(VolumeConfig changed) throws IOException {
        config = changed;
        remount();
    }

    private void remount() throws IOException {
        volume.close();
        volume = Volume.open(config);
    }

    private static byte[] bytes(int count) {
        byte[] made = new byte[count];
        new Random(count).nextBytes(made);
        return made;
    }

    private long make(String name) throws IOException {
        return volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), Modes.REGULAR | 0600, 0, OWNER)
                .inode();
    }

    private void write(long inode, long offset, byte[] bytes) throws IOException {
        OpenFile file = volume.open(inode, true);
        volume.write(file, offset, ByteBuffer.wrap(bytes));
        volume.close(file);
    }

    private long file(String name, byte[] bytes) throws IOException {
        long inode = make(name);
        write(inode, 0, bytes);
        return inode;
    }

    private byte[] read(long inode) throws IOException {
        OpenFile file = volume.open(inode, false);
        try {
            ByteBuffer all = ByteBuffer.allocate((int) volume.attributes(inode).size() + 10);
            int length = volume.read(file, 0, all);
            byte[] found = new byte[length];
            all.flip().get(found);
            return found;
        } finally {
            volume.close(file);
        }
    }

    private Place place(long inode) throws IOException {
        return volume.fastTier().explain(inode).place();
    }

    private Path backingFile() throws IOException {
        try (Stream<Path> all = Files.walk(folder.resolve("ssd/raw"))) {
            return all.filter(path -> path.getFileName().toString().length() == 16)
                    .findAny()
                    .orElseThrow();
        }
    }

    /**
     * The mapping would show the bytes of the backing file for ever. With the kernel's passthrough it maps just that.
     */
    @Test
    void aFileThatIsMappedForReadingIsNotMigratedAndIsStoredInChunks() throws Exception {
        remount(config(Placement.TDDFS, 1));
        long inode = file("a", bytes(1000));
        try (OutlivingMapping mapping = OutlivingMapping.of(backingFile(), false)) {
            awaitPlace(inode, Place.BOTH);
            assertThrows(PosixException.class, () -> volume.fastTier().migrate(inode));
            assertEquals(Place.BOTH, place(inode));
        }
        assertTrue(volume.fastTier().migrate(inode), "the control");
        assertArrayEquals(bytes(1000), read(inode));
    }

    private void awaitPlace(long inode, Place wanted) throws IOException {
        while (place(inode) != wanted) {
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** A thread that asks for the attributes may be slower than another one that asked after it. */
    @Test
    void anEarlierLookDoesNotTakeThePlaceOfALaterOne() throws IOException {
        long inode = file("a", bytes(100));
        Node node = volume.context().nodes().pin(inode);
        Node.Look early = node.look();
        write(inode, 100, bytes(200));
        Attributes now = node.attributes();
        assertEquals(300, now.size());
        assertEquals(now, node.attributes(early));
        assertEquals(300, node.size());
        volume.context().nodes().unpin(node);
    }

    @Test
    void aLostFastTierLosesOnlyWhatWasNotCopied() throws IOException {
        byte[] content = bytes(30_000);
        remount(config(Placement.TDDFS, 1));
        long copied = file("copied", content);
        awaitPlace(copied, Place.BOTH);
        OpenFile stays = volume.open(make("only there"), true);
        volume.write(stays, 0, ByteBuffer.wrap(content));
        volume.close(stays);
        long lost = stays.inode();
        volume.close();
        PrivateFiles.deleteFolder(folder.resolve("ssd/raw"));
        volume = Volume.open(config);
        assertEquals(Place.ABSENT, place(lost));
        assertThrows(IOException.class, () -> read(copied));
        assertEquals(1, volume.fastTier().status().onlyThereFiles(), "control: it may come back");
        assertTrue(volume.fastTier().attach(true));
        FastTier.Status status = volume.fastTier().status();
        assertTrue(status.room());
        assertEquals(0, status.onlyThereFiles());
        assertEquals(List.of("only there"), volume.fastTier().lost());
        assertEquals(1, volume.fastTier().lostFiles());
        assertArrayEquals(content, read(copied));
        assertEquals(Place.CHUNKS, place(copied));
        assertThrows(IOException.class, () -> read(lost));
        assertEquals(Place.LOST, place(lost));
        volume.unlink(Inode.ROOT, "only there".getBytes(UTF_8));
        remount();
        assertEquals(List.of(), volume.fastTier().lost());
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    /** No record says that the backing file is durable: its sync failed, as before a crash. */
    @Test
    void whatANewFastTierLacksStaysLostAfterTheNextMount() throws IOException {
        volume.close();
        HookedStores hooked = new HookedStores();
        hooked.hook = call -> {
            if (call.isOfRawFiles() && call.what().equals("sync")) {
                throw new IOException("Input/output error");
            }
            return call.proceed();
        };
        VolumeStores stores = VolumeLocations.open(config, Ballasts.none());
        RawFolder.Opener raw = stores.raw();
        volume = Volume.open(config, stores.withRaw(id -> hooked.hooked(raw.open(id))), Verification.CHECKSUMS);
        file("a", bytes(1000));
        assertThrows(IOException.class, volume::close);
        PrivateFiles.deleteFolder(folder.resolve("ssd/raw"));
        volume = Volume.open(config);
        assertTrue(volume.fastTier().attach(true));
        assertEquals(List.of("a"), volume.fastTier().lost());
        remount();
        assertEquals(List.of("a"), volume.fastTier().lost());
    }

    @Test
    void aFileThatTheFastTierLostCountsAsThereNoMore() throws IOException {
        file("a", bytes(1000));
        assertEquals(1, volume.fastTier().status().onlyThereFiles(), "control");
        Files.delete(backingFile());
        assertEquals(0, volume.fastTier().status().onlyThereFiles());
    }

    /** The fast tier is gone from its place, and later comes back. The recipe has an older state of the file. */
    @Test
    void aFileIsNeverAsItWasBeforeWhileTheFastTierIsOnlyAbsent() throws IOException {
        byte[] content = bytes(30_000);
        remount(config(Placement.TDDFS, 1));
        long inode = file("a", content);
        awaitPlace(inode, Place.BOTH);
        content[7]++;
        remount(config(Placement.TDDFS, 0));
        write(inode, 7, new byte[] {content[7]});
        Path raw = folder.resolve("ssd/raw");
        Path away = folder.resolve("away");
        Files.move(raw, away);
        assertArrayEquals(content, read(inode));
        Files.move(away.resolve("volume"), folder.resolve("identity"));
        List<Path> backing;
        try (Stream<Path> all = Files.walk(away)) {
            backing = all.filter(Files::isRegularFile).toList();
        }
        for (Path file : backing) {
            Files.move(file, folder.resolve(file.getFileName()));
        }
        assertThrows(IOException.class, () -> read(inode));
        assertThrows(IOException.class, () -> place(inode));
        volume.commit();
        for (Path file : backing) {
            Files.move(folder.resolve(file.getFileName()), file);
        }
        Files.move(folder.resolve("identity"), away.resolve("volume"));
        Files.move(away, raw);
        assertArrayEquals(content, read(inode));
        remount();
        assertArrayEquals(content, read(inode));
        assertEquals(Place.FAST_TIER, place(inode));
    }

    /** Nobody has a use for it as long as the volume knows nothing of it; an administrator has. */
    @Test
    void aFallBackDeletesNothing() throws IOException {
        remount(config(Placement.TDDFS, 1));
        byte[] content = bytes(30_000);
        long inode = file("a", content);
        awaitPlace(inode, Place.BOTH);
        Path backing = backingFile();
        Path found = folder.resolve("found");
        Files.move(backing, found);
        assertArrayEquals(content, read(inode));
        assertEquals(Place.CHUNKS, place(inode));
        Files.move(found, backing);
        volume.commit();
        volume.context().raws().deleteDead();
        volume.change(inode, AttributeChange.ofTruncation(0, Instant.now()));
        write(inode, 0, bytes(10));
        assertEquals(Place.FAST_TIER, place(inode));
        assertArrayEquals(content, Files.readAllBytes(backing));
    }

    @Test
    void whatAMigrationThrowsEndsItAndTheFileStaysRaw() throws IOException {
        byte[] content = bytes(3_000_000);
        long inode = file("a", content);
        var e = assertThrows(
                InterruptedIOException.class,
                () -> volume.fastTier().migrate(inode, read -> {
                    throw new InterruptedIOException("stopped");
                }));
        assertEquals("stopped", e.getMessage());
        assertEquals(Place.FAST_TIER, place(inode));
        assertArrayEquals(content, read(inode));
        assertTrue(volume.fastTier().migrate(inode, read -> {}));
        assertEquals(Place.CHUNKS, place(inode));
        assertArrayEquals(content, read(inode));
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void afterAnAttachTheUseIsThatOfTheFilesThatAreThere() throws IOException {
        long inode = file("a", bytes(3_000_000));
        volume.close();
        Path raw = folder.resolve("ssd/raw");
        Path away = folder.resolve("away");
        Files.move(raw, away);
        volume = Volume.open(config);
        FastTier hot = volume.fastTier();
        assertTrue(hot.summary().absent() != null);
        assertEquals(0, hot.lostFiles());
        Files.move(away, raw);
        assertTrue(hot.attach(false));
        assertTrue(hot.summary().absent() == null);
        while (hot.summary().usedBytes() < 3_000_000) {
            Thread.onSpinWait();
        }
        assertEquals(0, hot.lostFiles());
        assertEquals(1, hot.summary().files());
        assertArrayEquals(bytes(3_000_000), read(inode));
    }

    /** What is in chunks as well counts once, also right after a mount or an attach. */
    @Test
    void aFileThatIsInChunksAsWellCountsOnce() throws Exception {
        remount(config(Placement.TDDFS, 1));
        byte[] content = bytes(3_000_000);
        awaitPlace(file("a", content), Place.BOTH);
        volume.close();
        Path raw = folder.resolve("ssd/raw");
        Path away = folder.resolve("away");
        Files.move(raw, away);
        // Copies nothing, so that nothing else looks at the file.
        volume = Volume.open(config(Placement.TDDFS, 0));
        Files.move(away, raw);
        assertTrue(volume.fastTier().attach(false));
        assertMeasuredOnce(content.length);
        remount(config(Placement.TDDFS, 0));
        assertMeasuredOnce(content.length);
    }

    private void assertMeasuredOnce(int bytes) {
        TestWait.until(() -> volume.fastTier().summary().usedBytes() >= bytes);
        assertTrue(volume.context().raws().all().stream().allMatch(RawFile::isKnownCopied));
    }

    @Test
    void aFolderDecidesWhereItsNewFilesLie() throws IOException {
        long archive = volume.makeDirectory(Inode.ROOT, "archive".getBytes(UTF_8), 0700, OWNER)
                .inode();
        volume.setExtendedAttribute(
                archive, Placement.ATTRIBUTE.getBytes(UTF_8), "sar".getBytes(UTF_8), SetMode.CREATE_OR_REPLACE);
        long below = volume.makeDirectory(archive, "below".getBytes(UTF_8), 0700, OWNER)
                .inode();
        long inode = volume.makeNode(below, "a".getBytes(UTF_8), Modes.REGULAR | 0600, 0, OWNER)
                .inode();
        write(inode, 0, bytes(1000));
        assertEquals(Place.CHUNKS, place(inode));
        assertEquals(Placement.SAR, volume.fastTier().newFilesIn(below));
        assertEquals(Placement.TDDFS, volume.fastTier().newFilesIn(Inode.ROOT));
        assertThrows(
                PosixException.class,
                () -> volume.setExtendedAttribute(
                        archive,
                        Placement.ATTRIBUTE.getBytes(UTF_8),
                        "ssd".getBytes(UTF_8),
                        SetMode.CREATE_OR_REPLACE));
    }

    /** As the kernel finds files by READDIRPLUS, and opens them without a look-up. */
    @Test
    void aFileThatWasFoundInAListingHasThePlacementOfItsFolder() throws IOException {
        long archive = volume.makeDirectory(Inode.ROOT, "archive".getBytes(UTF_8), 0700, OWNER)
                .inode();
        volume.setExtendedAttribute(
                archive, Placement.ATTRIBUTE.getBytes(UTF_8), "sar".getBytes(UTF_8), SetMode.CREATE_OR_REPLACE);
        long old = volume.makeNode(archive, "old".getBytes(UTF_8), Modes.REGULAR | 0600, 0, OWNER)
                .inode();
        long young = make("new");
        remount();
        volume.list(archive, 0, true, (name, inode, type, cookie, attributes) -> true);
        volume.list(Inode.ROOT, 0, true, (name, inode, type, cookie, attributes) -> true);
        write(old, 0, bytes(1000));
        assertEquals(Place.CHUNKS, place(old));
        write(young, 0, bytes(1000));
        assertEquals(Place.FAST_TIER, place(young));
        remount();
        long unknown = make("unknown");
        remount();
        write(unknown, 0, bytes(1000));
        assertEquals(Place.FAST_TIER, place(unknown), "as the volume wants it, if its folder is not known");
    }

    @Test
    void aFileThatIsMovedGetsThePlacementOfItsNewFolder() throws IOException {
        long archive = volume.makeDirectory(Inode.ROOT, "archive".getBytes(UTF_8), 0700, OWNER)
                .inode();
        volume.setExtendedAttribute(
                archive, Placement.ATTRIBUTE.getBytes(UTF_8), "sar".getBytes(UTF_8), SetMode.CREATE_OR_REPLACE);
        long inode = make("a");
        volume.rename(Inode.ROOT, "a".getBytes(UTF_8), archive, "a".getBytes(UTF_8), RenameMode.REPLACE);
        write(inode, 0, bytes(1000));
        assertEquals(Place.CHUNKS, place(inode));
    }

    @Test
    void useAboveTheThresholdMigratesTheOldest() throws IOException {
        long first = file("0", bytes(10_000_000));
        for (int i = 1; i < 6; i++) {
            file("" + i, bytes(10_000_000 + i));
        }
        awaitPlace(first, Place.CHUNKS);
        while (volume.fastTier().status().usedBytes() > 40L << 20) {
            Thread.onSpinWait();
        }
        assertFalse(volume.fastTier().status().files() == 0);
        assertArrayEquals(bytes(10_000_000), read(first));
    }

    @Test
    void openingAnEmptyFileForWritingChangesNoTime() throws IOException {
        long inode = volume.makeNode(Inode.ROOT, "empty".getBytes(UTF_8), Modes.REGULAR | 0644, 0, OWNER)
                .inode();
        volume.change(inode, new AttributeChange(null, null, null, null, null, 5_000_000_000L, 6_000_000_000L));
        OpenFile file = volume.open(inode, true);
        assertEquals(Place.FAST_TIER, volume.fastTier().explain(inode).place());
        assertEquals(5_000_000_000L, volume.attributes(inode).modifiedNs());
        assertEquals(6_000_000_000L, volume.attributes(inode).changedNs());
        volume.write(file, 0, ByteBuffer.wrap(bytes(10)));
        assertTrue(volume.attributes(inode).modifiedNs() > 6_000_000_000L, "a write sets the time");
        assertTrue(volume.attributes(inode).changedNs() > 6_000_000_000L, "a write sets the time");
        volume.close(file);
    }
}
