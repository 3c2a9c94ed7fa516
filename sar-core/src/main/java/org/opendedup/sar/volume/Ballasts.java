package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.Ballast;
import org.opendedup.sar.io.Device;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A ballast on each device that a volume must write to before anything can be deleted: given back when that device is full, made
 * again when there is room. A volume has them at the folders of its containers and of its metadata.
 */
final class Ballasts {
    private static final Logger log = LoggerFactory.getLogger(Ballasts.class);
    /** What is on its way to the containers in memory, or the copy of one that a crash left open; no more than a thirty-second of the device. */
    private static final long DATA_BYTES = 64L << 20;

    private static final int DATA_PART = 32;
    /**
     * A log that is replayed writes as much again, up to 64 MiB or a thirty-second of the device (OpenDatabase). Half as much again is for
     * the batch that made the log that long, the new log, and the manifest; no more than a twenty-fourth of the device.
     */
    private static final long METADATA_BYTES = 96L << 20;

    private static final int METADATA_PART = 24;
    /** One that could not be made is tried again after so long. */
    private static final long PAUSE_NS = TimeUnit.MINUTES.toNanos(1);

    private static final class Placed {
        private final Device device;
        private final Ballast ballast;
        /** When it could not be made; null if it could, or was not tried. Guarded by the ballasts. */
        private @Nullable Long failedNs;

        Placed(Device device, Ballast ballast) {
            this.device = device;
            this.ballast = ballast;
        }
    }

    private final List<Placed> all;
    private final LongSupplier nanoClock;

    private Ballasts(List<Placed> all, LongSupplier nanoClock) {
        this.all = all;
        this.nanoClock = nanoClock;
    }

    static Ballasts none() {
        return new Ballasts(List.of(), System::nanoTime);
    }

    static Ballasts of(VolumeConfig.Locations locations) throws IOException {
        return of(locations.data(), locations.metadata(), System::nanoTime);
    }

    static Ballasts of(Path data, Path metadata, LongSupplier nanoClock) throws IOException {
        return new Ballasts(
                List.of(placed(data, DATA_BYTES, DATA_PART), placed(metadata, METADATA_BYTES, METADATA_PART)),
                nanoClock);
    }

    private static Placed placed(Path folder, long bytes, int part) throws IOException {
        Device device = Device.of(folder);
        return new Placed(device, new Ballast(folder, Math.min(bytes, device.totalBytes() / part)));
    }

    /**
     * Gives those back whose devices are full; all of them if none looks so, as what is full may be somebody's share of a device.
     *
     * @param purpose what the space is for
     * @return whether there was one
     */
    synchronized boolean free(String purpose) {
        List<Placed> full = all.stream().filter(Ballasts::isFull).toList();
        boolean any = false;
        for (Placed placed : full.isEmpty() ? all : full) {
            any |= free(placed, purpose);
        }
        return any;
    }

    /**
     * Gives those on one device back.
     *
     * @return whether there was one
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

    /** Deletes those that take up no space, so that they are made anew. */
    synchronized void check() {
        for (Placed placed : all) {
            try {
                if (placed.ballast.exists() && !placed.ballast.isSound()) {
                    log.info("{} takes up no space, and is made anew", placed.ballast);
                    placed.ballast.free();
                }
            } catch (IOException e) {
                log.warn("{}: {}", placed.ballast, e.getMessage());
            }
        }
    }

    /** Bytes to be left alone on a device, so that what is missing there can be made. */
    long missingBytes(Device device) {
        return all.stream()
                .filter(placed -> placed.device.equals(device) && !placed.ballast.exists())
                .mapToLong(placed -> placed.ballast.bytes())
                .sum();
    }

    /** Makes those that are missing where there is room, but for such as could not be made a moment ago. */
    synchronized void restore() {
        long now = nanoClock.getAsLong();
        for (Placed placed : all) {
            if (placed.failedNs != null && now - placed.failedNs < PAUSE_NS) {
                continue;
            }
            placed.failedNs = null;
            try {
                // As much again must be left: it is no help to be full because of it.
                if (!placed.ballast.exists() && placed.device.usableBytes() >= 2 * placed.ballast.bytes()) {
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
