package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZonedDateTime;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sdfs.jmx.VolumeFigures;
import org.opendedup.sar.sdfs.wear.SsdWear;
import org.opendedup.sar.sdfs.wear.WearFigures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs one line about a mounted volume each day, a little before midnight: the day's SSD writes are complete then. Also
 * bounds what the JVM has printed. No other program may do that for all volumes: it would run as root in folders of the
 * volumes' users, who can put a link there.
 */
final class DailyLine implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DailyLine.class);
    private static final LocalTime AT = LocalTime.of(23, 59);
    /** From one line to the next at least. The timer may be early: a day of the clock may be longer than one of it. */
    private static final Duration LEAST = Duration.ofHours(1);

    /** Bytes of the JVM's output from which on it is emptied. It is little, apart from dumps that were asked for. */
    static final long CONSOLE_BYTES_MAX = 1 << 20;

    private final Supplier<VolumeFigures> figures;
    private final SsdWear wear;
    private final Path console;
    private final Clock clock;
    private final ScheduledExecutorService timer =
            Executors.newSingleThreadScheduledExecutor(Threads.named("sdfs-daily"));

    private DailyLine(Supplier<VolumeFigures> figures, SsdWear wear, Path console, Clock clock) {
        this.figures = figures;
        this.wear = wear;
        this.console = console;
        this.clock = clock;
    }

    /** @param console the file that this JVM prints to, which need not exist */
    static DailyLine start(Supplier<VolumeFigures> figures, SsdWear wear, Path console, Clock clock) {
        var started = new DailyLine(figures, wear, console, clock);
        started.scheduleNext(Duration.ZERO);
        return started;
    }

    private void scheduleNext(Duration least) {
        var unused = timer.schedule(this::tick, untilNext(clock, least).toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Returns the time until the next line, in the local calendar, that is not before the least time. */
    static Duration untilNext(Clock clock, Duration least) {
        ZonedDateTime now = ZonedDateTime.now(clock);
        ZonedDateTime from = now.plus(least);
        ZonedDateTime sameDay = from.with(AT);
        return Duration.between(now, from.isBefore(sameDay) ? sameDay : sameDay.plusDays(1));
    }

    /** Logs the line, and has the next one logged; that also if this one fails. */
    void tick() {
        try {
            LOG.info("{}", text(figures.get(), wear.figures()));
        } catch (RuntimeException | Error e) {
            LOG.warn("the figures of the day are not known: {}", e.toString());
        }
        try {
            bound(console);
        } catch (IOException | RuntimeException | Error e) {
            LOG.warn("{} cannot be emptied: {}", console, e.toString());
        }
        scheduleNext(LEAST);
    }

    /** Empties a long file. Who has it open to append goes on at its new end. */
    static void bound(Path console) throws IOException {
        if (Files.exists(console) && Files.size(console) > CONSOLE_BYTES_MAX) {
            PrivateFiles.createEmpty(console);
        }
    }

    static String text(VolumeFigures figures, WearFigures wear) {
        return String.format(
                Locale.ROOT,
                "volume %s today: %s; files %s, stored %s, of which %s garbage, ratio %.2f; available %s;"
                        + " written to the SSD %s",
                figures.store().name(),
                figures.store().health(),
                ByteSize.rounded(figures.logicalBytes()),
                ByteSize.rounded(figures.store().storedBytes()),
                ByteSize.rounded(figures.store().reclaimableBytes()),
                figures.reductionRatio(),
                ByteSize.rounded(figures.availableBytes()),
                ByteSize.rounded(wear.writtenTodayBytes()));
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
