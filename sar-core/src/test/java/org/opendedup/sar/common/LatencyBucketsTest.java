package org.opendedup.sar.common;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class LatencyBucketsTest {
    private static final int MICRO = 1000;

    @Test
    void aDurationIsInTheFirstBucketWhoseBoundItDoesNotExceed() {
        List<Long> bounds = LatencyBuckets.boundsMicros();
        LatencyBuckets buckets = new LatencyBuckets();
        List<Long> expected = new ArrayList<>(Collections.nCopies(bounds.size() + 1, 0L));
        long sum = 0;
        for (int i = 0; i < bounds.size(); i++) {
            // On a bound, and a nanosecond above it.
            buckets.record(bounds.get(i) * MICRO);
            buckets.record(bounds.get(i) * MICRO + 1);
            sum += 2 * bounds.get(i) * MICRO + 1;
            expected.set(i, expected.get(i) + 1);
            expected.set(i + 1, expected.get(i + 1) + 1);
        }
        assertEquals(new LatencyBuckets.Counts(expected, sum), buckets.counts());
        assertEquals(2L * bounds.size(), buckets.counts().total());
    }

    @Test
    void aClockThatGoesBackCountsAsNothing() {
        LatencyBuckets buckets = new LatencyBuckets();
        buckets.record(-5);
        assertEquals(0, buckets.counts().sumNanos());
        assertEquals(1, buckets.counts().counts().get(0));
    }

    @Test
    void manyThreadsLoseNothing() throws InterruptedException {
        LatencyBuckets buckets = new LatencyBuckets();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            threads.add(new Thread(() -> {
                for (int j = 0; j < 10_000; j++) {
                    buckets.record(7);
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(200_000, buckets.counts().total());
        assertEquals(1_400_000, buckets.counts().sumNanos());
    }
}
