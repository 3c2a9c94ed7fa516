package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.ScrubCursor;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.volume.care.VolumeScrub;

/** What a scrub verifies, what it finds, and how it goes on after a stop. */
final class VolumeScrubTest extends OpenVolumeTrial {
    private static final int FRAME_HEADER_BYTES = 48;
    private static final int CONTAINER_HEADER_BYTES = 32;
    private static final long NEVER_MS = 1L << 40;

    private VolumeScrub scrubs() {
        return volume.maintenance().scrub();
    }

    private ScrubRecord scrubAll() throws IOException {
        return scrubs().run((totals, rest, next) -> true);
    }

    @Test
    void aSoundVolumeIsVerifiedWholeAndTheResultIsKept() throws IOException {
        store("a", 9 * MIB);
        store("b", 5 * MIB);
        volume.unlink(Inode.ROOT, "b".getBytes(UTF_8));
        volume.sync();
        reopen();
        volume.collector().collect(new CollectionLimits(0, false), (done, of, returned) -> true);
        long[] table = new long[2];
        volume.context().metadata().containers().forEach(entry -> {
            table[0]++;
            table[1] += entry.stored().bytes();
        });
        ScrubRecord record = scrubAll();
        assertTrue(record.totals().isClean(), record::toString);
        assertEquals(table[0], record.totals().containers());
        assertEquals(table[1], record.totals().bytes());
        assertTrue(record.totals().chunks() > 9 * MIB / (64 << 10), record::toString);
        reopen();
        assertEquals(record, scrubs().last());
    }

    @Test
    void whatWasWrittenJustNowIsVerifiedToo() throws IOException {
        store("a", 3 * MIB);
        ScrubRecord record = scrubAll();
        assertTrue(record.totals().bytes() > 3 * MIB, record::toString);
        assertTrue(record.totals().isClean(), record::toString);
    }

    @Test
    void eachFlippedBitIsFound() throws IOException {
        store("a", 6 * MIB);
        volume.close();
        for (int round = 0; round < 20; round++) {
            PackedContainer container =
                    containers().get(random.nextInt(containers().size()));
            int at = random.nextInt(container.bytes());
            container.flipBit(at);
            volume = Volume.open(config);
            ScrubRecord record = scrubAll();
            assertFalse(record.totals().isClean(), () -> "byte " + at + " of " + container + " was flipped: " + record);
            volume.close();
            container.flipBit(at);
        }
        volume = Volume.open(config);
        ScrubRecord control = scrubAll();
        assertTrue(control.totals().isClean(), () -> "nothing is flipped any more: " + control);
    }

    @Test
    void aTableOfTheMetadataThatCannotBeReadIsFound() throws IOException {
        store("a", MIB);
        volume.sync();
        // A backup writes the records out to tables.
        volume.maintenance().backups().backUp(1);
        volume.close();
        Path table = tableOfRecipes();
        flip(table);
        volume = Volume.open(config);
        assertThrows(IOException.class, () -> read("a"), "control: the recipe cannot be read");
        ScrubTotals.References found = scrubAll().totals().references();
        assertTrue(found.defects() > 0, found::toString);
        volume.close();
        flip(table);
        volume = Volume.open(config);
        assertTrue(scrubAll().totals().isClean(), "control: the table is whole again");
    }

    private Path tableOfRecipes() throws IOException {
        try (Stream<Path> files = Files.list(config.locations().metadata())) {
            for (Path file :
                    files.filter(one -> one.toString().endsWith(".sst")).toList()) {
                // A table names its family.
                if (Files.readString(file, ISO_8859_1).contains("recipe")) {
                    return file;
                }
            }
        }
        throw new AssertionError("no table has recipes");
    }

    /** Changes a byte of the first block of a table; called again, changes it back. */
    private static void flip(Path table) throws IOException {
        byte[] bytes = Files.readAllBytes(table);
        bytes[10] ^= 1;
        Files.write(table, bytes);
    }

    @Test
    void aChunkWithAnotherFingerprintIsFoundThoughTheChecksumHolds() throws IOException {
        store("a", 3 * MIB);
        volume.close();
        PackedContainer container = containers().get(0);
        forgeFirstFrame(container);
        volume = Volume.open(config);
        if (config.keys() == null) {
            assertFalse(
                    Arrays.equals(contents.get("a"), read("a")),
                    "control: the checksum holds, so that a reader who does not compute fingerprints sees it");
        } else {
            IOException changed = assertThrows(IOException.class, () -> read("a"));
            assertTrue(changed.getMessage().contains("changed or exchanged"), changed.getMessage());
        }
        ScrubRecord record = scrubAll();
        assertEquals(1, record.totals().damagedFrames());
        assertEquals(0, record.totals().damagedContainers());
    }

