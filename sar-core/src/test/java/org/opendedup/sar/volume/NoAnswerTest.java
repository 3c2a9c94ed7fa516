package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** A process without descriptors or memory, or a device that is gone for a moment, is no damage of what is stored. */
@Timeout(120)
class NoAnswerTest {
    private static final String DAMAGE = "Input/output error";

    private final long seed = TestSeed.next();
    private final byte[] contents = new byte[1 << 20];
    private VolumeInMemory stores;
    private Volume volume;

    @BeforeEach
    void store() throws IOException {
        new Random(seed).nextBytes(contents);
        stores = VolumeInMemory.create(VolumeConfigs.in(Path.of("unused"), 1L << 40, Chunking.VARIABLE_SHA256), seed);
        volume = stores.open();
        GarbageTrial.store(volume, "f", contents);
    }

    @AfterEach
    void close() throws IOException {
        stores.watch((method, file) -> {});
        volume.close();
    }

    private void seal() throws IOException {
        volume.close();
        volume = stores.open();
    }

    /** Lets all calls after the first few fail by which a pack is opened, or read. */
    private void fail(String call, int first, String text) {
        AtomicInteger calls = new AtomicInteger();
        stores.watch((method, file) -> {
            if (method.equals(call) && file.endsWith(".pack") && calls.getAndIncrement() >= first) {
                throw new FileSystemException(file, null, text);
            }
        });
    }

    /** Reads, scrubs and heals; returns whether the file could not be read. */
    private boolean useAll() throws IOException {
        boolean fails = false;
        try {
            GarbageTrial.read(volume, "f");
        } catch (IOException e) {
            fails = true;
        }
        try {
            volume.maintenance().scrub().run((totals, rest, now) -> true);
            volume.maintenance().heal().run(soFar -> true);
        } catch (IOException e) {
            assertTrue(NoAnswer.is(e), e::toString);
        }
        volume.context().damaged().recordAll();
        return fails;
    }

    private long damagedChunks() {
        return volume.maintenance().heal().unhealedChunks();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Too many open files", "Cannot allocate memory", "Stale file handle", "No such device"})
    void isNoDamage(String text) throws IOException {
        for (String call : List.of("open", "readFully")) {
            for (int first = 0; first < 3; first++) {
                seal();
                fail(call, first, text);
                boolean fails = useAll();
                assertTrue(fails || call.equals("open") || first > 0, call);
                assertEquals(0, damagedChunks(), call + " " + first);
                assertEquals(0, volume.context().damaged().found(), call + " " + first);
                stores.watch((method, file) -> {});
            }
        }
        assertArrayEquals(contents, GarbageTrial.read(volume, "f"));
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    /** As of a disk that was pulled out: what its file system has in memory is there. */
    @Test
    void aDiskOfWhichNothingCanBeReadIsNoDamage() throws IOException {
        seal();
        stores.watch((method, file) -> {
            if (method.equals("readFully")) {
                throw new IOException(DAMAGE);
            }
        });
        assertTrue(useAll());
        assertEquals(0, damagedChunks());
        assertEquals(0, volume.context().damaged().found());
        stores.watch((method, file) -> {});
        assertArrayEquals(contents, GarbageTrial.read(volume, "f"));
    }

    @Test
    void controlDamageIsNoticed() throws IOException {
        seal();
        fail("readFully", 0, DAMAGE);
        assertTrue(useAll());
        assertTrue(damagedChunks() > 50);
    }

    /** What cannot be read is not given up: the mount fails, and the next one recovers all. */
    @Test
    void aMountThatGetsNoAnswerGivesNothingUp() throws IOException {
        for (int first = 0; first < 2; first++) {
            Volume before = volume;
            stores = stores.crash(seed);
            VolumeInMemory.abandon(before);
            fail("readFully", first, "Cannot allocate memory");
            try {
                volume = stores.open();
            } catch (IOException e) {
                stores.watch((method, file) -> {});
                volume = stores.open();
            }
            stores.watch((method, file) -> {});
            assertEquals(0, damagedChunks());
            assertArrayEquals(contents, GarbageTrial.read(volume, "f"));
        }
    }
}
