package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.ReadOnlyDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawNumbers;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.raw.FastTier.Place;
import org.opendedup.sar.volume.store.VolumeStores;

/** What is written to migrated files stays on the fast tier until they are migrated again. */
class ChangedBytesTest {
    private static final Owner OWNER = new Owner(0, 0, 0);
    private static final int FILE_BYTES = 1 << 20;

    private final VolumeConfig config =
            RawStores.of(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256));
    private final CrashDirectory data = new CrashDirectory(1);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private CrashRawFolder raw = new CrashRawFolder(1);
    private final byte[] expected = new byte[FILE_BYTES];

    @AutoClose
    private Volume volume;

    private long inode;

    @BeforeEach
    void migrateAFile() throws IOException {
        Volume.create(config, data, metadata, InstantSource.system());
        open();
        new Random(1).nextBytes(expected);
        inode = make("file", expected);
        assertTrue(volume.fastTier().migrate(inode));
        giveBack();
        assertEquals(List.of(), raw.numbers());
    }

    private void open() throws IOException {
        VolumeStores stores =
                new VolumeStores(data, metadata, new HeapChunkIndex(), InstantSource.system()).withRaw(volumeId -> raw);
        volume = Volume.open(config, stores, Verification.FINGERPRINTS);
    }

    private void remount() throws IOException {
        volume.close();
        open();
    }

    private long make(String name, byte[] bytes) throws IOException {
        long made = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), Modes.REGULAR | 0600, 0, OWNER)
                .inode();
        OpenFile file = volume.open(made, true);
        volume.write(file, 0, ByteBuffer.wrap(bytes));
        volume.close(file);
        return made;
    }

    /** Writes to the file, and to what is expected of it. */
    private void change(long offset, int length) throws IOException {
        byte[] bytes = new byte[length];
        new Random(offset).nextBytes(bytes);
        OpenFile file = volume.open(inode, true);
        volume.write(file, offset, ByteBuffer.wrap(bytes));
        volume.close(file);
        System.arraycopy(bytes, 0, expected, (int) offset, length);
    }

    private byte[] read(long of) throws IOException {
        byte[] found = new byte[(int) volume.attributes(of).size()];
        OpenFile file = volume.open(of, false);
        try {
            assertEquals(found.length, volume.read(file, 0, ByteBuffer.wrap(found)));
        } finally {
            volume.close(file);
        }
        return found;
    }

    private void giveBack() throws IOException {
        volume.commit();
        volume.commit();
        volume.context().raws().deleteDead();
    }

    private long changedBytes() throws IOException {
        return volume.fastTier().explain(inode).changedBytes();
    }

    @Test
    void whatIsWrittenStaysOnTheFastTierUntilTheFileIsMigratedAgain() throws IOException {
        change(100_000, 70_000);
        change(500_000, 3);
        volume.sync();
        assertEquals(70_003, changedBytes());
        assertEquals(1, raw.numbers().size());
        assertTrue(RawNumbers.isPart(raw.numbers().get(0)));
        assertEquals(Place.CHUNKS, volume.fastTier().explain(inode).place());
        assertArrayEquals(expected, read(inode));
        remount();
        assertEquals(70_003, changedBytes());
        assertArrayEquals(expected, read(inode));
        assertTrue(volume.fastTier().migrate(inode));
        assertEquals(0, changedBytes());
        assertArrayEquals(expected, read(inode));
        giveBack();
        assertEquals(List.of(), raw.numbers());
        assertEquals(List.of(), VolumeChecker.check(volume));
        remount();
        assertArrayEquals(expected, read(inode));
    }

    /** TDDFS paper, §3.2: a file of at most the largest chunk is one chunk. */
    @Test
    void aSmallFileIsOneChunk() throws IOException {
        byte[] small = Arrays.copyOf(expected, 16 << 10);
        byte[] longer = Arrays.copyOf(expected, 64 << 10);
        long one = make("small", small);
        long many = make("longer", longer);
        assertTrue(volume.fastTier().migrate(one));
        assertTrue(volume.fastTier().migrate(many));
        assertEquals(1, chunks(one));
        assertTrue(chunks(many) > 1, "the control");
        assertArrayEquals(small, read(one));
        assertArrayEquals(longer, read(many));
    }

    private int chunks(long of) throws IOException {
        return volume.context().metadata().recipes().page(of, 0).count();
    }

    @Test
    void onlyWhatWasChangedIsStored() throws IOException {
        long before = volume.context().containers().storedBytes();
        change(300_000, 5_000);
        volume.sync();
        assertEquals(before, volume.context().containers().storedBytes(), "while it is on the fast tier");
        volume.fastTier().migrate(inode);
        volume.commit();
        long stored = volume.context().containers().storedBytes() - before;
        assertTrue(stored > 4_000 && stored < 100_000, stored + " bytes");
    }

    @Test
    void aFileThatIsTruncatedOrPunchedForgetsWhatIsThere() throws IOException {
        change(600_000, 200_000);
        volume.sync();
        OpenFile file = volume.open(inode, true);
        volume.zero(file, 650_000, 50_000, true);
        volume.close(file);
        Arrays.fill(expected, 650_000, 700_000, (byte) 0);
        assertEquals(150_000, changedBytes());
        assertArrayEquals(expected, read(inode));
        truncate(750_000);
        assertEquals(100_000, changedBytes());
        truncate(FILE_BYTES);
        Arrays.fill(expected, 750_000, FILE_BYTES, (byte) 0);
        assertArrayEquals(expected, read(inode));
        remount();
        assertArrayEquals(expected, read(inode));
        truncate(0);
        assertEquals(0, changedBytes());
        giveBack();
        assertEquals(List.of(), raw.numbers());
    }

    private void truncate(long size) throws IOException {
        volume.change(inode, AttributeChange.ofTruncation(size, Instant.now()));
    }

    /** Bytes of a range that a durable record has must not change before a durable record lacks the range. */
    @Test
    void aRangeThatWasDroppedIsNotWrittenAgainBeforeTheCommit() throws IOException {
        change(0, 100_000);
        volume.sync();
        truncate(50_000);
        truncate(FILE_BYTES);
        Arrays.fill(expected, 50_000, FILE_BYTES, (byte) 0);
        change(60_000, 20_000);
        volume.context().writer().storeEverything();
        assertEquals(50_000, changedBytes(), "in chunks");
        assertArrayEquals(expected, read(inode));
        volume.commit();
        change(60_000, 20_000);
        volume.context().writer().storeEverything();
        assertEquals(70_000, changedBytes(), "the control");
        assertArrayEquals(expected, read(inode));
    }

    @Test
    void aCloneHasWhatWasChanged() throws IOException {
        change(200_000, 30_000);
        volume.sync();
        long clone = make("clone", new byte[1]);
        volume.fastTier().migrate(clone);
        OpenFile source = volume.open(inode, false);
        OpenFile target = volume.open(clone, true);
        assertEquals(FILE_BYTES, volume.copy(source, 0, target, 0, FILE_BYTES));
        volume.close(source);
        volume.close(target);
        assertArrayEquals(expected, read(clone));
        assertArrayEquals(expected, read(inode));
    }

    @Test
    void aFastTierThatLostWhatWasChangedLeavesTheOlderBytes() throws IOException {
        byte[] before = expected.clone();
        change(400_000, 9_000);
        volume.sync();
        volume.close();
        CrashRawFolder empty = new CrashRawFolder(2);
        empty.setEpoch(raw.epoch());
        raw = empty;
        open();
        assertArrayEquals(before, read(inode));
        assertEquals(0, changedBytes());
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void aFastTierThatIsAbsentMakesOnlyWhatIsThereUnreadable() throws IOException {
        change(400_000, 9_000);
        volume.sync();
        raw.setGone(true);
        OpenFile file = volume.open(inode, false);
        try {
            assertEquals(1000, volume.read(file, 0, ByteBuffer.allocate(1000)));
            assertThrows(IOException.class, () -> volume.read(file, 400_000, ByteBuffer.allocate(1000)));
        } finally {
            volume.close(file);
            raw.setGone(false);
        }
        assertArrayEquals(expected, read(inode), "the control");
    }

    @Test
    void aFastTierWithoutSpaceTakesNothing() throws IOException {
        raw.setFull(true);
        change(400_000, 90_000);
        volume.sync();
        assertEquals(0, changedBytes());
        assertArrayEquals(expected, read(inode));
        remount();
        assertArrayEquals(expected, read(inode));
    }

    /** The bytes of a range are durable before the record that has it. */
    @Test
    void whatACommitHasSurvivesACrash() throws IOException {
        change(100_000, 70_000);
        volume.sync();
        change(120_000, 9_000);
        volume.context().writer().storeEverything();
        assertEquals(70_000, changedBytes());
        volume.commit();
        Volume running = volume;
        for (int seed = 0; seed < 20; seed++) {
            VolumeStores left = new VolumeStores(
                            data.crash(seed), metadata.crash(seed), new HeapChunkIndex(), InstantSource.system())
                    .withRaw(raw.crash(seed).opener());
            try (Volume after = Volume.open(config, left, Verification.FINGERPRINTS)) {
                volume = after;
                assertArrayEquals(expected, read(inode), "crash " + seed);
            }
        }
        VolumeInMemory.abandon(running);
        volume = null;
    }

    @Test
    void whatIsStoredInChunksReplacesWhatIsOnTheFastTier() throws IOException {
        change(100_000, 70_000);
        volume.sync();
        raw.setFull(true);
        change(90_000, 30_000);
        change(150_000, 1);
        volume.sync();
        assertTrue(changedBytes() > 0 && changedBytes() < 50_000, changedBytes() + " bytes");
        assertArrayEquals(expected, read(inode));
        raw.setFull(false);
        remount();
        assertArrayEquals(expected, read(inode));
    }

    /** The record of a file is written with each change of its ranges, so their number has a limit. */
    @Test
    void aFileWithTooManyRangesIsStoredInChunks() throws IOException {
        Random random = new Random(TestSeed.next());
        int writes = 20_000;
        OpenFile file = volume.open(inode, true);
        for (int i = 0; i < writes; i++) {
            int at = i * (FILE_BYTES / writes) + random.nextInt(FILE_BYTES / writes / 2);
            expected[at] ^= (byte) (1 + random.nextInt(255));
            volume.write(file, at, ByteBuffer.wrap(expected, at, 1));
            if (i % 5_000 == 4_999) {
                volume.context().writer().storeEverything();
            }
        }
        volume.close(file);
        // The background may store them in chunks from now on.
        assertTrue(changedBytes() <= 15_000, changedBytes() + " ranges");
        assertArrayEquals(expected, read(inode));
        remount();
        assertArrayEquals(expected, read(inode));
        volume.fastTier().migrate(inode);
        assertEquals(0, changedBytes());
        assertArrayEquals(expected, read(inode));
        giveBack();
        assertEquals(List.of(), raw.numbers());
        change(500_000, 60);
        volume.context().writer().storeEverything();
        assertEquals(60, changedBytes(), "it can have changed bytes again");
    }

    /** A new fast tier is taken into use while the volume is mounted: nobody has to open the files first. */
    @Test
    void filesThatLostWhatWasChangedCanBeMigratedWithoutAnOpening() throws IOException {
        change(400_000, 9_000);
        volume.sync();
        raw.wipe();
        assertThrows(IOException.class, () -> volume.fastTier().migrate(inode), "the control");
        volume.context().raws().dropLostChanges();
        assertEquals(0, changedBytes());
        assertFalse(volume.fastTier().migrate(inode));
    }

    /** A mount that may write drops what is lost, and says so in the log; one that may not changes nothing. */
    @Test
    void bytesThatTheFastTierHasLostCannotBeReadInAVolumeThatIsOnlyRead() throws IOException {
        change(400_000, 9_000);
        volume.sync();
        volume.close();
        raw.wipe();
        VolumeStores stores = new VolumeStores(
                        new ReadOnlyDirectory(data), metadata, new HeapChunkIndex(), InstantSource.system())
                .withRaw(volumeId -> raw);
        volume = Volume.open(config, stores, Verification.FINGERPRINTS);
        assertThrows(IOException.class, () -> read(inode));
    }

    /** Other ranges under the number of a record that a backup of the metadata has would read as zeros. */
    @Test
    void aRestoredBackupOfTheMetadataFindsNoOtherRangesUnderItsNumber() throws IOException {
        change(100_000, 50_000);
        volume.sync();
        byte[] then = expected.clone();
        long number = raw.numbers().get(0);
        volume.close();
        open();
        volume.fastTier().migrate(inode);
        giveBack();
        change(700_000, 50_000);
        volume.sync();
        remount();
        change(0, 10);
        volume.sync();
        assertEquals(1, raw.numbers().size());
        assertTrue(raw.numbers().get(0) != number, "the number is used again");
        assertArrayEquals(
                Arrays.copyOfRange(then, 100_000, 150_000), Arrays.copyOfRange(read(inode), 100_000, 150_000));
    }

    /** A record whose backing file is of another kind or another inode says nothing that can be used. */
    @Test
    void aRecordThatNamesABackingFileOfAnotherKindIsDamaged() throws IOException {
        long[] numbers = {RawNumbers.part(1, 0), RawNumbers.first(inode + 1)};
        for (long number : numbers) {
            VolumeContext context = volume.context();
            context.committer().changes().lock();
            try {
                context.metadata().raws().put(inode, RawRecord.whole(number, false, false));
            } finally {
                context.committer().changes().unlock();
            }
            remount();
            assertThrows(CorruptionException.class, () -> volume.open(inode, false));
        }
    }

    /** A figure of bytes on the fast tier is what they take there, not the length of the file that has them. */
    @Test
    void theStateCountsTheBytesThatAreThere() throws IOException {
        change(FILE_BYTES - 5_000, 4_096);
        volume.sync();
        FastTier.Status status = volume.fastTier().status();
        assertTrue(status.changedBytes() >= 4_096 && status.changedBytes() <= 8_192, status::toString);
        assertEquals(status.changedBytes(), status.onlyThereBytes());
        assertEquals(0, status.files());
        assertEquals(1, status.changedFiles());
        assertEquals(1, status.onlyThereFiles());
        make("raw", new byte[5_000]);
        FastTier.Summary summary = volume.fastTier().summary();
        assertEquals(List.of(1L, 1L), List.of(summary.files(), summary.changedFiles()));
        volume.fastTier().migrate(inode);
        summary = volume.fastTier().summary();
        assertEquals(List.of(1L, 0L), List.of(summary.files(), summary.changedFiles()));
    }
}
