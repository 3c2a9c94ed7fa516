package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DecodingTest {
    @Test
    void theReaderDecodesWhatNoWorkerHasBegun() {
        int pieces = Decoding.MAX_UNDER_WAY + 3;
        List<Integer> done = new ArrayList<>();
        try (Decoding decoding = new Decoding(piece -> {})) {
            for (int piece = 0; piece < pieces; piece++) {
                int number = piece;
                decoding.submit(() -> done.add(number));
            }
            assertEquals(List.of(0, 1, 2), done, "so many may be under way, no more");
        }
        assertEquals(IntStream.range(0, pieces).boxed().toList(), done);
    }

    @Test
    void allIsDecodedByTheTimeItIsClosedAndNothingTwice() {
        ExecutorService workers = Executors.newFixedThreadPool(2);
        try {
            AtomicInteger done = new AtomicInteger();
            try (Decoding decoding = new Decoding(workers)) {
                for (int piece = 0; piece < 1000; piece++) {
                    decoding.submit(done::incrementAndGet);
                }
            }
            assertEquals(1000, done.get());
        } finally {
            workers.shutdownNow();
        }
    }

    @Test
    void workersThatTakeNothingMoreAreDoneWithout() {
        List<Integer> done = new ArrayList<>();
        try (Decoding decoding = new Decoding(piece -> {
            throw new RejectedExecutionException("closing");
        })) {
            decoding.submit(() -> done.add(1));
        }
        assertEquals(List.of(1), done);
    }

    @Test
    void aMistakeInDecodingIsNotSwallowed() {
        Decoding decoding = new Decoding(Runnable::run);
        decoding.submit(() -> {
            throw new IllegalArgumentException("a mistake");
        });
        assertThrows(IllegalArgumentException.class, decoding::close);
    }

    @Test
    void afterAMistakeNothingIsUnderWayAnyMore() {
        List<Integer> done = new ArrayList<>();
        Decoding decoding = new Decoding(piece -> {});
        decoding.submit(() -> {
            throw new IllegalArgumentException("a mistake");
        });
        decoding.submit(() -> done.add(2));
        assertThrows(IllegalArgumentException.class, decoding::close);
        assertEquals(List.of(2), done);
    }
}
