package org.opendedup.sar.sdfs.wear;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.LocalDate;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.StorageDevice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the bytes that a volume writes to its SSD location, a day and in total, over all mounts, and asks the devices
 * below for their wear each hour. Keeps the bytes in a file, which it writes every ten minutes and at the end: a crash
 * loses the bytes of the last minutes. Safe for use by many threads.
 */
public final class SsdWear implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SsdWear.class);

    private static final int KEEP_MINUTES = 10;
    private static final int WEAR_MINUTES = 60;
    private static final DeviceWear.Wear NOT_ASKED = new DeviceWear.Wear(null, "the device was not asked yet");
    private static final DeviceWear.Wear NO_SSD = new DeviceWear.Wear(null, "");

    private final ObjectMapper mapper = new ObjectMapper();
    private final Path file;
    private final Keeper keeper;
    private final LongSupplier written;
    private final Supplier<@Nullable Path> location;
    private final Clock clock;
    private final DeviceWear wear;
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2, Threads.named("sdfs-ssd-wear"));

    /** Guarded by this, as is the next. */
    private final WrittenDays days;

    private long seenBytes;

    /** Held while the file is written, so that who asks for figures does not wait for a disk that hangs. */
    private final Object keeping = new Object();

    /** Guarded by keeping. */
    private long keptBytes;

    private volatile DeviceWear.Wear lastWear = NOT_ASKED;
    private volatile String devices = "";

    /** Content of the file: the total, and bytes by days in ISO 8601. */
    private record Content(long totalBytes, SortedMap<String, Long> days) {}

    /** Writes the file. */
    @FunctionalInterface
    interface Keeper {
        void write(Path file, byte[] content) throws IOException;
    }

    SsdWear(
            Path file,
            Keeper keeper,
            LongSupplier written,
            Supplier<@Nullable Path> location,
            Clock clock,
            DeviceWear wear) {
        this.file = file;
        this.keeper = keeper;
        this.written = written;
        this.location = location;
        this.clock = clock;
        this.wear = wear;
        days = read();
        keptBytes = days.total();
    }

    /**
     * Begins to count.
     *
     * @param file keeps the bytes
     * @param written returns the bytes written to the SSD since the volume was mounted
     * @param location returns the folder on the SSD; null if there is none
     */
    public static SsdWear start(Path file, LongSupplier written, Supplier<@Nullable Path> location, Clock clock) {
        var started = new SsdWear(file, AtomicFile::write, written, location, clock, new DeviceWear());
        var unused = started.timer.scheduleWithFixedDelay(
                Threads.lasting(started::keepIfChanged), KEEP_MINUTES, KEEP_MINUTES, TimeUnit.MINUTES);
        // In its own thread: the device may hang.
        var unusedToo = started.timer.scheduleWithFixedDelay(
                Threads.lasting(started::askDevices), 0, WEAR_MINUTES, TimeUnit.MINUTES);
        return started;
    }

    /** Returns the figures of this moment; the wear is as the devices last said. */
    public synchronized WearFigures figures() {
        LocalDate today = take();
        DeviceWear.Wear known = lastWear;
        return new WearFigures(
                days.total(), days.on(today), days.meanBefore(today), known.used(), devices, known.unknown());
    }

    /** Adds what was written since the last call to the bytes of today, and returns today. */
    private LocalDate take() {
        LocalDate today = LocalDate.now(clock);
        long now = written.getAsLong();
        days.add(today, now - seenBytes);
        seenBytes = now;
        return today;
    }

    void askDevices() {
        try {
            Path folder = location.get();
            if (folder == null) {
                lastWear = NO_SSD;
                return;
            }
            List<String> found = StorageDevice.disksBelow(folder);
            devices = String.join(",", found);
            lastWear = wear.of(found);
        } catch (RuntimeException e) {
            // The next try may succeed; an exception would end the timer.
            LOG.warn("the wear of the SSD is not known", e);
        }
    }

    private void keepIfChanged() {
        try {
            keep();
        } catch (RuntimeException e) {
            LOG.warn("{} is not written", file, e);
        }
    }

    private void keep() {
        synchronized (keeping) {
            Content content = content();
            if (content.totalBytes == keptBytes) {
                return;
            }
            try {
                keeper.write(file, mapper.writeValueAsBytes(content));
                keptBytes = content.totalBytes;
            } catch (IOException e) {
                LOG.warn("{} cannot be written; the bytes written to the SSD are not kept: {}", file, e.getMessage());
            }
        }
    }

    private synchronized Content content() {
        var unused = take();
        var byDay = new TreeMap<String, Long>();
        days.days().forEach((day, bytes) -> byDay.put(day.toString(), bytes));
        return new Content(days.total(), byDay);
    }

    private WrittenDays read() {
        try {
            Content content = mapper.readValue(Files.readAllBytes(file), Content.class);
            SortedMap<LocalDate, Long> known = new TreeMap<>();
            content.days.forEach((day, bytes) -> known.put(LocalDate.parse(day), bytes));
            return new WrittenDays(content.totalBytes, known);
        } catch (NoSuchFileException e) {
            return new WrittenDays(0, new TreeMap<>());
        } catch (IOException | RuntimeException e) {
            LOG.warn("{} cannot be read; bytes written to the SSD count from now on: {}", file, e.getMessage());
            return new WrittenDays(0, new TreeMap<>());
        }
    }

    /** Keeps the bytes. To be called while the SSD can still be asked. */
    @Override
    public void close() {
        timer.shutdownNow();
        keepIfChanged();
    }
}