    /** Changes a byte of the first frame's data, and its checksum. Random bytes are stored without compression. */
    private static void forgeFirstFrame(PackedContainer container) throws IOException {
        ByteBuffer all = ByteBuffer.wrap(container.read()).order(ByteOrder.LITTLE_ENDIAN);
        int frame = CONTAINER_HEADER_BYTES;
        int list = all.getInt(frame + 28);
        int stored = all.getInt(frame + 36);
        assertEquals(all.getInt(frame + 32), stored, "the frame is compressed");
        int at = frame + FRAME_HEADER_BYTES + list + stored / 2;
        all.put(at, (byte) (all.get(at) ^ 1));
        int length = FRAME_HEADER_BYTES + list + stored + all.getShort(frame + 6);
        CRC32C crc = new CRC32C();
        crc.update(all.array(), frame, length);
        all.putInt(frame + length, (int) crc.getValue());
        byte[] forged = new byte[length + Integer.BYTES];
        all.get(frame, forged);
        container.overwrite(frame, forged);
    }

    @Test
    void whatItFoundIsStoredAnewWhenItIsWrittenAgainAlsoAfterARemount() throws IOException {
        byte[] data = store("a", 3 * MIB);
        volume.close();
        for (PackedContainer container : containers()) {
            container.flipBitInFrames();
        }
        volume = Volume.open(config);
        ScrubRecord record = scrubAll();
        assertTrue(record.totals().damagedFrames() > 0);
        reopen();
        write("second", data);
        assertArrayEquals(data, read("second"));
        assertThrows(IOException.class, () -> read("a"));
    }

    @Test
    void aMissingPackIsFoundAndMarksNothingBecauseItMayComeBack() throws IOException {
        store("a", 3 * MIB);
        volume.close();
        long stored = containers().size();
        Map<Path, byte[]> packs = new HashMap<>();
        for (Path pack : PackedContainer.packs(config.locations().data())) {
            packs.put(pack, Files.readAllBytes(pack));
            Files.delete(pack);
        }
        volume = Volume.open(config);
        ScrubRecord record = scrubAll();
        assertTrue(record.totals().damagedContainers() >= stored, record::toString);
        assertEquals(0, damagedChunks());
        assertEquals(packs.size(), volume.context().damaged().missingPacks());
        volume.close();
        // The disk comes back.
        for (Map.Entry<Path, byte[]> pack : packs.entrySet()) {
            Files.write(pack.getKey(), pack.getValue());
        }
        volume = Volume.open(config);
        assertTrue(scrubAll().totals().isClean());
        assertEquals(0, volume.context().damaged().missingPacks());
        long unique = volume.statistics().uniqueBytes();
        write("again", contents.get("a"));
        assertEquals(unique, volume.statistics().uniqueBytes(), "they are used again");
        assertArrayEquals(contents.get("a"), read("a"));
    }

    /** A pack that goes while the volume is mounted, and whose frame tables are known. */
    @Test
    void aPackThatGoesWhileItIsScrubbedMarksNothing() throws IOException {
        store("a", 3 * MIB);
        reopen();
        Path pack = PackedContainer.packs(config.locations().data()).get(0);
        Path aside = Files.move(pack, pack.resolveSibling("aside"));
        assertTrue(scrubAll().totals().damagedContainers() > 0);
        assertEquals(0, damagedChunks());
        assertEquals(1, volume.context().damaged().missingPacks());
        Files.move(aside, pack);
        assertTrue(scrubAll().totals().isClean());
        assertArrayEquals(contents.get("a"), read("a"));
    }

    /** With the last mark the former places go, and a pass that runs may just have moved what is lost. */
    @Test
    void onlyAPassOfHealingTakesMarksBack() throws IOException {
        store("a", 3 * MIB);
        reopen();
        volume.maintenance().heal().setDelays(NEVER_MS, NEVER_MS);
        MetadataStore metadata = volume.context().metadata();
        StoredContainer place = metadata.containers().get(1);
        metadata.counts().markDamaged(1, 0, 1);
        metadata.damage().former().add(1, place);
        assertTrue(scrubAll().totals().isClean());
        assertEquals(1, damagedChunks());
        assertEquals(List.of(place), metadata.damage().former().of(1));
        volume.maintenance().heal().run(soFar -> true);
        assertEquals(0, damagedChunks(), "control: it is sound");
        assertEquals(List.of(), metadata.damage().former().of(1));
    }

    @Test
    void lengthsThatTheCountsHaveOtherwiseAreFound() throws IOException {
        store("a", 3 * MIB);
        reopen();
        List<ContainerEntry> entries = new ArrayList<>();
        volume.context().metadata().containers().forEach(entries::add);
        long chunk = ChunkId.of(entries.get(0).container(), 0);
        volume.context().metadata().counts().addNew(chunk, 17, 0);
        ScrubRecord record = scrubAll();
        assertEquals(1, record.totals().contradictions(), record::toString);
        assertEquals(0, record.totals().damagedFrames());
    }

