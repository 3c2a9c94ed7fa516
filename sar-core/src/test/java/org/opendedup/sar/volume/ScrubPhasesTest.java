package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.hot.copies.SeenSsd;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.ScrubPhase;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.ssd.AttachedSsd;
import org.opendedup.sar.ssd.Cause;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.volume.care.VolumeScrub;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.store.Ballasts;
import org.opendedup.sar.volume.store.ChunkIndexes;
import org.opendedup.sar.volume.store.VolumeLocations;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * What a scrub finds on the SSD and in the index. The verification of the containers, which comes before, finds nothing
 * in each of these tests: it is the control.
 */
final class ScrubPhasesTest {
    private static final int CHUNK = 4096;
    /** Short enough for a run of its own to be promoted. */
    private static final int FILE_CHUNKS = 16;

    private static final int SHARED_FILES = 4;
    /** Chunks of a container that a scrub looks up in the index. */
    private static final int INDEX_SAMPLE = 16;

    private static final int COPIES = SHARED_FILES * FILE_CHUNKS;
    private static final HotSettings SETTINGS =
            new HotSettings(true, 64 << 20, 3, 128 << 10, true, 1000, HotSettings.Policy.REFERENCE_COUNT);

    @MemoryFolder
    Path folder;

    private final SplittableRandom random = new SplittableRandom(TestSeed.next());
    private final SeenSsd seen = new SeenSsd();
    private final List<byte[]> shared = new ArrayList<>();
    private final Set<ScrubPhase> phases = EnumSet.noneOf(ScrubPhase.class);
    private Path ssd;
    private VolumeConfig config;

    @AutoClose
    private Volume volume;

    private boolean hasIndex = true;
    /** What the comparison of references has to find. */
    private int wrongReferences;

    @BeforeEach
    void make() throws IOException {
        ssd = folder.resolve("ssd");
        config = VolumeConfigs.in(folder, 1L << 40, Chunking.SHA256).withSsd(ssd, SETTINGS);
        Volume.create(config);
        open();
        for (int i = 0; i < SHARED_FILES; i++) {
            byte[] bytes = bytes(FILE_CHUNKS);
            shared.add(bytes);
            for (int copy = 0; copy < 4; copy++) {
                write(i + "." + copy, bytes);
            }
        }
        // Closing writes the queued chunks.
        reopen();
        assertEquals(COPIES, volume.hot().status().mapTableEntries());
    }

    private void open() throws IOException {
        VolumeStores opened = VolumeLocations.open(config, Ballasts.none());
        ChunkIndex index = opened.index();
        if (!hasIndex) {
            index.close();
            index = ChunkIndexes.none();
        }
        volume = Volume.open(
                config,
                new VolumeStores(opened.containers(), opened.metadata(), index, opened.clock(), seen, opened.devices()),
                Verification.CHECKSUMS);
    }

    private void reopen() throws IOException {
        volume.close();
        open();
    }

    private byte[] bytes(int chunks) {
        byte[] bytes = new byte[chunks * CHUNK];
        random.nextBytes(bytes);
        return bytes;
    }

    private void write(String name, byte[] bytes) throws IOException {
        GarbageTrial.store(volume, name, bytes);
    }

    private byte[] read(String name, int bytes) throws IOException {
        OpenFile file =
                volume.open(volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode(), false);
        ByteBuffer found = ByteBuffer.allocate(bytes);
        while (found.hasRemaining() && volume.read(file, found.position(), found) > 0) {}
        volume.close(file);
        return found.array();
    }

    private VolumeScrub scrub() {
        return volume.maintenance().scrub();
    }

    private ScrubTotals scrubAll() throws IOException {
        phases.clear();
        ScrubTotals totals = scrub().run((verified, rest, next) -> {
                    phases.add(next.phase());
                    return true;
                })
                .totals();
        assertEquals(0, totals.damagedFrames() + totals.damagedContainers() + totals.contradictions());
        assertEquals(new ScrubTotals.References(wrongReferences, 0, false), totals.references());
        return totals;
    }

    private AttachedSsd attached() {
        return Objects.requireNonNull(seen.ssd);
    }

    private List<MapEntry> entries() {
        List<MapEntry> entries = new ArrayList<>();
        attached().forEach(entry -> {
            MapEntry copy = new MapEntry();
            assertTrue(attached().get(entry.chunkId, copy));
            entries.add(copy);
        });
        return entries;
    }

    private Path segment(MapEntry entry) {
        return ssd.resolve("segments").resolve(String.format("%05d.segment", entry.segment));
    }

    private void assertServed() throws IOException {
        for (int i = 0; i < SHARED_FILES; i++) {
            assertArrayEquals(shared.get(i), read(i + ".3", shared.get(i).length));
        }
    }

