package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.check.Mend;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.check.TableRebuild;
import org.opendedup.sar.check.VolumeRepair;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.LocationRecords;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.ReplicaRecord;
import org.opendedup.sar.metadata.repair.MetadataRepair;
import org.opendedup.sar.remote.PackObjects;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.posix.TimeStamps;
import org.opendedup.sar.volume.store.LastBackingFiles;
import org.opendedup.sar.volume.store.UnmountedStores;

/**
 * Checks a volume that is not mounted, at its locations. The metadata database is locked meanwhile, so no mount can
 * begin. Neither the index nor the copies on the SSD are opened: both can be rebuilt. Of the backing files of raw files
 * only a repair asks.
 */
public final class OfflineCheck {
    /**
     * What a repair did.
     *
     * @param rebuilt what it did to the container table
     * @param done a sentence for each other change
     * @param quarantines names of the files in the metadata location that have the records which it replaced
     */
    public record RepairReport(TableRebuild.Report rebuilt, List<String> done, List<String> quarantines) {}

    private final String volume;
    private final VolumeConfig.Locations locations;
    private final @Nullable VolumeKeys keys;
    private final InstantSource clock;
    private final Progress progress;

    /** Checks a volume with these settings. */
    public OfflineCheck(VolumeConfig config, Progress progress, InstantSource clock) {
        this(config.name(), config.locations(), config.keys(), progress, clock);
    }

    /**
     * @param volume its name, for the commands in the findings
     * @param keys of an encrypted volume; null: it is not encrypted
     */
    public OfflineCheck(
            String volume,
            VolumeConfig.Locations locations,
            @Nullable VolumeKeys keys,
            Progress progress,
            InstantSource clock) {
        this.volume = volume;
        this.locations = locations;
        this.keys = keys;
        this.clock = clock;
        this.progress = progress;
    }

    /**
     * Checks the volume, and changes nothing. Of a volume in an object store, checks what another machine finds there
     * now; it may be mounted meanwhile.
     *
     * @param readsObjects whether each object in the store is read whole and compared with its checksum
     * @throws IOException if it cannot be checked: it is in use, a location is missing or is another volume's
     */
    public StoredVolume.Report check(boolean readsObjects) throws IOException {
        try (UnmountedStores stores = UnmountedStores.look(volume, locations, keys)) {
            var unused = lastUsed(stores);
            Scratch scratch = stores.folder().scratch(Scratch.MOST_MEMORY_BYTES, keys);
            StoredVolume.Report report = StoredVolume.unmounted(packs(stores), stores.metadata(), volume, scratch)
                    .check(progress);
            PackObjects objects = stores.objects();
            if (objects == null) {
                return report;
            }
            List<Finding> findings = new ArrayList<>(report.findings());
            Mend mend = new Mend(volume, false);
            for (String problem : stores.unusable()) {
                findings.add(finding(
                        Severity.DEFECT,
                        Kind.DAMAGED_OBJECT,
                        "a checkpoint of the metadata is not whole, and an earlier one was used: " + problem,
                        mend.of(Kind.LEFT_OBJECTS, "")));
            }
            String lease = stores.damageOfLease();
            if (lease != null) {
                findings.add(finding(
                        Severity.DEFECT,
                        Kind.DAMAGED_OBJECT,
                        "no machine can mount the volume, because its lease cannot be read: " + lease,
                        UnmountedStores.LEASE_REMEDY));
            }
            int tails = objects.leftTails().size();
            if (tails > 0) {
                findings.add(finding(
                        Severity.NOTE,
                        Kind.LEFT_OBJECTS,
                        tails + " objects are parts of packs that are there whole; a crash left them",
                        mend.of(Kind.LEFT_OBJECTS, "")));
            }
            if (readsObjects) {
                for (String problem : objects.damaged(progress)) {
                    findings.add(
                            finding(Severity.DEFECT, Kind.DAMAGED_OBJECT, problem, mend.of(Kind.DAMAGED_OBJECT, "")));
                }
            }
            return new StoredVolume.Report(report.containers(), findings);
        }
    }

    private static Finding finding(Severity severity, Kind kind, String what, String mend) {
        return new Finding(severity, kind, what, List.of(), List.of(), mend);
    }

    /** As {@link #check(boolean)}, without reading objects whole. */
    public StoredVolume.Report check() throws IOException {
        return check(false);
    }

    /** Makes the container table anew; see {@link TableRebuild}. */
    public TableRebuild.Report rebuildContainers() throws IOException {
        try (UnmountedStores stores = open()) {
            return VolumeRepair.rebuild(packs(stores), stores.metadata(), lastUsed(stores), progress);
        }
    }

    /**
     * Repairs what a check can mend without any byte of a file being given up: the container table, counts, totals,
     * links and names. Deletes no data; the records that it replaces are kept in a quarantine file in the metadata
     * location. If it is interrupted, call it again.
     *
     * @throws IOException if it is a volume of chunks, of which only the client has the references; nothing is changed
     */
    public RepairReport repair() throws IOException {
        try (UnmountedStores stores = open();
                LastBackingFiles backing = LastBackingFiles.at(locations, identity(stores.metadata()))) {
            KeyValueStore database = stores.metadata();
            // By recipes, which a volume of chunks does not have, all its chunks would be garbage.
            ContainerRecords.open(database).header().require(MetadataHeader.Contents.FILES);
            requireReceived(database);
            MetadataRepair repair = new MetadataRepair(
                    database, FileDirectory.open(locations.metadata()), backing, TimeStamps.now(clock));
            TableRebuild.Report rebuilt = VolumeRepair.run(
                    packs(stores),
                    database,
                    lastUsed(stores),
                    repair,
                    stores.folder().scratch(Scratch.MOST_MEMORY_BYTES, keys),
                    progress);
            List<String> done = new ArrayList<>(repair.done());
            PackObjects objects = stores.objects();
            int tails = objects == null ? 0 : objects.deleteLeftTails();
            if (tails > 0) {
                done.add("deleted " + tails + " objects that are parts of packs which are there whole");
            }
            return new RepairReport(rebuilt, done, repair.quarantines());
        }
    }

    /**
     * Makes a volume in an object store usable again whose metadata there cannot all be read; see
     * {@link UnmountedStores#salvage}.
     */
    public static String salvageStore(String volume, VolumeConfig.Locations locations, @Nullable VolumeKeys keys)
            throws IOException {
        return UnmountedStores.salvage(volume, locations, keys);
    }

    /** What is received later relies on what was received, as it is. */
    private void requireReceived(KeyValueStore database) throws IOException {
        ReplicaRecord replica = MetadataRecords.of(database).replica();
        if (replica != null && replica.underWay() != null) {
            throw new IOException("a snapshot is not received to its end, and nothing is repaired until then: send it"
                    + " again to 'sdfscli " + volume + " receive', or give it up with 'sdfscli " + volume
                    + " receive --abort'");
        }
    }

    private UnmountedStores open() throws IOException {
        return UnmountedStores.change(volume, locations, keys);
    }

    private static UUID identity(KeyValueStore database) throws IOException {
        return ContainerRecords.open(database).header().volume();
    }

    private PackFolder packs(UnmountedStores stores) {
        return new PackFolder(stores.data(), ContainerCipher.of(keys));
    }

    /** Returns when the locations were last used, once it is known that they are those of the metadata. */
    private static Epoch lastUsed(UnmountedStores stores) throws IOException {
        stores.data().requireAll(new LocationRecords(stores.metadata()).all());
        return stores.data().lastUsed(identity(stores.metadata()));
    }
}