    /** Writes all entries anew with other bytes of chunks, as a collection leaves them at a damaged frame. */
    private void changeRawBytes(long more) throws IOException {
        volume.close();
        try (KeyValueStore database = KeyValueStores.sealed(
                KeyValueStores.openRocksDb(config.locations().metadata(), 8 << 20, false), config.keys())) {
            ContainerRecords records = ContainerRecords.open(database);
            try (ContainerRecords.Replacement table = records.replace()) {
                records.forEachEntry((container, entry) -> {
                    StoredContainer stored = entry.stored();
                    StoredContainer changed = new StoredContainer(
                            stored.writing(),
                            stored.state(),
                            stored.pack(),
                            stored.offset(),
                            stored.bytes(),
                            stored.slots(),
                            stored.rawBytes() + more);
                    table.put(container, changed, new BitSet());
                });
                table.commit();
            }
        }
        volume = Volume.open(config);
    }

    @Test
    void onlyMoreBytesOfChunksThanAContainerHasContradict() throws IOException {
        store("a", 3 * MIB);
        changeRawBytes(-1);
        assertTrue(scrubAll().totals().isClean());
        changeRawBytes(2);
        assertTrue(scrubAll().totals().contradictions() > 0);
    }

    @Test
    void aStoppedScrubGoesOnWhereItWasInTheOrderOfTheDisk() throws IOException {
        for (int i = 0; i < 6; i++) {
            store("file " + i, 5 * MIB);
            reopen();
        }
        volume.unlink(Inode.ROOT, "file 2".getBytes(UTF_8));
        volume.sync();
        volume.collector().collect(new CollectionLimits(0, false), (done, of, returned) -> true);
        ScrubRecord whole = scrubAll();
        int stops = 0;
        List<ScrubCursor> places = new ArrayList<>();
        ScrubRecord record = null;
        while (record == null) {
            long[] before = {-1};
            try {
                record = scrubs().run((totals, rest, next) -> {
                    places.add(next);
                    before[0] = before[0] < 0 ? totals.containers() : before[0];
                    return totals.containers() < before[0] + 2;
                });
            } catch (InterruptedIOException stopped) {
                stops++;
                ScrubRecord kept = scrubs().current();
                assertNotNull(kept);
                assertFalse(kept.isComplete());
                assertEquals(whole, scrubs().last(), "the last complete one stays");
                volume.sync();
                reopen();
            }
        }
        assertTrue(stops >= 2, "stopped " + stops + " times");
        assertEquals(whole.totals().bytes(), record.totals().bytes());
        assertEquals(whole.totals().chunks(), record.totals().chunks());
        assertEquals(whole.totals().containers(), record.totals().containers());
        for (int i = 1; i < places.size(); i++) {
            ScrubCursor one = places.get(i - 1);
            ScrubCursor other = places.get(i);
            assertTrue(
                    one.phase() != other.phase()
                            || one.file() < other.file()
                            || one.file() == other.file() && one.offset() <= other.offset(),
                    places::toString);
        }
    }

    /** The place of a container that moves meanwhile, far behind the others, must not become the cursor. */
    @Test
    void aScrubThatStopsAfterAContainerMovedPassesNothingOver() throws IOException {
        write("part", Arrays.copyOf(store("whole", 2 * MIB), MIB));
        for (int i = 0; i < 4; i++) {
            store("file " + i, 5 * MIB);
            reopen();
        }
        volume.close();
        List<PackedContainer> all = containers();
        all.get(all.size() / 2).flipBitInFrames();
        volume = Volume.open(config);
        volume.unlink(Inode.ROOT, "whole".getBytes(UTF_8));
        volume.sync();
        boolean[] moved = new boolean[1];
        assertThrows(
                InterruptedIOException.class,
                () -> scrubs().run((totals, rest, next) -> {
                    if (!moved[0]) {
                        moved[0] = true;
                        collect();
                    }
                    return totals.containers() == 0;
                }));
        reopen();
        ScrubRecord record = scrubAll();
        assertTrue(record.totals().containers() >= all.size(), record::toString);
        assertTrue(record.totals().damagedFrames() > 0, record::toString);
    }

    private void collect() {
        try {
            CollectionReport report =
                    volume.collector().collect(new CollectionLimits(0, false), (done, of, returned) -> true);
            assertTrue(report.rewritten() > 0, "control: a container moves");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aHeldScrubStaysHeldOverARemountUntilItGoesOn() throws IOException {
        store("a", 9 * MIB);
        assertThrows(InterruptedIOException.class, () -> scrubs().run((totals, rest, next) -> false));
        reopen();
        ScrubRecord stopped = scrubs().current();
        assertNotNull(stopped);
        assertFalse(stopped.held() || stopped.isComplete(), "control: it was stopped, but not on request");
        scrubs().hold();
        reopen();
        ScrubRecord held = scrubs().current();
        assertEquals(stopped.hold(), held);
        assertNotNull(held);
        assertTrue(held.held());
        assertThrows(InterruptedIOException.class, () -> scrubs().run((totals, rest, next) -> false));
        assertEquals(stopped, scrubs().current(), "who continues it releases it");
        ScrubRecord complete = scrubAll();
        scrubs().hold();
        assertEquals(complete, scrubs().current(), "a complete one is not held");
    }
}