    @Test
    void allOfASoundVolumeIsVerified() throws IOException {
        ScrubTotals totals = scrubAll();
        assertTrue(totals.isClean());
        assertEquals(new ScrubTotals.Ssd(COPIES, attached().liveBytes(), 0, 0, false), totals.ssd());
        assertEquals(new ScrubTotals.Index(COPIES, 0, 0, totals.index().chunks(), 0, false), totals.index());
        assertEquals(INDEX_SAMPLE, totals.index().chunks(), "chunks of the one container");
        assertEquals(totals.bytes() + attached().liveBytes(), totals.allBytes());
        assertEquals(EnumSet.allOf(ScrubPhase.class), phases);
        reopen();
        ScrubRecord last = scrub().last();
        assertNotNull(last);
        assertEquals(totals, last.totals());
    }

    @Test
    void aFlippedBitOfACopyIsFoundAndTheCopyDroppedAndTheVolumeLosesNothing() throws IOException {
        for (int round = 1; round <= 10; round++) {
            List<MapEntry> entries = entries();
            assertEquals(COPIES - round + 1, entries.size(), "control: nobody has met the wrong copy before");
            MapEntry entry = entries.get(random.nextInt(entries.size()));
            byte[] all = Files.readAllBytes(segment(entry));
            int at = entry.offset + random.nextInt(entry.length);
            all[at] ^= (byte) (1 << random.nextInt(8));
            Files.write(segment(entry), all);
            ScrubTotals totals = scrubAll();
            assertEquals(1, totals.ssd().wrong(), totals::toString);
            assertEquals(entries.size(), totals.ssd().copies());
            assertFalse(attached().contains(entry.chunkId));
            assertTrue(totals.isClean(), "no file is affected");
        }
        assertEquals(0, scrubAll().ssd().wrong());
        reopen();
        assertEquals(COPIES - 10, volume.hot().status().mapTableEntries());
        // The first read brings sound copies of what the frames lack.
        assertServed();
        assertServed();
    }

