package org.opendedup.sar.metadata;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.recipes.StreamLogs;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.StreamLogDefects;
import org.opendedup.sar.metadata.record.StreamLogFormat;
import org.opendedup.sar.metadata.record.StreamPlace;
import org.opendedup.sar.metadata.record.SystemRecords;

/** Pages and hooks of stream logs; their records as in docs/FORMAT.md. */
class StreamLogsTest {
    private static final byte[] HOOK_KEY = Keys.of(1L << 62, ChunkId.of(5, 9));
    private static final String GOLDEN_HOOK = "2107ac02d53feea9";
    private static final String GOLDEN_SUMMARY = "01c0843d0703";
    private static final int CHUNK_BYTES = 4096;

    private final KeyValueStore database = new HeapKeyValueStore();
    private MetadataStore metadata;

    @BeforeEach
    void format() throws IOException {
        MetadataStore.format(
                database,
                new MetadataHeader(
                        new UUID(1, 2), 256 << 10, 0, MetadataHeader.FORMAT_VERSION, MetadataHeader.Contents.CHUNKS));
        metadata = MetadataStore.open(database, 1 << 20);
    }

    @Test
    void hooksAndTheSummaryAreStoredAsSpecified() throws IOException {
        StreamPlace place = new StreamPlace(7, 300);
        assertEquals(GOLDEN_HOOK, FormatsTest.hex(StreamLogFormat.encodeHook(HOOK_KEY, place)));
        assertEquals(place, StreamLogFormat.decodeHook(HOOK_KEY, FormatsTest.unhex(GOLDEN_HOOK)));
        StreamLogFormat.Summary summary = new StreamLogFormat.Summary(1_000_000, new StreamPlace(7, 3));
        assertEquals(GOLDEN_SUMMARY, FormatsTest.hex(StreamLogFormat.encodeSummary(summary)));
        assertEquals(summary, StreamLogFormat.decodeSummary(FormatsTest.unhex(GOLDEN_SUMMARY)));
    }

    @Test
    void aDamagedHookIsFound() {
        FormatsTest.assertEveryDamageIsFound(GOLDEN_HOOK, value -> StreamLogFormat.decodeHook(HOOK_KEY, value), "hook");
        assertThrows(
                CorruptionException.class,
                () -> StreamLogFormat.decodeHook(Keys.of(1L << 62, ChunkId.of(5, 8)), FormatsTest.unhex(GOLDEN_HOOK)));
        byte[] later = FormatsTest.unhex(GOLDEN_SUMMARY);
        later[0]++;
        assertThrows(UnsupportedFormatException.class, () -> StreamLogFormat.decodeSummary(later));
    }

    /** Stores {@code count} chunks of a container. */
    private void store(long container, int count) throws IOException {
        for (int slot = 0; slot < count; slot++) {
            metadata.counts().addNew(ChunkId.of(container, slot), CHUNK_BYTES, 0);
            metadata.counts().claim(ChunkId.of(container, slot), 1);
        }
    }

    private static RecipePage page(long container, int from, int count) {
        RecipePage.Builder page = new RecipePage.Builder();
        for (int slot = from; slot < from + count; slot++) {
            page.add(ChunkId.of(container, slot), 0, CHUNK_BYTES, slot);
        }
        return page.build();
    }

    private void commit() throws IOException {
        metadata.commit(metadata.freeze());
    }

    @Test
    void aChunkIsFoundWhereItWasNamedLast() throws IOException {
        StreamLogs logs = metadata.streamLogs();
        store(3, 64);
        logs.add(new StreamPlace(10, 0), page(3, 0, 64));
        logs.add(new StreamPlace(11, 4), page(3, 0, 32));
        commit();
        int hooks = 0;
        for (int slot = 0; slot < 64; slot++) {
            long chunk = ChunkId.of(3, slot);
            StreamPlace expected = slot < 32 ? new StreamPlace(11, 4) : new StreamPlace(10, 0);
            boolean hasHook = StreamLogs.mayHaveHook(chunk);
            hooks += hasHook ? 1 : 0;
            assertEquals(hasHook ? expected : null, logs.find(chunk));
        }
        assertTrue(hooks > 0 && hooks < 16, hooks + " hooks");
        assertEquals(96, logs.references());
        assertArrayEquals(new long[] {4}, logs.existingPages(11, 0, 1L << 40, 10));
        assertEquals(Recipes.describe(page(3, 0, 64)), Recipes.describe(logs.page(10, 0)));
    }

