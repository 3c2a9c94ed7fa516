package org.opendedup.sar.sdfs.jmx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.sdfs.collect.FakeCollector;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.config.Schedule;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.ScheduleTimer;

/** The bean's figures and operations; SarBeansTest checks its descriptions and ranges. */
@Timeout(30)
class GarbageCollectorBeanTest {
    private static final Clock SATURDAY =
            Clock.fixed(Instant.parse("2026-11-28T11:00:00.5Z"), ZoneId.of("Europe/Berlin"));

    private final FakeCollector collector = new FakeCollector();
    private final GarbageCollections collections = new GarbageCollections(
            "pool0", collector, collector.moves(), FakeCollector.recompress(), () -> {}, SATURDAY);
    private final ScheduleTimer timer = ScheduleTimer.start(
            "the collection of garbage",
            () -> collections.start(Cause.SCHEDULE).isPresent(),
            Optional::empty,
            Schedule.parse(Schedule.COLLECTIONS_DEFAULT),
            SATURDAY);
    private final GarbageCollectorMXBean bean = new GarbageCollectorView(collections, timer);

    @AfterEach
    void end() throws IOException {
        timer.close();
        collections.close();
    }

    @Test
    void beforeTheFirstCollectionThereAreNoFigures() {
        assertEquals("", bean.getLastState() + bean.getLastCause() + bean.getLastEnded());
        assertEquals(0, bean.getBytes() + bean.getBytesDone() + bean.getReturnedBytes() + bean.getLastStoredBytes());
        assertEquals("0 0 12 ? * SUN", bean.getSchedule());
        assertEquals("2026-11-29T12:00:00+01:00", bean.getNext());
    }

    @Test
    void aCollectionIsStartedAndItsFiguresAreShown() throws Exception {
        collector.unreadable = 1;
        bean.start();
        while (bean.getLastState().isEmpty()) {
            Thread.sleep(1);
        }
        assertEquals(List.of(new CollectionLimits(0.03, false)), collector.asked);
        assertEquals("done", bean.getLastState());
        assertEquals("JMX", bean.getLastCause());
        assertEquals("2026-11-28T11:00:00Z", bean.getLastEnded());
        assertEquals(
                List.of(100L, 50L, 30L, 4000L, 400L, 12L, 88L, 2L, 117L),
                List.of(
                        bean.getBytes() >> 20,
                        bean.getBytesDone() >> 20,
                        bean.getReturnedBytes() >> 20,
                        bean.getLastStoredBytes() >> 20,
                        bean.getLastGarbageBytes() >> 20,
                        bean.getLastCopiedBytes() >> 20,
                        bean.getLastReturnedBytes() >> 20,
                        bean.getLastStrayBytes() >> 20,
                        bean.getLastLeftBytes() >> 20));
        assertEquals(
                List.of(25L, 15L, 10L, 1L),
                List.of(
                        bean.getLastVictims(),
                        bean.getLastRemoved(),
                        bean.getLastRewritten(),
                        bean.getLastKeptContainers()));
    }

    @Test
    void oneRunsAtATimeAndIsStopped() throws Exception {
        bean.stop();
        collector.endless = true;
        bean.start();
        assertTrue(bean.isRunning());
        assertThrows(IllegalStateException.class, bean::start);
        bean.stop();
        while (bean.isRunning()) {
            Thread.sleep(1);
        }
        while (bean.getLastState().isEmpty()) {
            Thread.sleep(1);
        }
        assertEquals("stopped", bean.getLastState());
        assertEquals(0, bean.getLastRemoved());
    }

    @Test
    void thePaceIsSet() {
        assertEquals(0, bean.getRateBytesPerSecond());
        bean.setRateBytesPerSecond(7_000_000);
        bean.setPaused(true);
        assertEquals(7_000_000, collector.pace().bytesPerSecond());
        assertTrue(collector.pace().isPaused() && bean.isPaused());
        bean.setPaused(false);
        assertFalse(collector.pace().isPaused());
    }

    @Test
    void theLevelOfLaterCollectionsIsSet() throws Exception {
        assertEquals("off", bean.getRecompress());
        bean.setRecompress("zstd:9");
        assertEquals("zstd:9", bean.getRecompress());
        assertThrows(IllegalArgumentException.class, () -> bean.setRecompress("gzip"));
        bean.start();
        while (bean.getLastState().isEmpty()) {
            Thread.sleep(1);
        }
        assertEquals(List.of(new CollectionLimits(0.03, false, 9, false)), collector.asked);
        assertEquals(
                List.of(180L, 20L, 70L),
                List.of(
                        bean.getLastRecompressed(),
                        bean.getLastIncompressible(),
                        bean.getLastRecompressSavedBytes() >> 20));
    }

    @Test
    void aCollectionThatTheVolumeBeganIsRunningToo() {
        assertFalse(bean.isRunning());
        collector.diskFull = true;
        assertTrue(bean.isRunning());
        assertThrows(RuntimeException.class, bean::start);
    }
}
