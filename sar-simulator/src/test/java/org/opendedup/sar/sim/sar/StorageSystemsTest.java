package org.opendedup.sar.sim.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sim.block.BlockRequest;

class StorageSystemsTest {
    private static final long ARRAY_BLOCKS = 100_000;
    private static final long MIB = 1 << 20;

    private final DiskPlaces places = new DiskPlaces(ARRAY_BLOCKS * 4096);
    private final RecordingSink sink = new RecordingSink();
    private StorageSystem system = new NativeSystem(places);

    private void use(SystemKind kind, long ssdBytes) {
        system = kind.create(places, ssdBytes, 5, DedupMap.Counting.EVER);
    }

    @AfterEach
    void close() {
        system.close();
    }

    private String write(long block, long... contents) throws IOException {
        return serve(true, block, contents);
    }

    private String read(long block, long... contents) throws IOException {
        return serve(false, block, contents);
    }

    private String serve(boolean isWrite, long block, long... contents) throws IOException {
        BlockRequest request = new BlockRequest();
        request.begin(0, isWrite, block);
        for (long content : contents) {
            request.add(content);
        }
        system.serve(request, sink);
        return sink.take();
    }

    @Test
    void nativeReadsAndWritesWhatTheTraceSays() throws IOException {
        assertEquals("write 10+3", write(10, 1, 1, 2));
        assertEquals("read 10+2", read(10, 1, 1));
        assertEquals("read 99998+2, read 0+1", read(99_998, 1, 2, 3));
    }

    @Test
    void dedupeWritesWhatIsNewAndReadsWhereItLies() throws IOException {
        use(SystemKind.DEDUPE, 0);
        assertEquals("write 10+3", write(10, 1, 2, 3));
        assertEquals("write 21+1", write(20, 2, 4));
        assertEquals("read 11+1, read 21+1", read(20, 2, 4));
        assertEquals("", write(20, 2, 4));
        assertEquals("read 10+3", read(10, 1, 2, 3));
    }

    @Test
    void whatIsStillReferencedIsNotOverwritten() throws IOException {
        use(SystemKind.DEDUPE, 0);
        write(10, 1);
        write(20, 1);
        assertEquals("write " + ARRAY_BLOCKS / 2 + "+1", write(10, 2));
        assertEquals("read 10+1", read(20, 1));
        write(20, 3);
        assertEquals("write 10+1", write(10, 4), "content 1 is referenced no more");
    }

    @Test
    void whatWasReadFirstWasThereBefore() throws IOException {
        use(SystemKind.DEDUPE, 0);
        assertEquals("read 10+2", read(10, 1, 2));
        assertEquals("read 10+1", read(50, 1));
        assertEquals("", write(70, 1));
    }

    @Test
    void zerosTakeNoTransferWhereThereIsDeduplication() throws IOException {
        use(SystemKind.DEDUPE, 0);
        assertEquals("", write(10, 0, 0));
        assertEquals("", read(10, 0, 0));
        use(SystemKind.SAR, MIB);
        assertEquals("", write(10, 0, 0));
        assertEquals("", read(10, 0, 0));
    }

    @Test
    void aCacheServesASecondRead() throws IOException {
        use(SystemKind.CACHE_LBA, MIB);
        assertEquals("read 10+2, later 2", read(10, 1, 2));
        assertEquals("ssd 2, read 12+1, later 1", read(10, 1, 2, 3));
        assertEquals("write 11+3, later 2", write(11, 7, 8, 9));
    }

    @Test
    void aCacheByContentKnowsWhatAnotherBlockHolds() throws IOException {
        use(SystemKind.CACHE_CONTENT, MIB);
        read(10, 1);
        assertEquals("ssd 1", read(20, 1));
        use(SystemKind.CACHE_LBA, MIB);
        read(10, 1);
        assertEquals("read 20+1, later 1", read(20, 1));
    }

    @Test
    void sarPromotesWhatIsReferencedFiveTimes() throws IOException {
        use(SystemKind.SAR, MIB);
        write(10, 1);
        for (int i = 1; i < 4; i++) {
            assertEquals("", write(10 + 10 * i, 1));
        }
        assertEquals("later 1", write(50, 1));
        assertEquals("ssd 1", read(20, 1));
        assertEquals("write 12+1", write(12, 7));
        assertEquals("ssd 1, read 12+1", read(11, 1, 7));
    }

    @Test
    void sarPromotesWhatIsReadTwiceInAShortRunOnly() throws IOException {
        use(SystemKind.SAR, MIB);
        assertEquals("read 10+2", read(10, 1, 2));
        assertEquals("read 10+2, later 2", read(10, 1, 2));
        assertEquals("ssd 2", read(10, 1, 2));
        long[] longRun = new long[32];
        for (int i = 0; i < longRun.length; i++) {
            longRun[i] = 100L + i;
        }
        for (int i = 0; i < 3; i++) {
            assertEquals("read 2048+32", serve(false, 2048, longRun));
        }
    }

    @Test
    void whatIsOverwrittenIsNotServedFromItsCopy() throws IOException {
        use(SystemKind.SAR, MIB);
        read(10, 1);
        read(10, 1);
        assertEquals("ssd 1", read(10, 1));
        write(10, 2);
        assertEquals("read 10+1", read(10, 2));
    }

    @Test
    void aFullSsdKeepsToItsSize() throws IOException {
        long ssdBytes = 64 << 10;
        use(SystemKind.SAR, ssdBytes);
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < 64; i++) {
                read(100L * i, 1L + i);
            }
        }
        int served = 0;
        for (int i = 0; i < 64; i++) {
            served += read(100L * i, 1L + i).startsWith("ssd") ? 1 : 0;
        }
        int mostServed = (int) (ssdBytes / (4096 + 64));
        assertTrue(served > 0 && served <= mostServed, "served " + served);
    }

    @Test
    void lruBlocksForgetTheLongestUnused() {
        LruBlocks blocks = new LruBlocks(2);
        blocks.add(1);
        blocks.add(2);
        assertTrue(blocks.use(1) >= 0);
        blocks.add(3);
        assertEquals(LruBlocks.ABSENT, blocks.use(2));
        assertTrue(blocks.use(1) >= 0 && blocks.use(3) >= 0);
    }
}
