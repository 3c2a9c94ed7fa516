package org.opendedup.sar.metadata.counts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.BitSet;
import java.util.List;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.DamageNote;
import org.opendedup.sar.metadata.record.DamagedPlace;
import org.opendedup.sar.metadata.record.MetadataHeader;

/** The record of damage changes together with the marks in the counts, and a commit makes both durable. */
final class DamageRecordsTest {
    private static final DamageNote NOTE = new DamageNote(1, DamageNote.How.READ, 1_700_000_000_000L, "bad checksum");

    private final CrashKeyValueStore database = new CrashKeyValueStore();
    private MetadataStore metadata;

    @BeforeEach
    void storeChunks() throws IOException {
        MetadataStore.format(database, new MetadataHeader(new UUID(1, 2), 65536, 3, MetadataHeader.FORMAT_VERSION));
        metadata = MetadataStore.open(database, 1 << 20);
        for (int slot = 0; slot < 30; slot++) {
            metadata.counts().addNew(ChunkId.of(7, slot), 100, 0);
        }
        commit();
    }

    private void commit() throws IOException {
        metadata.commit(metadata.freeze());
    }

    private void reopen() throws IOException {
        metadata = MetadataStore.open(database, 1 << 20);
    }

    private static BitSet slots(int first, int end) {
        BitSet slots = new BitSet();
        slots.set(first, end);
        return slots;
    }

    @Test
    void aCommittedRecordAndItsMarksAreThereAfterARestart() throws IOException {
        assertTrue(metadata.counts().markDamaged(7, 10, 20, NOTE));
        DamagedPlace place = new DamagedPlace(7, 10, 20, NOTE);
        assertEquals(List.of(place), metadata.damage().places(), "at once");
        commit();
        reopen();
        assertEquals(List.of(place), metadata.damage().places());
        assertEquals(slots(10, 20), metadata.counts().damaged(7));
        assertFalse(metadata.counts().markDamaged(7, 10, 20, NOTE), "known already");
    }

    @Test
    void controlARecordWithoutACommitIsGoneWithItsMarks() throws IOException {
        metadata.counts().markDamaged(7, 10, 20, NOTE);
        reopen();
        assertEquals(List.of(), metadata.damage().places());
        assertTrue(metadata.counts().damaged(7).isEmpty());
    }

    @Test
    void aRecordStaysUntilItsLastSlotIsSound() throws IOException {
        metadata.counts().markDamaged(7, 10, 20, NOTE);
        metadata.counts().markDamaged(7, 20, 25, NOTE);
        metadata.counts().markSound(7, slots(10, 19));
        assertEquals(2, metadata.damage().places().size());
        metadata.counts().markSound(7, slots(19, 20));
        assertEquals(
                List.of(new DamagedPlace(7, 20, 25, NOTE)), metadata.damage().places());
        commit();
        reopen();
        assertEquals(1, metadata.damage().places().size());
    }

    @Test
    void aCollectionOfTheChunksRemovesTheRecord() throws IOException {
        metadata.counts().markDamaged(7, 10, 20, NOTE);
        metadata.counts().condemn(7, 30);
        metadata.counts().tombstoneCondemned(7);
        assertEquals(List.of(), metadata.damage().places());
    }

    @Test
    void beyondTheBoundSlotsAreOnlyCounted() throws IOException {
        Overlay overlay = new Overlay(database);
        DamageRecords records = new DamageRecords(overlay, 1);
        records.changed(7, DamageRecords.Known.NOTHING, new BitSet(), slots(0, 5), new DamagedPlace(7, 0, 5, NOTE));
        records.changed(7, records.known(7), slots(0, 5), slots(0, 9), new DamagedPlace(7, 5, 9, NOTE));
        assertEquals(1, records.places().size());
        assertEquals(4, records.unrecorded());
        assertEquals(4, new DamageRecords(overlay, 1).unrecorded(), "it is stored");
        records.changed(7, records.known(7), slots(0, 9), slots(0, 6), null);
        assertEquals(1, records.unrecorded());
        records.changed(7, records.known(7), slots(0, 6), slots(5, 6), null);
        assertEquals(List.of(), records.places());
        records.changed(7, records.known(7), slots(5, 6), new BitSet(), null);
        assertEquals(0, records.unrecorded());
    }

    @Test
    void missingPacksAreRecordedUntilTheyAreBack() throws IOException {
        var missing = new TreeMap<Long, Long>();
        missing.put(3L, 10L);
        assertEquals(List.of(3L), metadata.damage().noteMissingPacks(missing, 1000));
        commit();
        reopen();
        missing.put(4L, 1L);
        assertEquals(List.of(4L), metadata.damage().noteMissingPacks(missing, 2000));
        assertEquals(1000L, metadata.damage().missingPacks().get(3L));
        missing.remove(3L);
        assertEquals(List.of(), metadata.damage().noteMissingPacks(missing, 3000));
        assertEquals(2000L, metadata.damage().missingPacks().get(4L));
        assertEquals(1, metadata.damage().missingPacks().size());
    }
}
