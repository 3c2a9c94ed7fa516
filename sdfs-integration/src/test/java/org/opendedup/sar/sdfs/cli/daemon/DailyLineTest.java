package org.opendedup.sar.sdfs.cli.daemon;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.jmx.StoreFigures;
import org.opendedup.sar.sdfs.jmx.VolumeFigures;
import org.opendedup.sar.sdfs.wear.SsdWear;
import org.opendedup.sar.sdfs.wear.WearFigures;

@Timeout(30)
class DailyLineTest {
    private static Duration untilNext(String instant) {
        return untilNext(instant, Duration.ZERO);
    }

    private static Duration untilNext(String instant, Duration least) {
        return DailyLine.untilNext(Clock.fixed(Instant.parse(instant), ZoneId.of("Europe/Berlin")), least);
    }

    @Test
    void theNextLineIsAMinuteBeforeTheNextLocalMidnight() {
        assertEquals(Duration.ofHours(23).plusMinutes(59), untilNext("2026-11-28T23:00:00Z"));
        assertEquals(Duration.ofDays(1), untilNext("2026-11-29T22:59:00Z"), "not twice on one day");
        assertEquals(Duration.ofMillis(1), untilNext("2026-11-29T22:58:59.999Z"));
        assertEquals(Duration.ofHours(24).plusMinutes(59), untilNext("2026-10-24T22:00:00Z"), "a day of 25 hours");
    }

    /** A timer that rounds down is early by less than a millisecond, and one beside a slow clock by seconds. */
    @Test
    void aTimerThatIsEarlyMakesNoSecondLineOfTheDay() {
        String early = "2026-11-29T22:58:59.9995Z";
        assertEquals(Duration.ofDays(1).plusNanos(500_000), untilNext(early, Duration.ofHours(1)));
        assertEquals(Duration.ofNanos(500_000), untilNext(early), "the control");
    }

    /** The daemon does it itself: a program of root would follow a link that the volume's user has put there. */
    @Test
    void aLongOutputOfTheJvmIsEmptiedWhileItIsWritten(@TempDir Path folder) throws IOException {
        Path console = folder.resolve("pool0.console");
        DailyLine.bound(console);
        try (OutputStream jvm = Files.newOutputStream(console, CREATE, APPEND)) {
            jvm.write(new byte[(int) DailyLine.CONSOLE_BYTES_MAX]);
            DailyLine.bound(console);
            assertEquals(DailyLine.CONSOLE_BYTES_MAX, Files.size(console), "the control");
            jvm.write('x');
            DailyLine.bound(console);
            jvm.write('y');
            assertEquals("y", Files.readString(console));
        }
    }

    /** Of a thread that cannot be started, or a class that was replaced; else no line would follow. */
    @Test
    void anErrorDoesNotEndTheLines(@TempDir Path folder) {
        Supplier<VolumeFigures> failing = () -> {
            throw new NoClassDefFoundError("replaced");
        };
        try (SsdWear wear = SsdWear.start(folder.resolve("wear"), () -> 0, () -> null, Clock.systemUTC());
                DailyLine line = DailyLine.start(failing, wear, folder.resolve("none"), Clock.systemUTC())) {
            assertDoesNotThrow(line::tick);
        }
    }

    @Test
    void theLineHasSpaceGarbageRatioHealthAndSsdWrites() throws Exception {
        StoreFigures store = record(
                StoreFigures.class,
                Map.of("name", "pool0", "health", "degraded", "storedBytes", 61L << 30, "reclaimableBytes", 3L << 30));
        VolumeFigures figures = record(
                VolumeFigures.class,
                Map.of("store", store, "logicalBytes", 5L << 40, "reductionRatio", 83.934, "availableBytes", 7L << 30));
        assertEquals(
                "volume pool0 today: degraded; files 5.00 TiB, stored 61.0 GiB, of which 3.00 GiB garbage, ratio 83.93;"
                        + " available 7.00 GiB; written to the SSD 2.00 GiB",
                DailyLine.text(figures, new WearFigures(9L << 30, 2L << 30, 0, null, "", "")));
    }

    /** Makes a record of which the other components are 0, or nothing. */
    private static <R extends Record> R record(Class<R> type, Map<String, ?> values) throws Exception {
        RecordComponent[] components = type.getRecordComponents();
        Object[] arguments = new Object[components.length];
        Class<?>[] types = new Class<?>[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            Object none = types[i] == long.class ? (Object) 0L : types[i] == double.class ? (Object) 0.0 : null;
            Object given = values.get(components[i].getName());
            arguments[i] = given == null ? none : given;
        }
        return type.getDeclaredConstructor(types).newInstance(arguments);
    }
}
