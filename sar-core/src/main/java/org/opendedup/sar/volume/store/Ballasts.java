package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.Ballast;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ballasts of a volume: one on each device that the volume must write to before anything can be deleted. A ballast
 * is deleted when its device is full, and created again when there is room. A volume has them in the folders of its
 * containers and of its metadata.
 */
public final class Ballasts {
    private static final Logger log = LoggerFactory.getLogger(Ballasts.class);
    /**
     * Size of the ballast for the containers, in bytes: room for data in memory that is being written to the
     * containers, or for the copy of one that a crash left open. At most a thirty-second of the device.
     */
    private static final long DATA_BYTES = 64L << 20;

    private static final int DATA_PART = 32;
    /**
     * Size of the ballast for the metadata, in bytes. Replaying a log writes its length again, up to 64 MiB or a
     * thirty-second of the device (OpenDatabase). Another half of that is for the batch that made the log that long,
     * the new log, and the manifest. At most a twenty-fourth of the device.
     */
    private static final long METADATA_BYTES = 96L << 20;

    private static final int METADATA_PART = 24;
    /** Time in nanoseconds after which creating a ballast is retried if it failed. */
    private static final long PAUSE_NS = TimeUnit.MINUTES.toNanos(1);

    private static final class Placed {
        private final Path folder;
        /** Whether it is a data location that was added, which has a mark. */
        private final boolean isFurther;

        private final Device device;
        private final Ballast ballast;
        /**
         * Time of the last failure to create it, in nanoseconds; null if creating it did not fail, or was not tried.
         * Guarded by the ballasts.
         */
        private @Nullable Long failedNs;

        Placed(Path folder, boolean isFurther, Device device, Ballast ballast) {
            this.folder = folder;
            this.isFurther = isFurther;
            this.device = device;
            this.ballast = ballast;
        }
    }

    private final List<Placed> all;
    private final LongSupplier nanoClock;

    private Ballasts(List<Placed> all, LongSupplier nanoClock) {
        this.all = new CopyOnWriteArrayList<>(all);
        this.nanoClock = nanoClock;
    }

    public static Ballasts none() {
        return new Ballasts(List.of(), System::nanoTime);
    }

    public static Ballasts of(VolumeConfig.Locations locations) throws IOException {
        Ballasts ballasts = of(locations.data(), locations.metadata(), System::nanoTime);
        for (Path further : locations.furtherData()) {
            ballasts.add(further);
        }
        return ballasts;
    }

    /** Adds the ballast of another folder of containers; {@link #restore} makes it. */
    void add(Path data) throws IOException {
        all.add(placed(data, true, DATA_BYTES, DATA_PART));
    }

    /** Deletes the ballast of a folder, and makes it no more. */
    synchronized void remove(Path data) {
        for (Placed placed : all) {
            if (placed.isFurther && placed.folder.equals(data)) {
                all.remove(placed);
                try {
                    placed.ballast.free();
                } catch (IOException e) {
                    log.warn("{} could not be deleted: {}", placed.ballast, e.getMessage());
                }
            }
        }
    }

    static Ballasts of(Path data, Path metadata, LongSupplier nanoClock) throws IOException {
        return new Ballasts(
                List.of(
                        placed(data, false, DATA_BYTES, DATA_PART),
                        placed(metadata, false, METADATA_BYTES, METADATA_PART)),
                nanoClock);
    }

    private static Placed placed(Path folder, boolean isFurther, long bytes, int part) throws IOException {
        Device device = FileDevice.of(folder);
        return new Placed(folder, isFurther, device, new Ballast(folder, Math.min(bytes, device.totalBytes() / part)));
    }

    /**
     * Deletes the ballasts whose devices are full. Deletes all of them if no device appears full, because a user's
     * share (quota) of a device may be used up instead.
     *
     * @param purpose what the space is for
     * @return whether a ballast was deleted
     */
    public synchronized boolean free(String purpose) {
        List<Placed> full = all.stream().filter(Ballasts::isFull).toList();
        boolean any = false;
        for (Placed placed : full.isEmpty() ? all : full) {
            any |= free(placed, purpose);
        }
        return any;
    }

    /**
     * Deletes the ballasts on one device.
     *
     * @return whether a ballast was deleted
     */
    synchronized boolean freeOn(Device device, String purpose) {
        boolean any = false;
        for (Placed placed : all) {
            any |= placed.device.equals(device) && free(placed, purpose);
        }
        return any;
    }

    private static boolean isFull(Placed placed) {
        try {
            return placed.device.usableBytes() < placed.ballast.bytes();
        } catch (IOException e) {
            log.debug("not known of {}", placed.device, e);
            return false;
        }
    }

    private static boolean free(Placed placed, String purpose) {
        try {
            if (!placed.ballast.free()) {
                return false;
            }
            log.warn(
                    "the disk under {} is full: the ballast there was deleted, {} bytes, to {}",
                    placed.device,
                    placed.ballast.bytes(),
                    purpose);
            return true;
        } catch (IOException e) {
            log.warn("{} could not be deleted: {}", placed.ballast, e.getMessage());
            return false;
        }
    }

    /** Deletes the ballasts that occupy no space, so that they are created again. */
    synchronized void check() {
        for (Placed placed : all) {
            try {
                if (placed.ballast.exists() && !placed.ballast.isSound()) {
                    log.info("{} occupies no space and is made again", placed.ballast);
                    placed.ballast.free();
                }
            } catch (IOException e) {
                log.warn("{}: {}", placed.ballast, e.getMessage());
            }
        }
    }

    /** Returns the bytes to be kept free on a device, so that missing ballasts can be created there. */
    long missingBytes(Device device) {
        return all.stream()
                .filter(placed -> placed.device.equals(device) && !placed.ballast.exists())
                .mapToLong(placed -> placed.ballast.bytes())
                .sum();
    }

    /** Returns the bytes of the ballasts that exist. */
    long presentBytes() {
        return all.stream()
                .filter(placed -> placed.ballast.exists())
                .mapToLong(placed -> placed.ballast.bytes())
                .sum();
    }

    /** Returns whether a folder is still on the disk of its volume, and not the empty one below a mount point. */
    private static boolean isThere(Placed placed) {
        return !placed.isFurther || Files.exists(placed.folder.resolve(VolumeIdentity.NAME));
    }

    /** Creates missing ballasts where there is room, except those whose creation failed recently. */
    synchronized void restore() {
        long now = nanoClock.getAsLong();
        for (Placed placed : all) {
            if (placed.failedNs != null && now - placed.failedNs < PAUSE_NS) {
                continue;
            }
            placed.failedNs = null;
            try {
                // The same amount must stay free: a ballast that fills the device is of no use.
                if (!placed.ballast.exists()
                        && isThere(placed)
                        && placed.device.usableBytes() >= 2 * placed.ballast.bytes()) {
                    placed.ballast.make();
                    log.info(
                            "made {}, {} bytes, to be deleted when the disk is full",
                            placed.ballast,
                            placed.ballast.bytes());
                }
            } catch (IOException | RuntimeException e) {
                placed.failedNs = now;
                log.warn("{} could not be made: {}", placed.ballast, e.getMessage());
            }
        }
    }
}
