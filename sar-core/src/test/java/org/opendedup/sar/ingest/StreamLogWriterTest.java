package org.opendedup.sar.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.recipes.StreamLogs;
import org.opendedup.sar.metadata.record.MetadataHeader;

/** Logs of streams are bounded, and not in the way of a put. */
class StreamLogWriterTest {
    private static final int CHUNK_BYTES = 16 << 10;
    /** Chunks in a page of 4 MiB. */
    private static final int PAGE_CHUNKS = 256;

    private StreamLogs logs;
    private StreamLogWriter writer;
    private long numbers;
    private long most = Long.MAX_VALUE;
    private boolean isFull;
    private boolean isFailing;

    @BeforeEach
    void open() throws IOException {
        KeyValueStore database = new HeapKeyValueStore();
        MetadataStore.format(
                database,
                new MetadataHeader(
                        new UUID(1, 2), 256 << 10, 0, MetadataHeader.FORMAT_VERSION, MetadataHeader.Contents.CHUNKS));
        logs = MetadataStore.open(database, 1 << 20).streamLogs();
        writer = new StreamLogWriter(
                logs,
                this::nextNumber,
                bytes -> !isFull,
                new ReentrantReadWriteLock().readLock(),
                () -> most,
                Runnable::run);
    }

    private long nextNumber() throws IOException {
        if (isFailing) {
            throw new IOException("no number");
        }
        return ++numbers;
    }

    private void putPages(long stream, int pages) {
        for (int i = 0; i < pages * PAGE_CHUNKS; i++) {
            writer.note(stream, ChunkId.of(1 + stream, i % 1000), CHUNK_BYTES, 7);
        }
    }

    private long storedPages() throws IOException {
        long pages = 0;
        for (long number = 1; number <= numbers; number++) {
            pages += logs.existingPages(number, 0, 1L << 40, 1 << 20).length;
        }
        return pages;
    }

    /** A file that is written all the time, such as the disk of a virtual machine, keeps its log open. */
    @Test
    void aStreamThatGoesOnWhileYoungerLogsAreRemovedIsBoundedAsWell() throws IOException {
        most = 64 * PAGE_CHUNKS;
        for (int round = 0; round < 100; round++) {
            putPages(0, 1);
            putPages(1 + round, 4);
            assertTrue(logs.references() <= most, "round " + round + ": " + logs.references());
            assertEquals(logs.references(), PAGE_CHUNKS * storedPages(), "round " + round);
        }
        assertTrue(logs.references() > most / 2, "control: logs are kept");
        assertTrue(numbers > 101, "the stream went on in a new log");
        most = 0;
        putPages(0, 1);
        assertEquals(0, logs.references());
        assertEquals(0, storedPages());
    }

    @Test
    void aFullDiskKeepsItsSpace() throws IOException {
        isFull = true;
        putPages(0, 3);
        assertEquals(0, storedPages());
        isFull = false;
        putPages(0, 1);
        assertEquals(1, storedPages(), "control");
    }

    @Test
    void aPageThatCannotBeWrittenIsLeftOut() throws IOException {
        isFailing = true;
        putPages(0, 3);
        assertEquals(0, storedPages());
        isFailing = false;
        putPages(0, 1);
        assertEquals(1, storedPages(), "control");
    }
}