    @Test
    void chunksThatNoLongerExistAreLeftOut() throws IOException {
        StreamLogs logs = metadata.streamLogs();
        store(3, 10);
        logs.add(new StreamPlace(10, 0), page(3, 0, 20));
        assertEquals(10, logs.page(10, 0).count());
        assertEquals(20, logs.written(10, 0).count(), "control: the log names them");
        assertEquals(0, logs.page(10, 1).count());
        assertEquals(0, logs.page(9, 0).count());
    }

    @Test
    void theOldestPagesAreRemovedWithTheirHooks() throws IOException {
        StreamLogs logs = metadata.streamLogs();
        store(3, 64);
        store(4, 64);
        logs.add(new StreamPlace(10, 0), page(3, 0, 64));
        logs.add(new StreamPlace(10, 1), page(4, 0, 64));
        logs.add(new StreamPlace(12, 0), page(4, 0, 64));
        commit();
        StreamLogs.Oldest oldest = logs.oldest(2);
        assertEquals(2, oldest.pages());
        oldest.remove();
        commit();
        MetadataStore reopened = MetadataStore.open(database, 1 << 20);
        StreamLogs left = reopened.streamLogs();
        assertEquals(64, left.references());
        assertEquals(0, left.page(10, 0).count());
        assertEquals(0, left.page(10, 1).count());
        assertEquals(64, left.page(12, 0).count());
        for (int slot = 0; slot < 64; slot++) {
            assertNull(left.find(ChunkId.of(3, slot)));
            long chunk = ChunkId.of(4, slot);
            assertEquals(StreamLogs.mayHaveHook(chunk) ? new StreamPlace(12, 0) : null, left.find(chunk));
        }
        left.oldest(10).remove();
        assertEquals(0, left.references());
        assertEquals(0, left.oldest(10).pages());
        reopened.commit(reopened.freeze());
        try (Cursor cursor = database.scan(Family.RECIPE, Keys.FIRST, Keys.END)) {
            assertTrue(!cursor.next(), "a record is left");
        }
    }

    /** A page of an older log, whose stream goes on, must not be left for ever. */
    @Test
    void aPageThatIsAddedMeanwhileIsRemovedLater() throws IOException {
        StreamLogs logs = metadata.streamLogs();
        store(3, 64);
        logs.add(new StreamPlace(10, 0), page(3, 0, 64));
        logs.add(new StreamPlace(12, 0), page(3, 0, 64));
        StreamLogs.Oldest oldest = logs.oldest(10);
        logs.add(new StreamPlace(10, 1), page(3, 0, 64));
        oldest.remove();
        assertEquals(64, logs.references());
        assertEquals(64, logs.page(10, 1).count());
        logs.oldest(10).remove();
        assertEquals(0, logs.page(10, 1).count());
        assertEquals(0, logs.references());
        logs.add(new StreamPlace(9, 5), page(3, 0, 64));
        commit();
        StreamLogs reopened = MetadataStore.open(database, 1 << 20).streamLogs();
        assertEquals(1, reopened.oldest(10).pages());
    }

    /** What makes the table of containers anew asks recipes whose a container is. */
    @Test
    void logsAreNoReferencesOfRecipes() throws IOException {
        store(3, 64);
        metadata.streamLogs().add(new StreamPlace(10, 0), page(3, 0, 64));
        commit();
        List<Long> referred = new ArrayList<>();
        assertTrue(ContainerRecords.open(database).forEachReference((chunk, prefix) -> referred.add(chunk)));
        assertEquals(List.of(), referred);
    }

    @Test
    void aDamagedRecordIsAsIfItWereNotThere() throws IOException {
        StreamLogs logs = metadata.streamLogs();
        store(3, 64);
        logs.add(new StreamPlace(10, 0), page(3, 0, 64));
        commit();
        assertTrue(StreamLogDefects.FLIPPED.make(database, 1) > 1);
        assertEquals(0, logs.page(10, 0).count());
        for (int slot = 0; slot < 64; slot++) {
            assertNull(logs.find(ChunkId.of(3, slot)));
        }
        MetadataDefects.put(database, Family.SYSTEM, SystemRecords.STREAM_LOGS, new byte[] {1, (byte) 0xff});
        assertEquals(0, MetadataStore.open(database, 1 << 20).streamLogs().references());
    }
}
