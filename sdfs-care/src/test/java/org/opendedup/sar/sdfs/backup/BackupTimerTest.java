package org.opendedup.sar.sdfs.backup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.backup.BackupFile;
import org.opendedup.sar.metadata.backup.BackupFolder;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.sdfs.config.BackupSettings;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.posix.Owner;

/** When a mounted volume backs its metadata up. */
class BackupTimerTest {
    private static final Duration INTERVAL = Duration.ofHours(6);

    @TempDir
    private Path folder;

    private final AtomicBoolean isCollecting = new AtomicBoolean();
    private VolumeConfig config;
    private Volume volume;
    private MetadataBackups backups;

    @BeforeEach
    void open() throws IOException {
        config = Definitions.plain("pool0", folder.resolve("base")).engineConfig();
        Volume.create(config);
        volume = Volume.open(config);
        backups = volume.maintenance().backups();
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    private BackupTimer timer(Duration later) {
        return timer(Clock.offset(Clock.systemUTC(), later), System::nanoTime);
    }

    private BackupTimer timer(Clock clock, LongSupplier nanoClock) {
        return new BackupTimer("pool0", backups, new BackupSettings(INTERVAL, 3), isCollecting::get, clock, nanoClock);
    }

    /** Times of day that the clock shows, one at each question: it is set back and forth, or stands still. */
    private static Clock jumping(Duration... offsets) {
        var asked = new AtomicInteger();
        Instant start = Instant.now();
        return Clock.tick(
                new Clock() {
                    @Override
                    public ZoneId getZone() {
                        return ZoneOffset.UTC;
                    }

                    @Override
                    public Clock withZone(ZoneId zone) {
                        throw new UnsupportedOperationException();
                    }

                    @Override
                    public Instant instant() {
                        return start.plus(offsets[asked.getAndIncrement() % offsets.length]);
                    }
                },
                Duration.ofMillis(1));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 3652})
    void whateverTheClockShowsThereIsOneBackupAnInterval(long days) throws IOException {
        var nanos = new AtomicLong();
        BackupTimer timer = timer(jumping(Duration.ZERO, Duration.ofDays(days), Duration.ofDays(-days)), nanos::get);
        timer.step();
        assertEquals(1, newest());
        for (int i = 0; i < 20; i++) {
            change("early" + i);
            timer.step();
            assertEquals(1, newest(), "before the interval");
        }
        nanos.addAndGet(INTERVAL.toNanos());
        timer.step();
        assertEquals(2, newest(), "the interval has passed, whatever the time of day is");
        change("again");
        timer.step();
        assertEquals(2, newest());
    }

    @Test
    void aBackupOfATimeToComeDoesNotEndBackups() throws IOException {
        timer(Duration.ofDays(3652)).step();
        change("one");
        var nanos = new AtomicLong();
        BackupTimer afterRemount = timer(Clock.offset(Clock.systemUTC(), Duration.ofDays(-1)), nanos::get);
        afterRemount.step();
        assertEquals(2, newest());
        change("two");
        afterRemount.step();
        assertEquals(2, newest());
        nanos.addAndGet(INTERVAL.toNanos());
        afterRemount.step();
        assertEquals(3, newest());
    }

    private long newest() throws IOException {
        List<Backup> all = backups.list();
        return all.get(all.size() - 1).number();
    }

    private void change(String name) throws IOException {
        long inode = volume.makeDirectory(Inode.ROOT, name.getBytes(UTF_8), 0755, new Owner(1, 1))
                .inode();
        volume.forget(inode, 1);
        volume.sync();
    }

    private int count() throws IOException {
        return backups.list().size();
    }

    @Test
    void theFirstIsMadeAtOnceAndFurtherOnesAfterTheIntervalIfSomethingHasChanged() throws IOException {
        timer(Duration.ZERO).step();
        assertEquals(1, count());
        change("one");
        timer(INTERVAL.minusMinutes(1)).step();
        assertEquals(1, count(), "the interval has not passed");
        timer(INTERVAL.plusMinutes(1)).step();
        assertEquals(2, count());
        timer(INTERVAL.multipliedBy(5)).step();
        assertEquals(2, count(), "nothing has changed");
        change("two");
        timer(Duration.ofDays(-30)).step();
        assertEquals(3, count(), "the clock was set back");
        change("three");
        timer(INTERVAL.multipliedBy(9)).step();
        assertEquals(3, count(), "three are kept");
        assertEquals(4, backups.list().get(2).number());
    }

    @Test
    void oneIsMadeAfterACollectionAndNotDuringIt() throws IOException {
        timer(Duration.ZERO).step();
        var report = volume.collector().collect(new CollectionLimits(0, false), (done, of, returned) -> true);
        assertEquals(0, report.copiedBytes());
        isCollecting.set(true);
        timer(Duration.ZERO).step();
        assertEquals(1, count());
        isCollecting.set(false);
        timer(Duration.ZERO).step();
        assertEquals(2, count());
        assertFalse(backups.isOlderThanCollection(backups.list().get(1)));
    }

