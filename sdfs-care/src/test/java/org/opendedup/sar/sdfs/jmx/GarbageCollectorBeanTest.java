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
    private final BeanReader read = new BeanReader(JobBeans.collections(collections, timer));

    @AfterEach
    void end() throws IOException {
        timer.close();
        collections.close();
    }

    @Test
    void beforeTheFirstCollectionThereAreNoFigures() throws Exception {
        assertEquals("", read.text("LastState") + read.text("LastCause") + read.text("LastEnded"));
        assertEquals(
                0,
                read.number("Bytes")
                        + read.number("BytesDone")
                        + read.number("ReturnedBytes")
                        + read.number("LastStoredBytes"));
        assertEquals("0 0 12 ? * SUN", read.text("Schedule"));
        assertEquals("2026-11-29T12:00:00+01:00", read.text("Next"));
    }

    @Test
    void aCollectionIsStartedAndItsFiguresAreShown() throws Exception {
        collector.unreadable = 1;
        read.call("start");
        while (read.text("LastState").isEmpty()) {
            Thread.sleep(1);
        }
        assertEquals(List.of(new CollectionLimits(0.03, false)), collector.asked);
        assertEquals("done", read.text("LastState"));
        assertEquals("JMX", read.text("LastCause"));
        assertEquals("2026-11-28T11:00:00Z", read.text("LastEnded"));
        assertEquals(
                List.of(100L, 50L, 30L, 4000L, 400L, 12L, 88L, 2L, 117L),
                List.of(
                        read.number("Bytes") >> 20,
                        read.number("BytesDone") >> 20,
                        read.number("ReturnedBytes") >> 20,
                        read.number("LastStoredBytes") >> 20,
                        read.number("LastGarbageBytes") >> 20,
                        read.number("LastCopiedBytes") >> 20,
                        read.number("LastReturnedBytes") >> 20,
                        read.number("LastStrayBytes") >> 20,
                        read.number("LastLeftBytes") >> 20));
        assertEquals(
                List.of(25L, 15L, 10L, 1L),
                List.of(
                        read.number("LastVictims"),
                        read.number("LastRemoved"),
                        read.number("LastRewritten"),
                        read.number("LastKeptContainers")));
    }

    @Test
    void oneRunsAtATimeAndIsStopped() throws Exception {
        read.call("stop");
        collector.endless = true;
        read.call("start");
        assertTrue(read.flag("Running"));
        assertThrows(IllegalStateException.class, () -> read.call("start"));
        read.call("stop");
        while (read.flag("Running")) {
            Thread.sleep(1);
        }
        while (read.text("LastState").isEmpty()) {
            Thread.sleep(1);
        }
        assertEquals("stopped", read.text("LastState"));
        assertEquals(0, read.number("LastRemoved"));
    }

    @Test
    void thePaceIsSet() throws Exception {
        assertEquals(0, read.number("RateBytesPerSecond"));
        read.set("RateBytesPerSecond", 7_000_000L);
        read.set("Paused", true);
        assertEquals(7_000_000, collector.pace().bytesPerSecond());
        assertTrue(collector.pace().isPaused() && read.flag("Paused"));
        read.set("Paused", false);
        assertFalse(collector.pace().isPaused());
    }

    @Test
    void theLevelOfLaterCollectionsIsSet() throws Exception {
        assertEquals("off", read.text("Recompress"));
        read.set("Recompress", "zstd:9");
        assertEquals("zstd:9", read.text("Recompress"));
        assertThrows(IllegalArgumentException.class, () -> read.set("Recompress", "gzip"));
        read.call("start");
        while (read.text("LastState").isEmpty()) {
            Thread.sleep(1);
        }
        assertEquals(List.of(new CollectionLimits(0.03, false, 9, false)), collector.asked);
        assertEquals(
                List.of(180L, 20L, 70L),
                List.of(
                        read.number("LastRecompressed"),
                        read.number("LastIncompressible"),
                        read.number("LastRecompressSavedBytes") >> 20));
    }

    @Test
    void aCollectionThatTheVolumeBeganIsRunningToo() throws Exception {
        assertFalse(read.flag("Running"));
        collector.diskFull = true;
        assertTrue(read.flag("Running"));
        assertThrows(RuntimeException.class, () -> read.call("start"));
    }
}