    /** Writes the record of one chunk in the place of another, as a sound record of that other chunk. */
    private void forge(MapEntry place, MapEntry source) throws IOException {
        ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(segment(place))).order(ByteOrder.LITTLE_ENDIAN);
        byte[] record = new byte[source.length];
        all.get(source.offset, record);
        ByteBuffer forged = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
        forged.putLong(8, place.chunkId);
        int crcAt = 56 + forged.getInt(20);
        CRC32C crc = new CRC32C();
        crc.update(all.array(), 24, 8);
        crc.update(record, 0, crcAt);
        forged.putInt(crcAt, (int) crc.getValue());
        System.arraycopy(record, 0, all.array(), place.offset, record.length);
        Files.write(segment(place), all.array());
    }

    @Test
    void aSoundCopyOfOtherContentIsFoundByTheDirectoryOfItsContainer() throws IOException {
        MapEntry place = entries().get(0);
        MapEntry source = entries().get(1);
        assertEquals(source.length, place.length, "random bytes are stored without compression");
        forge(place, source);
        ScrubTotals totals = scrubAll();
        assertEquals(1, totals.ssd().wrong(), totals::toString);
        assertFalse(attached().contains(place.chunkId));
        assertEquals(0, attached().statistics().badRecords(), "control: its checksum and its fingerprint hold");
        assertServed();
    }

    @Test
    void aCopyOfAChunkThatIsNotStoredIsRemoved() throws IOException {
        byte[] bytes = bytes(1);
        long nobodys = ChunkId.of(ChunkId.container(entries().get(0).chunkId), 9_000);
        ScrubTotals totals = ScrubTotals.NONE;
        // The search for unreferenced copies, which runs once after an SSD was attached, may find it first.
        for (int i = 0; i < 5 && totals.ssd().leadingNowhere() == 0; i++) {
            int prefix = Fingerprints.fingerprintPrefix(sha256(bytes), 0);
            assertEquals(
                    OfferAnswer.TAKEN, attached().offer(nobodys, prefix, 5, 50, Cause.values()[0], bytes, 0, CHUNK));
            while (attached().contains(nobodys) && !attached().holds(nobodys)) {
                Thread.onSpinWait();
            }
            totals = scrubAll();
        }
        assertEquals(1, totals.ssd().leadingNowhere(), totals::toString);
        assertFalse(attached().contains(nobodys));
        assertEquals(0, scrubAll().ssd().leadingNowhere());
    }

    @Test
    void anSsdThatIsNotInUseIsPassedOver() throws IOException {
        volume.hot().detach();
        ScrubTotals totals = scrubAll();
        assertEquals(new ScrubTotals.Ssd(0, 0, 0, 0, true), totals.ssd());
        assertTrue(totals.isClean());
        volume.hot().attach(ssd);
        assertEquals(
                new ScrubTotals.Ssd(COPIES, attached().liveBytes(), 0, 0, false),
                scrubAll().ssd());
    }

    @ParameterizedTest
    @EnumSource(ScrubPhase.class)
    void aScrubThatIsStoppedInAPhaseGoesOnThere(ScrubPhase phase) throws IOException {
        ScrubTotals whole = scrubAll();
        assertThrows(InterruptedIOException.class, () -> scrub().run((totals, rest, next) -> next.phase() != phase));
        reopen();
        ScrubRecord stopped = scrub().current();
        assertNotNull(stopped);
        assertEquals(phase, stopped.next().phase());
        assertFalse(stopped.isComplete());
        assertEquals(whole, scrubAll());
        Set<ScrubPhase> rest = EnumSet.range(phase, ScrubPhase.INDEX);
        assertEquals(rest, phases, "what was verified before is not verified again");
    }

    @ParameterizedTest
    @EnumSource(ScrubPhase.class)
    void aScrubThatDiesInAPhaseGoesOnThere(ScrubPhase phase) throws IOException {
        ScrubTotals whole = scrubAll();
        assertThrows(
                IllegalStateException.class,
                () -> scrub().run((totals, rest, next) -> {
                    if (next.phase() == phase) {
                        throw new IllegalStateException("it dies");
                    }
                    return true;
                }));
        reopen();
        ScrubRecord died = scrub().current();
        assertNotNull(died);
        assertEquals(phase, died.next().phase());
        assertEquals(whole, scrubAll());
        assertEquals(EnumSet.range(phase, ScrubPhase.INDEX), phases);
    }

    private ChunkIndex index() {
        return volume.context().index();
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void anEntryThatNamesAnotherChunkIsRemovedBeforeAWriterBelievesIt() throws IOException {
        byte[] first = bytes(1);
        byte[] second = bytes(1);
        long other = entries().get(0).chunkId;
        index().insert(sha256(first), 0, other);
        index().insert(sha256(second), 0, other);
        assertTrue(scrub().last() == null, "control: no scrub has looked at the index");
        write("first", first);
        wrongReferences = 1;
        ScrubTotals totals = scrubAll();
        assertEquals(2, totals.index().wrong(), totals::toString);
        assertFalse(totals.isClean());
        assertTrue(totals.index().shouldBeMadeAnew());
        write("second", second);
        assertArrayEquals(second, read("second", CHUNK));
        assertThrows(
                IOException.class,
                () -> read("first", CHUNK),
                "control: before the scrub, a writer took what the index named for the same content");
        // The reader took the chunk for damaged, and not the reference.
        volume.maintenance().heal().run(soFar -> true);
        ScrubTotals again = scrubAll();
        assertEquals(0, again.index().wrong() + again.index().stale(), again::toString);
    }

    @Test
    void entriesThatNameNoStoredChunkAreRemoved() throws IOException {
        long container = ChunkId.container(entries().get(0).chunkId);
        List<byte[]> stale = List.of(sha256(bytes(1)), sha256(bytes(1)));
        index().insert(stale.get(0), 0, ChunkId.of(container, 9_000));
        index().insert(stale.get(1), 0, ChunkId.of(container + 1_000_000, 3));
        ScrubTotals totals = scrubAll();
        assertEquals(2, totals.index().stale(), totals::toString);
        assertEquals(0, totals.index().wrong());
        assertTrue(totals.isClean(), "they cost nothing");
        for (byte[] fingerprint : stale) {
            index().forEachAfter(
                            null, Integer.MAX_VALUE, (found, chunk) -> assertFalse(Arrays.equals(fingerprint, found)));
        }
        assertEquals(0, scrubAll().index().stale());
    }

    private List<Finding> checked() throws IOException {
        return volume.maintenance().check().run((step, done, of) -> {}).findings();
    }

    /** A check compares all entries of the index, and changes none. */
    @Test
    void aCheckNamesWhatAScrubRemovesFromTheIndex() throws IOException {
        assertEquals(List.of(), checked(), "control");
        long other = entries().get(0).chunkId;
        byte[] wrong = sha256(bytes(1));
        index().insert(wrong, 0, other);
        index().insert(sha256(bytes(1)), 0, ChunkId.of(ChunkId.container(other), 9_000));
        index().insert(sha256(bytes(1)), 0, ChunkId.of(ChunkId.container(other) + 1_000_000, 3));
        for (int round = 0; round < 2; round++) {
            List<Finding> found = checked();
            assertEquals(
                    List.of(Finding.Severity.DEFECT, Finding.Severity.NOTE),
                    found.stream().map(Finding::severity).toList(),
                    found::toString);
            assertTrue(found.stream().allMatch(finding -> finding.kind() == Finding.Kind.INDEX));
            assertTrue(found.get(0).what().startsWith("1 of " + (COPIES + 3)), found::toString);
            assertTrue(found.get(0).what().contains(Fingerprints.toHex(wrong, 0)), found::toString);
            assertTrue(found.get(1).what().startsWith("2 of "), found::toString);
            assertTrue(found.get(0)
                    .mend()
                    .contains(" unmount && find '" + config.locations().hashDb()));
        }
        scrubAll();
        assertEquals(List.of(), checked());
    }

    /** More entries than are read with one cursor, and than a scrub samples. */
    @Test
    void aCheckComparesAllEntriesOfALargeIndex() throws IOException {
        write("large", bytes(9_000));
        long other = entries().get(0).chunkId;
        for (int i = 0; i < 400; i++) {
            index().insert(sha256(bytes(1)), 0, other);
        }
        List<Finding> found = checked();
        assertEquals(1, found.size(), found::toString);
        assertTrue(found.get(0).what().startsWith("400 of " + (COPIES + 9_400)), found::toString);
    }

    @Test
    void aCheckNamesEntriesOfTheMapTableThatLeadNowhere() throws IOException {
        byte[] bytes = bytes(1);
        long nobodys = ChunkId.of(ChunkId.container(entries().get(0).chunkId), 9_000);
        List<Finding> found = List.of();
        // The search for unreferenced copies, which runs once after an SSD was attached, may find it first.
        for (int i = 0; i < 5 && found.isEmpty(); i++) {
            int prefix = Fingerprints.fingerprintPrefix(sha256(bytes), 0);
            assertEquals(
                    OfferAnswer.TAKEN, attached().offer(nobodys, prefix, 5, 50, Cause.values()[0], bytes, 0, CHUNK));
            while (attached().contains(nobodys) && !attached().holds(nobodys)) {
                Thread.onSpinWait();
            }
            found = checked();
        }
        assertEquals(1, found.size(), found::toString);
        assertEquals(Finding.Kind.SSD, found.get(0).kind());
        assertEquals(Finding.Severity.NOTE, found.get(0).severity());
        assertTrue(found.get(0).what().startsWith("1 of " + (COPIES + 1)), found::toString);
        assertTrue(attached().contains(nobodys), "a check removes nothing");
        scrubAll();
        assertEquals(List.of(), checked());
    }

    @Test
    void aCheckSaysThatTheSsdIsNotInUse() throws IOException {
        volume.hot().detach();
        List<Finding> found = checked();
        assertEquals(1, found.size(), found::toString);
        assertEquals(Finding.Kind.NOT_CHECKED, found.get(0).kind());
        assertEquals(Finding.Severity.NOTE, found.get(0).severity());
    }

    @Test
    void storedChunksThatTheIndexDoesNotHaveAreCounted() throws IOException {
        assertEquals(0, scrubAll().index().notIndexed(), "control");
        TreeMap<Long, BitSet> slots = new TreeMap<>();
        entries()
                .forEach(entry -> slots.computeIfAbsent(ChunkId.container(entry.chunkId), id -> new BitSet())
                        .set(ChunkId.slot(entry.chunkId)));
        for (long container : slots.keySet()) {
            SealedContainer directory = volume.context().containers().directory(container);
            index().remove(container, directory.fingerprints(), slots.get(container));
        }
        ScrubTotals totals = scrubAll();
        assertTrue(totals.index().chunks() > 0);
        assertEquals(totals.index().chunks(), totals.index().notIndexed());
        assertTrue(totals.isClean(), "a note");
    }

    @Test
    void anIndexThatIsNotInUseIsPassedOver() throws IOException {
        volume.close();
        hasIndex = false;
        open();
        ScrubTotals totals = scrubAll();
        assertTrue(totals.index().passedOver());
        assertTrue(totals.isClean());
    }

    @Test
    void aLargeIndexIsSampled() throws IOException {
        write("large", bytes(8_000));
        long other = entries().get(0).chunkId;
        for (int i = 0; i < 400; i++) {
            index().insert(sha256(bytes(1)), 0, other);
        }
        index().flush();
        ScrubTotals totals = scrubAll();
        assertTrue(totals.index().entries() > 2_000 && totals.index().entries() <= 4_096, totals::toString);
        assertTrue(totals.index().wrong() > 0 && totals.index().wrong() < 400, totals::toString);
    }
}
