package org.opendedup.sar.volume.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.io.TimeLimit;

/** A container is complete in a new index only if it was opened when that index was in use. */
class RenewableIndexTest {
    private static final byte[] TABLE = {1, 2, 3};
    private static final Epoch EPOCH = new Epoch(new UUID(1, 1), 1, 1);

    @TempDir
    private Path folder;

    private long nextContainer = 5;
    private Runnable duringOpening = () -> {};
    private IndexOpener other = RenewableIndexTest::other;
    private IndexLocation location;

    @BeforeEach
    void makeLocation() {
        location = new IndexLocation(
                folder,
                IndexClass.ROCKSDB,
                (kind, database) -> {
                    if (kind != IndexClass.ROCKSDB) {
                        return other.open(kind, database);
                    }
                    duringOpening.run();
                    // By this file it is seen that an index is there.
                    Files.writeString(database.resolve("CURRENT"), "");
                    return ChunkIndexes.heap();
                },
                new TimeLimit("test-index", Duration.ofMinutes(10)));
    }

    @Test
    void aContainerThatIsOpenedBeforeTheNewIndexIsInUseIsNotComplete() throws IOException {
        RenewableIndex index = new RenewableIndex(location.open(), location);
        // Container 5 is opened while the new index is being made: its chunks go to the old one.
        duringOpening = () -> nextContainer = 6;
        ChunkIndex fresh = index.renew(EPOCH, () -> nextContainer);
        assertEquals(6, index.firstUnseen());
        index.cover(5, TABLE);
        assertNull(fresh.frameTable(5), "a container counts as complete whose chunks are in the old index");
        index.cover(6, TABLE);
        assertArrayEquals(TABLE, fresh.frameTable(6));
    }

    private static ChunkIndex other(IndexClass kind, Path database) throws IOException {
        // By this file it is seen that an index of this class is there.
        Files.writeString(database.resolve("CHUNKSTASH"), "");
        return ChunkIndexes.heap();
    }

    private static byte[] fingerprint(int number) {
        byte[] made = new byte[32];
        made[0] = (byte) number;
        return made;
    }

    private static long found(ChunkIndex index, int number) throws IOException {
        Segment segment = new Segment(8);
        segment.add(0, 8, false);
        System.arraycopy(fingerprint(number), 0, segment.fingerprints(), 0, 32);
        index.lookup(segment);
        return segment.chunkId(0);
    }

    @Test
    void anIndexOfAnotherKindGetsEachChangeWhileItIsFilled() throws IOException {
        RenewableIndex index = new RenewableIndex(location.open(), location);
        index.insert(fingerprint(1), 0, ChunkId.of(1, 0));
        ChunkIndex fresh = index.beginExchange(IndexClass.CHUNKSTASH, EPOCH, () -> nextContainer);
        index.insert(fingerprint(2), 0, ChunkId.of(5, 0));
        index.cover(4, TABLE);
        index.cover(5, TABLE);
        assertEquals(ChunkId.of(1, 0), found(index, 1), "the old one is not in use any more");
        assertEquals(ChunkId.of(5, 0), found(index, 2));
        assertEquals(ChunkId.of(5, 0), found(fresh, 2));
        assertArrayEquals(TABLE, index.frameTable(4));
        assertNull(fresh.frameTable(4), "a container counts as complete whose chunks are in the old index only");
        fresh.insert(fingerprint(1), 0, ChunkId.of(1, 0));
        index.endExchange();
        assertEquals(5, index.firstUnseen());
        assertEquals(ChunkId.of(1, 0), found(index, 1));
        assertEquals(ChunkId.of(5, 0), found(index, 2));
        assertArrayEquals(TABLE, index.frameTable(5));
        assertNull(index.frameTable(4));
        assertEquals(folder.resolve("index-1"), location.current());
        assertFalse(index.isLost());
    }

    @Test
    void anExchangeThatIsNotEndedLeavesNothing() throws IOException {
        RenewableIndex index = new RenewableIndex(location.open(), location);
        index.insert(fingerprint(1), 0, ChunkId.of(1, 0));
        index.beginExchange(IndexClass.CHUNKSTASH, EPOCH, () -> nextContainer);
        assertTrue(Files.exists(folder.resolve("index-1")));
        assertEquals(folder, location.current(), "what is being filled is not in use, also for the next mount");
        index.abandonExchange();
        assertEquals(ChunkId.of(1, 0), found(index, 1));
        assertFalse(index.isLost());
        index.insert(fingerprint(2), 0, ChunkId.of(1, 1));
        assertEquals(ChunkId.of(1, 1), found(index, 2));
    }

    @Test
    void aFailureOfTheNewIndexEndsTheExchangeAndNotTheChange() throws IOException {
        RenewableIndex index = new RenewableIndex(location.open(), location);
        ChunkIndex broken = (ChunkIndex) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ChunkIndex.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("insert")) {
                        throw new IOException("the flash is worn out");
                    }
                    return method.getReturnType() == long.class ? 0L : null;
                });
        other = (kind, database) -> broken;
        index.beginExchange(IndexClass.CHUNKSTASH, EPOCH, () -> nextContainer);
        index.insert(fingerprint(2), 0, ChunkId.of(5, 0));
        assertEquals(ChunkId.of(5, 0), found(index, 2));
        assertThrows(IOException.class, index::endExchange);
        assertEquals(ChunkId.of(5, 0), found(index, 2));
        assertFalse(index.isLost());
        assertEquals(folder, location.current());
    }

    @Test
    void noContainerIsCompleteBeforeTheNextOneIsKnown() throws IOException {
        RenewableIndex index = new RenewableIndex(location.open(), location);
        ChunkIndex fresh = index.renew(EPOCH, () -> {
            index.cover(4, TABLE);
            index.cover(100, TABLE);
            return nextContainer;
        });
        assertNull(fresh.frameTable(4));
        assertNull(fresh.frameTable(100));
    }

    @Test
    void anIndexOfWhichTheNextContainerIsNotKnownIsLost() throws IOException {
        RenewableIndex index = new RenewableIndex(location.open(), location);
        assertFalse(index.isLost());
        assertThrows(
                IOException.class,
                () -> index.renew(EPOCH, () -> {
                    throw new IOException("no number");
                }));
        assertTrue(index.isLost());
    }
}
