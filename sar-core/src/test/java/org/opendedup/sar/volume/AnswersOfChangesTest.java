package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;

/**
 * The answers of two changes of one inode at the same time: the later one has what the earlier one set, and the earlier
 * one does not have what the later one set.
 */
@Timeout(300)
class AnswersOfChangesTest {
    private static final int BATCHES = 40;
    /** Changes of each kind in a batch: no more than modes have values. */
    private static final int CHANGES = 500;

    private final ExecutorService other = Executors.newSingleThreadExecutor();
    private Volume volume;
    private long inode;
    private int linksBefore;

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

    private interface Change {
        /** Makes the change of that number; returns the number of the other's last change in the answer. */
        int make(int number) throws IOException;
    }

    /**
     * Makes changes of both kinds at the same time, without any waiting. Returns how many answers contradict those of
     * the other: what was before a change does not have it, and what was after it has it.
     */
    private int wrongAnswers(Change one, Change two) throws Exception {
        int wrong = 0;
        for (int batch = 0; batch < BATCHES; batch++) {
            volume.change(inode, AttributeChange.ofMode(0));
            changeOwner(0);
            linksBefore = volume.attributes(inode).links();
            Future<int[]> there = other.submit(() -> answers(two));
            int[] ofOne = answers(one);
            int[] ofTwo = there.get();
            for (int number = 1; number <= CHANGES; number++) {
                int before = ofOne[number];
                boolean isRight = ofTwo[before] < number && (before == CHANGES || ofTwo[before + 1] >= number);
                wrong += isRight ? 0 : 1;
            }
        }
        return wrong;
    }

    private static int[] answers(Change change) throws IOException {
        int[] answers = new int[CHANGES + 1];
        for (int number = 1; number <= CHANGES; number++) {
            answers[number] = change.make(number);
        }
        return answers;
    }

    private Attributes changeMode(int round) throws IOException {
        return volume.change(inode, AttributeChange.ofMode(round));
    }

    private Attributes changeOwner(int round) throws IOException {
        return volume.change(inode, new AttributeChange(null, round, null, null, null, null, null));
    }

    private Attributes link(int round) throws IOException {
        Attributes linked = volume.link(inode, Inode.ROOT, ("link" + linksBefore + "-" + round).getBytes(UTF_8));
        volume.forget(inode, 1);
        return linked;
    }

    @Test
    void modeAndOwner() throws Exception {
        assertEquals(
                0,
                wrongAnswers(
                        number -> changeMode(number).uid(),
                        number -> changeOwner(number).mode() & 0777));
    }

    @Test
    void linkAndOwner() throws Exception {
        assertEquals(
                0,
                wrongAnswers(
                        number -> link(number).uid(),
                        number -> changeOwner(number).links() - linksBefore));
    }

    @Test
    void controlAnswersThatAreReadAfterTheChangeAreNoticed() throws Exception {
        // Each reads when both have made their change.
        CyclicBarrier changed = new CyclicBarrier(2);
        int wrong = wrongAnswers(
                number -> {
                    Attributes unused = changeMode(number);
                    await(changed);
                    return volume.attributes(inode).uid();
                },
                number -> {
                    Attributes unused = changeOwner(number);
                    await(changed);
                    return volume.attributes(inode).mode() & 0777;
                });
        assertTrue(wrong > 0, "none is noticed");
    }

    private static void await(CyclicBarrier barrier) throws IOException {
        try {
            barrier.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
            throw new IOException(e);
        }
    }
}
