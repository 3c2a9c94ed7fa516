package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;

/**
 * The answers of two changes of one inode at the same time: the later one has what the earlier one set, and the earlier
 * one does not have what the later one set. So exactly one of the answers has the other's value.
 */
@Timeout(300)
class AnswersOfChangesTest {
    private static final int ROUNDS = 20_000;
    private static final int MODE = 0600;

    private final ExecutorService other = Executors.newSingleThreadExecutor();
    private Volume volume;
    private long inode;

    @BeforeEach
    void makeFile() throws IOException {
        volume = VolumeInMemory.create(VolumeConfigs.in(Path.of("in memory"), 1L << 30, Chunking.SHA256), 1)
                .open();
        inode = volume.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0, 0))
                .inode();
    }

    @AfterEach
    void close() throws IOException {
        other.shutdownNow();
        volume.close();
    }

    private interface Round {
        Callable<Attributes> of(int number);
    }

    /** Returns the number of rounds in which both answers have the other's value, or none has. */
    private int wrongRounds(
            Round one, ToIntFunction<Attributes> ofOne, Round two, ToIntFunction<Attributes> ofTwo, Expected expected)
            throws Exception {
        int wrong = 0;
        for (int round = 1; round <= ROUNDS; round++) {
            AtomicInteger ready = new AtomicInteger();
            Callable<Attributes> second = two.of(round);
            Future<Attributes> there = other.submit(() -> together(ready, second));
            Attributes here = together(ready, one.of(round));
            boolean hereSeesThere = ofTwo.applyAsInt(here) == expected.ofTwo(round);
            boolean thereSeesHere = ofOne.applyAsInt(there.get()) == expected.ofOne(round);
            wrong += hereSeesThere == thereSeesHere ? 1 : 0;
        }
        return wrong;
    }

    private interface Expected {
        int ofOne(int round);

        default int ofTwo(int round) {
            return round;
        }
    }

    private static Attributes together(AtomicInteger ready, Callable<Attributes> call) throws Exception {
        ready.incrementAndGet();
        while (ready.get() < 2) {
            Thread.onSpinWait();
        }
        return call.call();
    }

    private static int modeOf(int round) {
        return MODE | round % 8 << 3;
    }

    private Attributes changeMode(int round) throws IOException {
        return volume.change(inode, AttributeChange.ofMode(modeOf(round)));
    }

    private Attributes changeOwner(int round) throws IOException {
        return volume.change(inode, new AttributeChange(null, round, null, null, null, null, null));
    }

    private Attributes link(int round) throws IOException {
        Attributes linked = volume.link(inode, Inode.ROOT, ("link" + round).getBytes(UTF_8));
        volume.forget(inode, 1);
        return linked;
    }

    @Test
    void modeAndOwner() throws Exception {
        assertEquals(
                0,
                wrongRounds(
                        round -> () -> changeMode(round),
                        answer -> answer.mode() & 0777,
                        round -> () -> changeOwner(round),
                        Attributes::uid,
                        AnswersOfChangesTest::modeOf));
    }

    @Test
    void linkAndOwner() throws Exception {
        assertEquals(
                0,
                wrongRounds(
                        round -> () -> link(round),
                        Attributes::links,
                        round -> () -> changeOwner(round),
                        Attributes::uid,
                        round -> round + 1));
    }

    @Test
    void controlAnswersThatAreReadAfterTheChangeAreNoticed() throws Exception {
        int wrong = wrongRounds(
                round -> () -> {
                    Attributes unused = changeMode(round);
                    return volume.attributes(inode);
                },
                answer -> answer.mode() & 0777,
                round -> () -> {
                    Attributes unused = changeOwner(round);
                    return volume.attributes(inode);
                },
                Attributes::uid,
                AnswersOfChangesTest::modeOf);
        assertTrue(wrong > 0, "no round had two changes at the same time");
    }
}
