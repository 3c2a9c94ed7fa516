package org.opendedup.sar.chunk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.Fingerprints;

class FingerprinterTest {
    @AutoClose("shutdownNow")
    private final ExecutorService executor = Executors.newFixedThreadPool(3);

    @Test
    void everyChunkGetsItsSha256WithAnyNumberOfHelpers() throws Exception {
        for (int helpers = 0; helpers <= 3; helpers++) {
            Segment segment = cutSegment();
            new Fingerprinter(executor, helpers).fingerprint(segment);
            assertFingerprints(segment);
        }
    }

    @Test
    void anExecutorThatNeverRunsAHelperDoesNotHoldTheCallerUp() throws Exception {
        Segment segment = cutSegment();
        new Fingerprinter(helper -> {}, 2).fingerprint(segment);
        assertFingerprints(segment);
    }

    @Test
    void anExecutorThatRefusesLeavesTheWorkToTheCaller() throws Exception {
        Segment segment = cutSegment();
        new Fingerprinter(
                        helper -> {
                            throw new RejectedExecutionException("full");
                        },
                        2)
                .fingerprint(segment);
        assertFingerprints(segment);
    }

    @Test
    void zeroRunsAreLeftAlone() {
        Segment segment = new Segment(1 << 20);
        segment.add(0, 1 << 20, true);
        new Fingerprinter(executor, 2).fingerprint(segment);
        assertArrayEquals(new byte[Fingerprints.BYTES], Arrays.copyOf(segment.fingerprints(), Fingerprints.BYTES));
    }

    @Test
    void aChunkOutsideTheDataIsAnErrorAndNotASilence() {
        Segment segment = new Segment(1 << 20);
        segment.add(1 << 19, 1 << 20, false);
        assertThrows(IllegalStateException.class, () -> new Fingerprinter(executor, 2).fingerprint(segment));
    }

    @Test
    void anInterruptIsKeptForTheCaller() throws Exception {
        Segment segment = cutSegment();
        Thread.currentThread().interrupt();
        new Fingerprinter(executor, 2).fingerprint(segment);
        assertTrue(Thread.interrupted());
        assertFingerprints(segment);
    }

    private static Segment cutSegment() {
        Segment segment = new Segment(2 << 20);
        new Random(6).nextBytes(segment.data());
        Arrays.fill(segment.data(), 1 << 20, (1 << 20) + 300_000, (byte) 0);
        new SegmentCutter(Chunkers.of(Chunking.VARIABLE_SHA256)).cut(segment, 0, 2 << 20, true);
        return segment;
    }

    private static void assertFingerprints(Segment segment) throws Exception {
        MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
        for (int i = 0; i < segment.count(); i++) {
            if (!segment.isZero(i)) {
                sha256.update(segment.data(), segment.offset(i), segment.length(i));
                int at = Segment.fingerprintOffset(i);
                assertArrayEquals(
                        sha256.digest(), Arrays.copyOfRange(segment.fingerprints(), at, at + Fingerprints.BYTES));
            }
        }
    }
}
