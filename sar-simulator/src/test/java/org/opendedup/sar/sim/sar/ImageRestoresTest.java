package org.opendedup.sar.sim.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sim.block.BlockRequest;
import org.opendedup.sar.sim.block.ImageTrace;
import org.opendedup.sar.sim.device.Machine;

class ImageRestoresTest {
    private static final double SCALE = 0.01;

    private static List<ImageRestores.Row> rows() throws IOException {
        return ImageRestores.run(Machine.load("sar"), SCALE, 1, row -> {}).rows();
    }

    @Test
    void deduplicationMakesMoreRequestsThanNativeAndSarFewer() throws IOException {
        List<ImageRestores.Row> rows = rows();
        assertEquals(15, rows.size());
        for (int i = 0; i < rows.size(); i += 3) {
            assertEquals(1, rows.get(i).timesNative());
            assertTrue(rows.get(i + 1).diskRequests() > rows.get(i).diskRequests(), rows.toString());
            assertTrue(rows.get(i + 2).diskRequests() < rows.get(i + 1).diskRequests(), rows.toString());
        }
        assertTrue(rows.get(1).timesNative() > 1.1, rows.toString());
        assertTrue(rows.get(2).seconds() < rows.get(1).seconds(), rows.toString());
        assertEquals(rows, rows(), "the same seed gives the same");
    }

    @Test
    void anImageHasItsShareOfDuplicatesAndIsReadAsItWasWritten() {
        ImageTrace trace = new ImageTrace(100_000, 0.6, 8, 7);
        assertEquals(0.6, trace.duplicates(), 0.03);
        BlockRequest request = new BlockRequest();
        long written = 0;
        long read = 0;
        long sum = 0;
        while (trace.next(request)) {
            assertEquals(request.isWrite() ? written : read, request.firstBlock());
            for (int i = 0; i < request.count(); i++) {
                sum += request.isWrite() ? request.content(i) : -request.content(i);
            }
            written += request.isWrite() ? request.count() : 0;
            read += request.isWrite() ? 0 : request.count();
        }
        assertEquals(100_000, written);
        assertEquals(written, read);
        assertEquals(0, sum);
    }
}
