package org.opendedup.sar.restore.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.RawFrame;

class FrameCacheTest {
    private static final int FRAME_BYTES = 64 << 10;
    private static final int FRAMES = 40;
    private static final long BUDGET_BYTES = 20L * FRAME_BYTES;

    private final List<Frame> frames = new ArrayList<>();
    private FrameCache cache;

    @BeforeEach
    void makeFrames() {
        cache = new FrameCache(BUDGET_BYTES);
        for (int i = 0; i < FRAMES; i++) {
            byte[] chunk = new byte[FRAME_BYTES];
            new Random(i).nextBytes(chunk);
            RawFrame raw = new RawFrame(FRAME_BYTES);
            raw.start(0);
            raw.add(chunk, 0, chunk.length, new byte[Fingerprints.BYTES], 0);
            frames.add(raw.toFrame(1 + i / 8));
        }
    }

    @Test
    void whatWasPutLastIsThere() {
        for (int i = 0; i < FRAMES; i++) {
            Frame frame = frames.get(i);
            cache.put(frame.container(), i, frame);
            assertSame(frame, cache.get(frame.container(), i));
        }
    }

    @Test
    void nothingIsAnsweredThatWasNotPut() {
        cache.put(1, 0, frames.get(0));
        assertNull(cache.get(1, 1));
        assertNull(cache.get(2, 0));
    }

    @Test
    void theBudgetIsKept() {
        for (int i = 0; i < FRAMES; i++) {
            cache.put(1, i, frames.get(i));
            assertTrue(cache.weightBytes() <= BUDGET_BYTES, () -> cache.weightBytes() + " bytes");
        }
        assertTrue(cache.weightBytes() > 0);
    }

    @Test
    void anInvalidatedContainerIsForgottenAndNoOther() {
        cache.put(1, 0, frames.get(0));
        cache.put(2, 0, frames.get(1));
        cache.invalidate(1);
        assertNull(cache.get(1, 0));
        assertNotNull(cache.get(2, 0));
    }

    @Test
    void whatIsAnsweredIsWhatAModelHolds() {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        Map<Integer, Frame> model = new HashMap<>();
        int found = 0;
        for (int step = 0; step < 5000; step++) {
            int place = random.nextInt(FRAMES);
            if (random.nextBoolean()) {
                Frame frame = frames.get(random.nextInt(FRAMES));
                cache.put(1, place, frame);
                model.put(place, frame);
            } else {
                Frame answer = cache.get(1, place);
                if (answer != null) {
                    assertSame(model.get(place), answer, "seed " + seed);
                    found++;
                }
            }
        }
        assertTrue(found > 100, "the cache keeps next to nothing: seed " + seed);
        assertEquals(FRAMES, model.size());
    }
}
