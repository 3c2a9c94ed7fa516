package org.opendedup.sar.sdfs.jmx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.sdfs.join.FakeJoin;
import org.opendedup.sar.sdfs.join.Joins;

/** The bean's figures and operations; SarBeansTest checks its descriptions. */
@Timeout(30)
class ExactPassBeanTest {
    private final FakeJoin source = new FakeJoin();
    private final Joins joins = new Joins("pool0", source, Clock.systemUTC());
    private final ExactPassMXBean bean = new ExactPassView(joins);

    @AfterEach
    void end() throws IOException {
        joins.close();
    }

    private void awaitEnd() throws InterruptedException {
        while (bean.isRunning()) {
            Thread.sleep(1);
        }
    }

    @Test
    void beforeTheFirstPassThereIsTheEstimateOnly() {
        assertEquals("", bean.getPhase() + bean.getLastCause() + bean.getLastState());
        assertEquals(0, bean.getDone() + bean.getOf() + bean.getLastFoundBytes());
        assertEquals(0, bean.getLastSeconds());
        assertEquals(5 << 20, bean.getStoredTwiceBytes());
    }

    @Test
    void aPassIsStartedAndItsFiguresAreShown() throws Exception {
        bean.start();
        awaitEnd();
        assertEquals(
                List.of("joining", "JMX", "done"), List.of(bean.getPhase(), bean.getLastCause(), bean.getLastState()));
        assertEquals(List.of(3L, 4L), List.of(bean.getDone(), bean.getOf()));
        assertEquals(
                List.of(7L << 20, 6L << 20, 1L),
                List.of(bean.getLastFoundBytes(), bean.getLastJoinedBytes(), bean.getLastUnreadableChunks()));
        assertEquals(0, source.selective.get());
    }

    @Test
    void oneRunsAtATimeAndIsStopped() throws Exception {
        bean.stop();
        source.endless = true;
        bean.start();
        assertTrue(bean.isRunning());
        assertThrows(IllegalStateException.class, bean::start);
        bean.stop();
        awaitEnd();
        assertEquals("stopped", bean.getLastState());
        assertEquals(0, bean.getLastFoundBytes());
    }

    @Test
    void noneStartsWhileTheVolumeIsUnmounted() throws Exception {
        joins.close();
        assertThrows(UncheckedIOException.class, bean::start);
    }
}
