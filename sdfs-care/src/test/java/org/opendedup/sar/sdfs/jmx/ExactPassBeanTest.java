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
    private final BeanReader read = new BeanReader(JobBeans.joins(joins));

    @AfterEach
    void end() throws IOException {
        joins.close();
    }

    private void awaitEnd() throws Exception {
        while (read.flag("Running")) {
            Thread.sleep(1);
        }
    }

    @Test
    void beforeTheFirstPassThereIsTheEstimateOnly() throws Exception {
        assertEquals("", read.text("Phase") + read.text("LastCause") + read.text("LastState"));
        assertEquals(0, read.number("Done") + read.number("Of") + read.number("LastFoundBytes"));
        assertEquals(0, read.decimal("LastSeconds"));
        assertEquals(5 << 20, read.number("StoredTwiceBytes"));
    }

    @Test
    void aPassIsStartedAndItsFiguresAreShown() throws Exception {
        read.call("start");
        awaitEnd();
        assertEquals(
                List.of("joining", "JMX", "done"),
                List.of(read.text("Phase"), read.text("LastCause"), read.text("LastState")));
        assertEquals(List.of(3L, 4L), List.of(read.number("Done"), read.number("Of")));
        assertEquals(
                List.of(7L << 20, 6L << 20, 1L),
                List.of(
                        read.number("LastFoundBytes"),
                        read.number("LastJoinedBytes"),
                        read.number("LastUnreadableChunks")));
        assertEquals(0, source.selective.get());
    }

    @Test
    void oneRunsAtATimeAndIsStopped() throws Exception {
        read.call("stop");
        source.endless = true;
        read.call("start");
        assertTrue(read.flag("Running"));
        assertThrows(IllegalStateException.class, () -> read.call("start"));
        read.call("stop");
        awaitEnd();
        assertEquals("stopped", read.text("LastState"));
        assertEquals(0, read.number("LastFoundBytes"));
    }

    @Test
    void noneStartsWhileTheVolumeIsUnmounted() throws Exception {
        joins.close();
        assertThrows(UncheckedIOException.class, () -> read.call("start"));
    }
}
