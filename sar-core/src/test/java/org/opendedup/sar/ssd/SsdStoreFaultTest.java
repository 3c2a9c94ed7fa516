package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.ssd.SsdFixture.offer;
import static org.opendedup.sar.ssd.SsdFixture.promote;
import static org.opendedup.sar.ssd.SsdFixture.range;
import static org.opendedup.sar.ssd.SsdFixture.read;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Output;

/** What the store does if the SSD does not have the written bytes, or fails. Each fault has a control without it. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
final class SsdStoreFaultTest {
    private static final int CHUNKS = 200;

    @TempDir
    Path folder;

    @Parameter
    private boolean isSealed;

    private SsdFixture fixture;
    private FaultyDirectory disk;

    @BeforeEach
    void makeFixture() throws IOException {
        fixture = new SsdFixture(folder);
        fixture.keys = isSealed ? SsdFixture.KEYS : null;
        disk = new FaultyDirectory(FileDirectory.open(Files.createDirectories(folder.resolve("segments"))));
    }

    private Path fill() throws IOException {
        try (SsdStore store = fixture.open()) {
            promote(store, 1, 1 + CHUNKS);
            assertEquals(CHUNKS, read(store, range(1, 1 + CHUNKS)));
        }
        assertEquals(1, fixture.segments().size());
        return fixture.segments().get(0);
    }

    private static void flip(RandomAccessFile file, long at, Random random) throws IOException {
        file.seek(at);
        int old = file.read();
        file.seek(at);
        file.write(old ^ 1 << random.nextInt(8));
    }

    private static MapEntry entryOf(SsdStore store, long chunkId) {
        MapEntry entry = new MapEntry();
        assertTrue(store.table().get(chunkId, entry));
        return entry;
    }

    @Test
    void recordsWithAChangedByteAreDroppedAndNoOthers() throws IOException {
        Random random = new Random(TestSeed.next());
        Path file = fill();
        try (SsdStore store = fixture.open();
                RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            for (int i = 0; i < 50; i++) {
                long chunkId = 1 + 4L * i;
                MapEntry entry = entryOf(store, chunkId);
                long at = entry.offset + random.nextInt(entry.length);
                flip(bytes, at, random);
            }
            assertEquals(CHUNKS - 50, read(store, range(1, 1 + CHUNKS)));
            assertEquals(CHUNKS - 50, store.table().size());
            assertEquals(50, store.statistics().badRecords());
            // Dropped chunks are promoted again.
            promote(store, 1, 1 + CHUNKS);
            assertEquals(CHUNKS, read(store, range(1, 1 + CHUNKS)));
        }
        assertWrongBytesTold(50);
    }

    /** Otherwise the next mount would take the folder for an SSD of this volume that was never filled. */
    @Test
    void aLocationThatIsWipedWhenASegmentBeginsStaysEmpty() throws IOException {
        Directory wiped = new FaultyDirectory(FileDirectory.open(folder.resolve("segments"))) {
            @Override
            public Output create(String name) throws IOException {
                TestFolders.delete(folder);
                Files.createDirectory(folder);
                return super.create(name);
            }
        };
        try (SsdStore store = fixture.open(wiped)) {
            promote(store, 1, 2);
            assertEquals(0, store.table().size());
            assertFalse(Files.exists(folder.resolve("segments")));
        }
    }

    private LogCopies verifyAll(SsdStore store) {
        LogCopies copies = store.copiesFrom(0, 0);
        store.verify(copies, 0, copies.count());
        return copies;
    }

    private static long count(LogCopies copies, LogCopies.State state) {
        return IntStream.range(0, copies.count())
                .filter(i -> copies.state(i) == state)
                .count();
    }

    @Test
    void aVerificationDropsEachCopyWithAChangedByteAndNoOther() throws IOException {
        Random random = new Random(TestSeed.next());
        Path file = fill();
        try (SsdStore store = fixture.open()) {
            LogCopies sound = verifyAll(store);
            assertEquals(CHUNKS, sound.count());
            assertEquals(CHUNKS, count(sound, LogCopies.State.SOUND), "control: nothing is changed yet");
            for (int i = 0; i < CHUNKS; i++) {
                byte[] chunk = SsdFixture.chunk(sound.chunkId(i));
                assertEquals(chunk.length, sound.rawLength(i));
                assertEquals(
                        SsdFixture.fingerprintPrefix(chunk),
                        Fingerprints.fingerprintPrefix(sound.fingerprints(), i * Fingerprints.BYTES));
            }
            try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
                for (int i = 0; i < CHUNKS; i += 4) {
                    long at = sound.offset(i) + random.nextInt(sound.bytes(i));
                    flip(bytes, at, random);
                }
            }
            LogCopies found = verifyAll(store);
            assertEquals(CHUNKS / 4, count(found, LogCopies.State.WRONG));
            assertEquals(CHUNKS - CHUNKS / 4, store.table().size());
            assertEquals(CHUNKS / 4, store.statistics().badRecords());
            assertEquals(CHUNKS - CHUNKS / 4, read(store, range(1, 1 + CHUNKS)));
        }
        assertWrongBytesTold(CHUNKS / 4);
    }

    @Test
    void aVerificationDropsTheCopyAtABadPlaceAndNoneOfADiskThatReadsNothing() throws IOException {
        fill();
        try (SsdStore store = fixture.open(disk)) {
            disk.fault = FaultyDirectory.Fault.READS;
            LogCopies unread = verifyAll(store);
            assertEquals(CHUNKS, count(unread, LogCopies.State.PASSED_OVER));
            assertEquals(CHUNKS, store.table().size(), "the disk may come back");
            assertFalse(fixture.failures.isEmpty(), "it is told");
            fixture.failures.clear();

            disk.fault = FaultyDirectory.Fault.NONE;
            disk.badByte = unread.offset(17) + 5;
            LogCopies found = verifyAll(store);
            assertEquals(LogCopies.State.WRONG, found.state(17));
            assertEquals(CHUNKS - 1, count(found, LogCopies.State.SOUND));
            assertEquals(1, fixture.failures.size());
            assertEquals(CHUNKS - 1, read(store, range(1, 1 + CHUNKS)), "no reader meets the bad place again");
        }
    }

    @Test
    void aVerificationRemovesEntriesWithoutASegment() throws IOException {
        fill();
        try (SsdStore store = fixture.open()) {
            MapEntry lost = entryOf(store, 5);
            lost.segment = 40_000;
            store.table().put(lost);
            LogCopies found = verifyAll(store);
            assertEquals(5, found.chunkId(CHUNKS - 1), "segments from 2^15 on are the last");
            assertEquals(LogCopies.State.NOWHERE, found.state(CHUNKS - 1));
            assertFalse(store.table().contains(5));
            assertEquals(CHUNKS - 1, count(found, LogCopies.State.SOUND));
        }
    }

    private void assertWrongBytesTold(int times) {
        assertEquals(
                Collections.nCopies(times, CorruptionException.class),
                fixture.failures.stream().map(Object::getClass).toList());
    }

    @Test
    void ofASegmentThatWasCutOffWhatIsThereIsServed() throws IOException {
        Path file = fill();
        try (SsdStore store = fixture.open()) {
            long end = entryOf(store, 150).offset + 20L;
            try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
                bytes.setLength(end);
            }
            assertEquals(149, read(store, range(1, 1 + CHUNKS)));
            assertEquals(149, store.table().size());
            assertEquals(51, store.statistics().badRecords());
        }
        try (SsdStore store = fixture.open()) {
            assertEquals(149, store.table().size());
        }
        assertWrongBytesTold(51);
    }

    @Test
    void entriesWhoseBytesAPowerCutTookAreForgottenAtOpening() throws IOException {
        Path file = fill();
        long end;
        try (SsdStore store = fixture.open()) {
            end = entryOf(store, 100).offset;
        }
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.setLength(end);
        }
        try (SsdStore store = fixture.open()) {
            assertEquals(99, store.table().size());
            assertEquals(99, read(store, range(1, 1 + CHUNKS)));
        }
        // Blocks that were never written read as zeros.
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(4096);
            bytes.write(new byte[4096]);
        }
        try (SsdStore store = fixture.open()) {
            int found = read(store, range(1, 1 + CHUNKS));
            assertTrue(found < 99 && found > 90, found + " chunks");
            assertEquals(99 - found, store.statistics().badRecords());
        }
    }

    @Test
    void theRecordOfAnotherChunkIsNotTaken() throws IOException {
        fill();
        try (SsdStore store = fixture.open()) {
            MapEntry entry = entryOf(store, 7);
            entry.chunkId = 8;
            store.table().put(entry);
            assertEquals(0, read(store, 8));
            assertFalse(store.contains(8));
            assertEquals(1, read(store, 7));
        }
    }

    @Test
    void entriesLeftFromAnOlderFileOfThatNumberFindNothingOfTheirs(@TempDir Path other) throws IOException {
        Path file = fill();
        SsdFixture second = new SsdFixture(other);
        second.keys = fixture.keys;
        try (SsdStore store = second.open()) {
            promote(store, 1001, 1001 + CHUNKS);
        }
        // The number was reused, and the removal of the old entries was lost.
        Files.copy(second.segments().get(0), file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        try (SsdStore store = fixture.open()) {
            assertEquals(0, read(store, range(1, 1 + CHUNKS)));
            assertEquals(0, store.table().size());
        }
        // The control: if the entries are of that file, the chunks are found.
        try (SsdStore store = second.open()) {
            assertEquals(CHUNKS, read(store, range(1001, 1001 + CHUNKS)));
        }
    }

    @Test
    void numbersOfSegmentsAreUsedAgainFromTheFirst() throws IOException {
        Files.write(
                folder.resolve("segments").resolve(SegmentFile.name(65535)),
                SegmentFile.header(65535, SsdFixture.TIMELINE.current(), 1, fixture.keys != null)
                        .array());
        try (SsdStore store = fixture.open(disk)) {
            promote(store, 1, 1 + CHUNKS);
            assertEquals(0, entryOf(store, 1).segment);
            assertEquals(CHUNKS, read(store, range(1, 1 + CHUNKS)));
            assertEquals(1, store.statistics().segments());
        }
    }

    @Test
    void aReadThatFailsGoesHomeIsToldAndLeavesTheEntry() throws IOException {
        try (SsdStore store = fixture.open(disk)) {
            promote(store, 1, 1 + CHUNKS);
            disk.fault = FaultyDirectory.Fault.READS;
            assertEquals(0, read(store, 3, 4));
            assertEquals(1, fixture.failures.size());
            assertEquals(1, store.statistics().readFailures());
            disk.fault = FaultyDirectory.Fault.NONE;
            assertEquals(CHUNKS, read(store, range(1, 1 + CHUNKS)));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"WRITES", "READ_ONLY", "FULL"})
    void aDiskThatTakesNoWritesServesReadsAndIsTriedAgain(FaultyDirectory.Fault fault)
            throws IOException, InterruptedException {
        try (SsdStore store = fixture.open(disk)) {
            promote(store, 1, 1 + CHUNKS);
            disk.fault = fault;
            assertEquals(OfferAnswer.TAKEN, offer(store, 1000));
            store.drain();
            assertEquals(1, fixture.failures.size());
            assertEquals(1, store.statistics().writeFailures());
            assertEquals(1, fixture.fate(OfferFate.WRITE_FAILED));
            assertFalse(store.contains(1000));
            assertEquals(CHUNKS, read(store, range(1, 1 + CHUNKS)));

            disk.fault = FaultyDirectory.Fault.NONE;
            while (!store.takesWrites()) {
                OfferAnswer answer = offer(store, 1001);
                // The pause may have ended since it was looked at.
                assertTrue(answer == OfferAnswer.UNAVAILABLE || store.takesWrites(), answer::toString);
                Thread.sleep(20);
            }
            // A disk that was full is tried again with more bytes after a minute, or when an administrator requests it.
            store.resize(fixture.capacity);
            promote(store, 1000, 1100);
            assertEquals(100, read(store, range(1000, 1100)));
            assertEquals(CHUNKS, read(store, range(1, 1 + CHUNKS)));
            assertEquals(1, fixture.failures.size());
        }
    }

    @Test
    void anSsdThatIsWipedWhileItIsInUseIsWrittenNoMore() throws IOException {
        try (SsdStore store = fixture.open()) {
            promote(store, 1, 1 + CHUNKS);
            for (Path file : fixture.segments()) {
                Files.delete(file);
            }
            Files.delete(folder.resolve(LocationFiles.IDENTITY));
            offer(store, 1000);
            store.drain();
            assertEquals(0, read(store, 1000));
            assertEquals(CHUNKS, read(store, range(1, 1 + CHUNKS)), "the files are open");
            IOException told = fixture.failures.get(0);
            assertTrue(told instanceof SsdWriteException && told.getMessage().contains("is gone"), told::toString);
        }
        try (SsdStore store = fixture.open()) {
            assertEquals(0, read(store, range(1, 1 + CHUNKS)));
            promote(store, 1, 1 + CHUNKS);
            assertEquals(CHUNKS, read(store, range(1, 1 + CHUNKS)));
        }
    }

    @Test
    void aDamagedRecordIsNotCopiedByCleaning() throws IOException {
        fixture.capacity = 12 << 20;
        try (SsdStore store = fixture.open()) {
            promote(store, 1, 800);
            Path first = fixture.segments().get(0);
            MapEntry entry = entryOf(store, 10);
            assertEquals(0, entry.segment);
            try (RandomAccessFile bytes = new RandomAccessFile(first.toFile(), "rw")) {
                bytes.seek(entry.offset + 60L);
                bytes.write(new byte[100]);
            }
            // Half of everything is removed, so that the first segment is cleaned when more chunks are offered.
            for (long id : range(1, 800)) {
                if (id % 2 == 1) {
                    store.demote(id);
                }
            }
            for (long id = 2000; entryPlace(store, 12) == 0 && id < 6000; id += 50) {
                promote(store, id, id + 50);
                Arrays.stream(range(id, id + 40)).forEach(store::demote);
            }
            assertTrue(store.statistics().cleanedSegments() > 0);
            assertFalse(store.table().contains(10));
            assertEquals(1, store.statistics().badRecords());
            assertEquals(1, read(store, 12));
        }
    }

    @Test
    void anErrorInTheWritingThreadDoesNotEndIt() throws IOException, InterruptedException {
        fixture.maxEntries = CHUNKS - 1;
        fixture.makeRoom = () -> {
            throw new OutOfMemoryError("a test's");
        };
        try (SsdStore store = fixture.open()) {
            promote(store, 1, 1 + CHUNKS);
            for (int i = 0; i < 100 && fixture.failures.isEmpty(); i++) {
                store.drain();
            }
            assertFalse(fixture.failures.isEmpty());
            fixture.makeRoom = () -> Arrays.stream(range(1, 50)).forEach(store::demote);
            while (!store.takesWrites()) {
                Thread.sleep(20);
            }
            promote(store, 1000, 1010);
            assertEquals(10, read(store, range(1000, 1010)));
        }
    }

    @Test
    void aLocationIsOpenedAgainOnlyWhenNothingIsWrittenThereAnyMore() throws Exception {
        fixture.maxEntries = CHUNKS - 1;
        CountDownLatch hangs = new CountDownLatch(1);
        CountDownLatch answers = new CountDownLatch(1);
        SsdStore store = fixture.open();
        promote(store, 1, 1 + CHUNKS);
        fixture.makeRoom = () -> {
            hangs.countDown();
            Uninterruptibles.awaitUninterruptibly(answers);
        };
        offer(store, 1000);
        hangs.await();
        IOException refused = assertThrows(IOException.class, fixture::open);
        assertTrue(refused.getMessage().contains("in use"), refused.getMessage());
        answers.countDown();
        store.close();
        fixture.makeRoom = () -> {};
        fixture.maxEntries = CHUNKS;
        try (SsdStore again = fixture.open()) {
            assertEquals(CHUNKS, read(again, range(1, 1 + CHUNKS)));
        }
    }

    @Test
    void aChunkThatIsDemotedOnItsWayDoesNotArrive() throws Exception {
        fixture.maxEntries = CHUNKS - 1;
        CountDownLatch waits = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        try (SsdStore store = fixture.open()) {
            promote(store, 1, 1 + CHUNKS);
            fixture.makeRoom = () -> {
                waits.countDown();
                Uninterruptibles.awaitUninterruptibly(goesOn);
                Arrays.stream(range(1, 100)).forEach(store::demote);
            };
            offer(store, 1000);
            waits.await();
            offer(store, 1001);
            offer(store, 1002);
            assertTrue(store.demote(1000), "it is being written");
            assertTrue(store.demote(1001), "it waits");
            goesOn.countDown();
            store.drain();
            assertEquals(1, read(store, 1000, 1001, 1002));
            assertTrue(store.contains(1002));
            assertFalse(store.contains(1000) || store.contains(1001));
        }
    }

    @Test
    void aDatabaseThatCannotBeOpenedNowIsNotMadeAnew() throws IOException {
        fill();
        try (MapDatabase inUse = MapDatabase.open(folder.resolve("map"))) {
            IOException refused = assertThrows(IOException.class, fixture::open);
            assertFalse(refused instanceof CorruptionException, refused::toString);
            inUse.forEach(entry -> assertEquals((int) entry.chunkId % 100, entry.count));
        }
        try (SsdStore store = fixture.open()) {
            assertEquals(CHUNKS, store.table().size());
            assertEquals(7, entryOf(store, 107).count, "segments do not know it: it comes from the database");
        }
    }

    private static int entryPlace(SsdStore store, long chunkId) {
        return entryOf(store, chunkId).segment;
    }
}