    @Test
    void oneIsMadeWhenTheNewestIsDamaged() throws IOException {
        timer(Duration.ZERO).step();
        BackupFile file = backups.list().get(0).files().stream()
                .filter(one -> one.bytes() > 0)
                .findFirst()
                .orElseThrow();
        Path stored = backups.folder().resolve(file.stored());
        byte[] bytes = Files.readAllBytes(stored);
        bytes[0] ^= 1;
        Files.write(stored, bytes);
        timer(Duration.ZERO).step();
        assertEquals(1, count(), "the control: nothing is known of it, and nothing has changed");
        assertEquals(1, backups.scrub(BackupFolder.Steps.UNBOUND).size());
        assertEquals(1, backups.condition().findings().size());
        timer(Duration.ZERO).step();
        assertEquals(2, newest());
        timer(Duration.ZERO).step();
        assertEquals(2, newest(), "once");
    }

    @Test
    void damageIsKnownFromTheMountOn() throws IOException {
        timer(Duration.ZERO).step();
        assertEquals(List.of(), backups.condition().findings(), "the control");
        Files.writeString(backups.folder().resolve("000001.backup"), "damaged");
        var settings = new BackupSettings(INTERVAL, 3);
        try (BackupTimer mounted =
                BackupTimer.start("pool0", backups, settings, isCollecting::get, Clock.systemUTC())) {
            assertEquals(1, backups.condition().findings().size(), mounted::toString);
        }
    }

    @Test
    void theFirstIsNotMadeInTheMiddleOfACollection() throws IOException {
        isCollecting.set(true);
        timer(Duration.ZERO).step();
        assertEquals(0, count());
        isCollecting.set(false);
        timer(Duration.ZERO).step();
        assertEquals(1, count());
    }

    /** A volume that is being closed stops backups; the unmount goes on without one. */
    @Test
    void anUnmountGivesALastBackupUpThatIsStopped() throws IOException {
        backups.close();
        timer(Duration.ZERO).close();
        assertEquals(0, count());
    }

    @Test
    void anUnmountMakesOneIfTheLastIsOld() throws IOException {
        timer(Duration.ZERO).close();
        assertEquals(1, count());
        change("one");
        timer(Duration.ZERO).close();
        assertEquals(1, count());
        timer(INTERVAL.plusMinutes(1)).close();
        assertEquals(2, count());
    }

    @Test
    void anUnmountMakesOneAfterACollection() throws IOException {
        timer(Duration.ZERO).step();
        volume.collector().collect(new CollectionLimits(0, false), (done, of, returned) -> true);
        timer(Duration.ZERO).close();
        assertEquals(2, newest(), "the first refers to what was collected");
        timer(Duration.ZERO).close();
        assertEquals(2, newest(), "nothing was collected since");
    }

    @Test
    void anUnmountInTheMiddleOfACollectionMakesNone() throws IOException {
        timer(Duration.ZERO).step();
        backups.collectionBegins();
        isCollecting.set(true);
        timer(Duration.ZERO).close();
        assertEquals(1, newest(), "the collection takes away what it would refer to");
    }

    @Test
    void aFailureIsCountedAndTheVolumeGoesOn() throws IOException {
        Files.writeString(backups.folder(), "in the way");
        BackupTimer timer = timer(Duration.ZERO);
        timer.step();
        assertEquals(1, backups.failures());
        assertNotNull(backups.condition().failure());
        timer.step();
        assertEquals(1, backups.failures(), "tried again at once");
        change("goes on");
        Files.delete(backups.folder());
        timer(Duration.ZERO).step();
        assertEquals(1, count());
        assertNull(backups.condition().failure());
    }

    @Test
    void oneIsMadeAtEachEndIfThatIsWantedAndSomethingHasChanged() throws IOException {
        BackupSettings settings = new BackupSettings(INTERVAL, 3);
        end(settings);
        assertEquals(1, newest(), "the first one is due");
        change("one");
        end(settings);
        assertEquals(1, newest(), "the control: not wanted");
        end(settings.withEachEnd());
        assertEquals(2, newest());
        end(settings.withEachEnd());
        assertEquals(2, newest(), "nothing has changed");
    }

    /** Mounts, as far as the timer knows, and unmounts at once. */
    private void end(BackupSettings settings) {
        BackupTimer.start("pool0", backups, settings, isCollecting::get, Clock.systemUTC())
                .close();
    }

    @Test
    void offMeansNever() throws IOException {
        Clock clock = Clock.systemUTC();
        BackupTimer.start("pool0", backups, BackupSettings.of("off", 3), isCollecting::get, clock)
                .close();
        assertEquals(0, count());
    }
}
