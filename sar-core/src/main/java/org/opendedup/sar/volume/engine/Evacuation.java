package org.opendedup.sar.volume.engine;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.metadata.LocationRecords;
import org.opendedup.sar.metadata.record.DataLocation;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.opendedup.sar.volume.store.DataLocations;
import org.opendedup.sar.volume.store.DeviceSpaces;
import org.opendedup.sar.volume.store.Location;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a data location from a volume that is in use (docs/adr/0110): new packs are made elsewhere, a collection moves
 * the containers, and when no pack is left, nobody needs the location any more. Each step is recorded before the next
 * one relies on it, so after a crash the same command goes on, or the next mount completes what was decided.
 */
public final class Evacuation {
    private static final Logger log = LoggerFactory.getLogger(Evacuation.class);

    private final LocationRecords records;
    private final DataLocations data;
    private final DeviceSpaces devices;
    /** Locations that were left in an earlier mount, until they are forgotten. Guarded by this. */
    private final List<Location> left = new ArrayList<>();

    private Forgetting forgetting = folder -> {};

    /** Takes a location out of the configuration for the next opening. */
    @FunctionalInterface
    public interface Forgetting {
        /** @throws IOException if that is not possible; the next opening tries again */
        void forget(Path folder) throws IOException;
    }

    Evacuation(LocationRecords records, DataLocations data, DeviceSpaces devices, List<Location> left) {
        this.records = records;
        this.data = data;
        this.devices = devices;
        this.left.addAll(left);
    }

    /** Sets what takes locations out of the configuration, and completes what an earlier mount had to leave. */
    public synchronized void whenLeft(Forgetting now) throws IOException {
        forgetting = now;
        for (Location location : List.copyOf(left)) {
            forget(location);
            left.remove(location);
        }
    }

    /**
     * Makes no new packs in a location, durably.
     *
     * @throws IOException if it is no location that can be left, or there is no other one
     */
    synchronized void begin(Path folder) throws IOException {
        Location location = data.further(folder);
        location.requirePresent();
        if (data.locations().stream().allMatch(each -> each == location || each.isLeaving())) {
            throw new IOException("no other data location takes the containers of " + folder);
        }
        records.put(location.record(DataLocation.State.LEAVING));
        location.setLeaving(true);
    }

    /**
     * Makes new packs in a location again that its containers are leaving, durably. Does nothing to one that is used.
     * Either this comes before {@link #end}, which then fails, or the folder is no location any more.
     *
     * @return false if the folder is no location
     */
    synchronized boolean useAgain(Path folder) throws IOException {
        for (Location location : data.locations()) {
            if (location.toString().equals(folder.toString())) {
                if (location.isLeaving()) {
                    records.put(location.record(DataLocation.State.USED));
                    location.setLeaving(false);
                }
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the packs that are still in a location.
     *
     * @throws IOException also if that is not known, because its disk is not there
     */
    Set<Long> packs(Path folder) throws IOException {
        return data.further(folder).packs();
    }

    /**
     * Ends the use of a location that has no pack any more.
     *
     * @param kept containers that could not be moved
     * @throws IOException if it is {@link #useAgain used again}, if it has packs, which stay, or if that is not known,
     *     because its disk is not there
     */
    synchronized void end(Path folder, long kept) throws IOException {
        Location location = data.further(folder);
        if (!location.isLeaving()) {
            throw new IOException(folder + " stays a data location: add-location used it again meanwhile");
        }
        int packs = location.packs().size();
        if (packs > 0) {
            throw new IOException(packs + " packs stay in " + folder + ", with " + kept
                    + " containers of which a chunk cannot be read, or with former places of healed ones; heal the"
                    + " volume, and repeat the command");
        }
        records.put(location.record(DataLocation.State.LEFT));
        data.remove(location);
        forget(location);
    }

    private void forget(Location location) throws IOException {
        Path folder = Path.of(location.toString());
        forgetting.forget(folder);
        devices.removeBallast(folder);
        if (location.directory().exists(VolumeIdentity.NAME)) {
            location.directory().delete(VolumeIdentity.NAME);
            location.directory().sync();
        }
        removeEmptyFolders(folder);
        log.info("{} is no data location of the volume any more", folder);
    }

    /** Removes what packs had as folders, and then the location itself, if they are empty: all else is somebody's. */
    private static void removeEmptyFolders(Path location) {
        List<Path> folders = new ArrayList<>();
        try (DirectoryStream<Path> found =
                Files.newDirectoryStream(location, each -> PackFormat.isFolder(String.valueOf(each.getFileName())))) {
            found.forEach(folders::add);
        } catch (IOException | DirectoryIteratorException e) {
            log.debug("folders of packs stay in {}", location, e);
        }
        folders.add(location);
        for (Path folder : folders) {
            try {
                if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                    Files.delete(folder);
                }
            } catch (IOException e) {
                log.debug("{} stays as a folder", folder, e);
            }
        }
    }
}
