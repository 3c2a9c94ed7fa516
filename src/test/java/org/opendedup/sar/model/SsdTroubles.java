package org.opendedup.sar.model;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.policy.HotSettings.Policy;
import org.opendedup.sar.volume.Volume;

/**
 * Events of a volume's SSD between any two calls: an administrator detaches it, attaches it and changes its parameters;
 * bytes flip, files are truncated or vanish. No result of the volume may depend on them. For one thread, beside which
 * others may ask for figures.
 */
public final class SsdTroubles {
    /** Little more than the minimum of a useful SSD: there is space for about a MiB of chunks. */
    private static final long CAPACITY_BYTES = 6_700_000;

    /** Everything shared is promoted, and everything read twice. */
    public static final HotSettings SETTINGS =
            new HotSettings(true, CAPACITY_BYTES, 2, 1 << 30, true, 10_000, Policy.REFERENCE_COUNT);

    private static final int ONE_CALL_IN = 80;
    private static final int MAX_FLIPS = 30;

    private final Path location;
    private final SplittableRandom random;
    private final List<Path> damaged = new ArrayList<>();
    private Volume volume;
    /** Of volumes and SSDs that are no longer in use. */
    private volatile Figures past = new Figures(0, 0, 0, 0, 0);

    /**
     * Counters of the SSD, over all openings: a test with an unused SSD proves nothing.
     *
     * @param damaged records that were not what was written, and were dropped
     * @param cleaned segments of the log that were made free by copying what was left in them
     */
    public record Figures(long promoted, long ssdHits, long demotedBySpace, long damaged, long cleaned) {
        private static Figures ofVolume(HotChunks.Status status) {
            return new Figures(
                    status.promotion().promoted(),
                    status.distributor().ssdHits(),
                    status.demotion().bySpace(),
                    0,
                    0);
        }

        private static Figures ofSsd(HotChunks.Status status) {
            return new Figures(0, 0, 0, status.log().badRecords(), status.log().cleanedSegments());
        }

        public Figures plus(Figures other) {
            return new Figures(
                    promoted + other.promoted,
                    ssdHits + other.ssdHits,
                    demotedBySpace + other.demotedBySpace,
                    damaged + other.damaged,
                    cleaned + other.cleaned);
        }
    }

    /** @param location location of the SSD */
    public SsdTroubles(Path location, long seed) {
        this.location = location;
        random = new SplittableRandom(seed);
        damaged.add(location.resolve("segments"));
    }

    /** Files of that folder are damaged as often as those of the SSD's log: for controls. */
    public void damageToo(Path folder) {
        damaged.add(folder);
    }

    /** This is the volume's SSD from now on. An empty one is attached. */
    public Volume opened(Volume now) throws IOException {
        volume = now;
        if (now.hot().status().state() == SsdState.DETACHED) {
            now.hot().attach(location);
        }
        return now;
    }

    /** The file system of the volume; from time to time an event happens before a call. */
    public FileSystem amid(FileSystem fileSystem) {
        return BeforeCalls.of(fileSystem, this::before);
    }

    private void before(String method) throws IOException {
        if (method.equals("remount") || method.equals("close")) {
            past = figures();
        } else if (random.nextInt(ONE_CALL_IN) == 0) {
            happen();
        }
    }

    /** The SSD's counters until now; call it before the volume is closed. */
    public Figures figures() {
        HotChunks.Status status = volume.hot().status();
        return past.plus(Figures.ofVolume(status)).plus(Figures.ofSsd(status));
    }

    /** Of all closed volumes. */
    public Figures past() {
        return past;
    }

    /** Makes one event happen. */
    public void happen() throws IOException {
        switch (volume.hot().status().state()) {
            case DETACHED, FAILED -> whileDetached();
            default -> whileAttached();
        }
    }

    private void whileAttached() throws IOException {
        switch (random.nextInt(12)) {
            case 0 -> {
                noteSsd();
                volume.hot().detach();
            }
            case 1 -> volume.hot().demotion().demoteUpTo(random.nextInt(4));
            case 2, 3, 4 -> volume.hot().change(settings());
            default -> damageAll();
        }
    }

    private void whileDetached() throws IOException {
        switch (random.nextInt(5)) {
            case 0 -> damageAll();
            case 1 -> damage(location.resolve("map"));
            case 2 -> delete(files(location.resolve("map")));
            default -> volume.hot().attach(location);
        }
    }

    private void noteSsd() {
        past = past.plus(Figures.ofSsd(volume.hot().status()));
    }

    /** Most often the initial parameters, so that the SSD is not idle for long. */
    private HotSettings settings() {
        if (random.nextBoolean()) {
            return SETTINGS;
        }
        return new HotSettings(
                random.nextInt(8) != 0,
                random.nextInt(8) == 0 ? 0 : CAPACITY_BYTES + random.nextInt(-500_000, 500_000),
                random.nextInt(1, 5),
                1 << random.nextInt(14, 30),
                random.nextBoolean(),
                random.nextInt(1000),
                random.nextBoolean() ? Policy.COST : Policy.REFERENCE_COUNT);
    }

    private void damageAll() throws IOException {
        for (Path folder : damaged) {
            damage(folder);
        }
    }

    /** Flips bytes of a file, truncates it, or deletes it. */
    private void damage(Path folder) throws IOException {
        List<Path> files = files(folder);
        if (files.isEmpty()) {
            return;
        }
        Path file = files.get(random.nextInt(files.size()));
        int dice = random.nextInt(10);
        try {
            if (dice == 0) {
                Files.delete(file);
            } else {
                damageFile(file, dice == 1);
            }
        } catch (NoSuchFileException e) {
            // The log deleted it first.
        }
    }

    private void damageFile(Path file, boolean cutOff) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long size = channel.size();
            if (size == 0) {
                return;
            }
            if (cutOff) {
                channel.truncate(random.nextLong(size));
                return;
            }
            for (int flips = random.nextInt(MAX_FLIPS); flips > 0; flips--) {
                flip(channel, random.nextLong(size));
            }
        }
    }

    private static void flip(FileChannel channel, long at) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(1);
        if (channel.read(one, at) == 1) {
            one.put(0, (byte) ~one.get(0));
            channel.write(one.flip(), at);
        }
    }

    private List<Path> files(Path folder) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder)) {
            found.forEach(files::add);
        }
        // In an order that only the seed decides.
        Collections.sort(files);
        return files;
    }

    private static void delete(List<Path> files) throws IOException {
        for (Path file : files) {
            // The log, or the table itself, may have deleted it first.
            Files.deleteIfExists(file);
        }
    }
}
