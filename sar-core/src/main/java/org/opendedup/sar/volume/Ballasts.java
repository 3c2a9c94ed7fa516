package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
    /**
     * Size of one, or a thirty-second of its device if that is less. The metadata's takes what a log that is replayed writes anew,
     * the containers' what is on its way in memory, or the copy of a container that a crash left open.
     */
    private static final long BALLAST_BYTES = 64L << 20;

    private record Placed(Device device, Ballast ballast) {}

    private final List<Placed> all;

    private Ballasts(List<Placed> all) {
        this.all = all;
    }

    static Ballasts none() {
        return new Ballasts(List.of());
    }

    static Ballasts of(VolumeConfig.Locations locations) throws IOException {
        return in(List.of(locations.data(), locations.metadata()));
    }

    static Ballasts in(List<Path> folders) throws IOException {
        List<Placed> all = new ArrayList<>();
        for (Path folder : folders) {
            Device device = Device.of(folder);
            all.add(new Placed(device, new Ballast(folder, Math.min(BALLAST_BYTES, device.totalBytes() / 32))));
        }
        return new Ballasts(all);
    }

    /** Whether there is one to be given back. */
    boolean exist() {
        return all.stream().anyMatch(placed -> placed.ballast.exists());
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

    /** Makes those that are missing where there is room. */
    synchronized void restore() {
        for (Placed placed : all) {
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
                log.warn("{} could not be made: {}", placed.ballast, e.getMessage());
            }
        }
    }
}
