package org.opendedup.sar.sdfs.health;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.opendedup.sar.volume.store.DeviceCondition;

/** Decides from facts what is wrong with what a volume stores, and what to do; with or without files. */
public final class StoreRules {
    /** A device is nearly full below this number of bytes that can still be written there, ... */
    static final long NEARLY_FULL_BYTES = 10L << 30;

    /** ... if that is also less than this part of it. At a sixteenth, which is kept for deletes, writes are refused. */
    static final int NEARLY_FULL_PART = 10;

    /** How late a collection of the schedule may be. */
    static final Duration COLLECTION_LATE = Duration.ofDays(1);

    /** How old the last scrub may be, if there is a schedule: three times of the default one. */
    static final Duration SCRUB_AGE = Duration.ofDays(92);

    private final StoreFacts facts;
    private final Remedies remedies;
    private final List<Finding> findings = new ArrayList<>();

    private StoreRules(StoreFacts facts, Remedies remedies) {
        this.facts = facts;
        this.remedies = remedies;
    }

    /** Returns what is wrong, the worst first; empty if it is well. */
    public static List<Finding> findings(StoreFacts facts, Remedies remedies) {
        var rules = new StoreRules(facts, remedies);
        rules.damage();
        rules.changes();
        rules.space();
        rules.ssd();
        rules.scrub();
        rules.backups();
        rules.keyHeader();
        rules.rest();
        rules.findings.sort((one, other) -> other.severity().compareTo(one.severity()));
        return List.copyOf(rules.findings);
    }

    private void damage() {
        VolumeCondition condition = facts.condition();
        if (condition.damagedChunks() > 0) {
            damaged(
                    "damaged-chunks",
                    condition.damagedChunks() + " chunks of files are damaged: reading these bytes gives an I/O error",
                    remedies.ofDamage(),
                    remedies.listDamage() + "; " + remedies.by("heal --wait", "Heal", "start"));
        }
        if (condition.unmarkedFrames() > 0) {
            damaged(
                    "unreadable-containers",
                    condition.unmarkedFrames() + " frames cannot be read, nor can the directories of their containers",
                    "Check the disk of " + facts.containers() + " and its cables; the log names the containers",
                    remedies.listDamage());
        }
        if (condition.missingContainers() > 0) {
            damaged(
                    "missing-containers",
                    (condition.missingContainers() == 1
                                    ? "1 container is"
                                    : condition.missingContainers() + " containers are")
                            + " missing in " + facts.containers(),
                    // A collection after the backup may have written them anew in packs that the metadata do not
                    // know. Once the replaced metadata are given up, the next mount takes these for garbage.
                    condition.restored()
                            ? "Unmount the volume: sdfs-check with --rebuild-containers finds those that a collection"
                                    + " has moved since the metadata were backed up. The log names the files"
                            : "Put the missing files back, from where they were moved or from a backup; the log names"
                                    + " them",
                    remedies.listDamage());
        }
    }

    private void changes() {
        VolumeCondition condition = facts.condition();
        if (condition.stopped() != null && condition.resumable()) {
            degraded(
                    "read-only",
                    "the volume is read-only since a write to a disk failed: " + Printable.line(condition.stopped()),
                    "Make the disk work again; accepted data waits in memory until then",
                    remedies.by("resume", "Volume", "resume"));
        } else if (condition.stopped() != null) {
            damaged(
                    "read-only-for-good",
                    "the volume is read-only, and some of its last changes are lost: "
                            + Printable.line(condition.stopped()),
                    "Unmount and mount it to get the last committed state",
                    remedies.unmount());
        }
    }

    private void space() {
        String shortage = facts.condition().shortage();
        if (shortage != null) {
            degraded(
                    "no-space",
                    "writes are refused, because a disk is full: " + Printable.line(shortage),
                    "Free space on the disk, or delete files and collect the garbage",
                    remedies.collect());
        }
        List<DeviceCondition> devices = facts.condition().devices();
        for (DeviceCondition device : devices) {
            location(device);
            // A full data location is no lack of space while another one has some.
            boolean mayBeFull = device.parts().equals(List.of(DeviceCondition.CONTAINERS))
                    && devices.stream().anyMatch(other -> other != device && takesContainers(other));
            device(device, shortage != null || mayBeFull);
        }
    }

    private static boolean takesContainers(DeviceCondition device) {
        return device.parts().contains(DeviceCondition.CONTAINERS)
                && device.state().equals(DeviceCondition.OK)
                && !isNearlyFull(device);
    }

    private static boolean isNearlyFull(DeviceCondition device) {
        return device.usableBytes() < NEARLY_FULL_BYTES
                && device.usableBytes() < device.totalBytes() / NEARLY_FULL_PART;
    }

    private void location(DeviceCondition device) {
        if (device.state().equals(DeviceCondition.MISSING)) {
            degraded(
                    "data-location-missing",
                    "the data location " + device.folder() + " is not there: what lies in it cannot be read",
                    "Mount its disk there again",
                    remedies.listDamage());
        } else if (!device.state().equals(DeviceCondition.OK) && !device.state().equals(DeviceCondition.LEAVING)) {
            degraded(
                    "data-location-refuses",
                    "the data location " + device.folder() + " takes no new containers: "
                            + Printable.line(device.state()),
                    "Make its disk work again; until then the other locations get them",
                    remedies.listDamage());
        }
    }

    private void device(DeviceCondition device, boolean isKnownFull) {
        String name = "the disk of " + device.folder() + " (" + String.join(", ", device.parts()) + ")";
        if (device.missingBallastBytes() > 0 && device.usableBytes() < 2 * device.missingBallastBytes()) {
            degraded(
                    "ballast-used",
                    name + " is full, and the space that was kept for opening the volume then is used",
                    "Free " + ByteSize.rounded(2 * device.missingBallastBytes()) + " there, or delete files and"
                            + " collect the garbage",
                    remedies.collect());
        } else if (!isKnownFull && isNearlyFull(device)) {
            degraded(
                    "nearly-full",
                    name + " is nearly full: " + ByteSize.rounded(device.usableBytes()) + " of "
                            + ByteSize.rounded(device.totalBytes()) + " are left",
                    "Free space there, or delete files and collect the garbage",
                    remedies.collect());
        }
    }

    private void ssd() {
        String reason = facts.ssdReason().isEmpty() ? "" : ": " + Printable.line(facts.ssdReason());
        String attach = remedies.by("sar attach", "SsdLog", "attach");
        SsdState state = facts.ssd();
        if (state == SsdState.SUSPENDED) {
            degraded(
                    "ssd-suspended",
                    "the SSD answers too slowly and is not used for a while" + reason,
                    "Check the SSD if this lasts or repeats; the volume tries it again by itself",
                    remedies.by("sar status", "SsdLog", "State"));
        } else if (state == SsdState.READ_ONLY) {
            degraded("ssd-read-only", "the SSD takes no writes" + reason, "Replace it, and attach the new one", attach);
        } else if (state == SsdState.FAILED) {
            degraded("ssd-failed", "the SSD failed too often" + reason, "Check or replace it, and attach it", attach);
        } else if (state == SsdState.DETACHED && !facts.ssdDetachedOnRequest()) {
            degraded(
                    "ssd-lost", "the SSD is not attached" + reason, "Make its folder available, and attach it", attach);
        }
    }

    private void scrub() {
        ScrubFacts scrub = facts.scrub();
        String start = remedies.by("scrub start --wait", "Scrub", "start");
        // Damaged frames count as damaged chunks, as long as a file refers to them.
        ScrubTotals found = scrub.found();
        if (found.damagedContainers() > 0 || found.contradictions() > 0) {
            degraded(
                    "scrub-found",
                    "the last scrub found " + found.damagedContainers() + " containers whose directories are damaged or"
                            + " missing, and " + found.contradictions() + " contradictions to the metadata",
                    "Back up the files, and check the disk of " + facts.containers()
                            + "; the log names the containers, and the next scrub without a finding clears this",
                    remedies.logged("the scrub"));
        }
        if (found.references().wrong() > 0 || found.references().defects() > 0) {
            degraded(
                    "scrub-references",
                    "the last scrub found " + found.references().wrong()
                            + " chunks that files refer to as other content, and "
                            + found.references().defects() + " other defects of the metadata",
                    "Check the volume: the check names the files, and what mends each finding",
                    remedies.check());
        }
        if (found.index().shouldBeMadeAnew()) {
            degraded(
                    "scrub-index",
                    "of " + found.index().entries()
                            + " sampled entries of the fingerprint index, the last scrub removed "
                            + found.index().wrong() + " that named other content and "
                            + found.index().stale() + " that named nothing; there may be more",
                    "Unmount the volume and delete the index: the next mount makes it anew from the containers",
                    remedies.emptyIndex());
        }
        if (scrub.failure() != null) {
            degraded(
                    "scrub-failed",
                    "the last scrub failed: " + Printable.line(scrub.failure()),
                    "Remove the cause, and continue it",
                    start);
        }
        if (scrub.scheduled()
                && !scrub.running()
                && scrub.since().plus(SCRUB_AGE).isBefore(facts.now())) {
            degraded(
                    "scrub-late",
                    "no scrub was completed for "
                            + Duration.between(scrub.since(), facts.now()).toDays() + " days",
                    "Start one, and keep the volume mounted at the times of its schedule",
                    start);
        }
    }

    private void backups() {
        List<String> found = facts.backups().findings();
        if (!found.isEmpty()) {
            degraded(
                    "metadata-backups",
                    "the backups of the metadata in " + MetadataBackups.folderIn(facts.data())
                            + " are not as they should be: " + Printable.line(found.get(0))
                            + (found.size() == 1 ? "" : ", and " + (found.size() - 1) + " more"),
                    "Check the disk, and make a copy elsewhere. The next backup copies again what the database still"
                            + " has; a backup that stays damaged is removed when it is older than those that are kept",
                    remedies.listBackups());
        }
        String failure = facts.backups().failure();
        if (failure != null) {
            degraded(
                    "metadata-backup-failed",
                    "the metadata could not be backed up: " + Printable.line(failure),
                    "Remove the cause; the volume tries it again every five minutes",
                    remedies.listBackups());
        }
    }

    private void keyHeader() {
        if (!facts.keyHeaderFaults().isEmpty()) {
            degraded(
                    "key-header",
                    "the key header, without which nobody can open the volume, has not two good copies: "
                            + Printable.line(String.join("; ", facts.keyHeaderFaults())),
                    "Check the disk. While one copy is good, any passphrase or key of the volume has the other one"
                            + " written anew. If none is good, do not unmount yet: first make it anew from an exported"
                            + " master key (sdfscli " + facts.volume() + " key add --from-export=FILE), or copy all"
                            + " files elsewhere",
                    "sdfscli " + facts.volume() + " key test");
        }
    }

    private void rest() {
        VolumeCondition.Index index = facts.condition().index();
        if (!index.usable() || !index.complete() && !index.updating()) {
            degraded(
                    "index",
                    (index.usable() ? "the fingerprint index is not complete" : "the fingerprint index is not used")
                            + ": duplicates may be stored again",
                    "The log has the reason; when it is removed, the volume makes the index anew by itself",
                    remedies.logged("index"));
        }
        if (facts.condition().restored()) {
            degraded(
                    "restored",
                    "the metadata were restored: nothing is collected, so that the replaced metadata stay usable",
                    remedies.ofRestored(),
                    remedies.by("metadata-backup --accept-restored", "MetadataBackup", "acceptRestored"));
        }
        Instant due = facts.collectionDue();
        if (due != null && due.isBefore(facts.now().minus(COLLECTION_LATE))) {
            degraded(
                    "collection-due",
                    "no collection of garbage has run since " + due.truncatedTo(ChronoUnit.SECONDS)
                            + ", when the schedule asked for one",
                    "Collect, or keep the volume mounted for longer than ten minutes",
                    remedies.collect());
        }
        if (facts.collectionFailure() != null) {
            degraded(
                    "collection-failed",
                    "the last collection of garbage failed: " + Printable.line(facts.collectionFailure()),
                    "Remove the cause, and collect again",
                    remedies.collect());
        }
    }

    private void degraded(String id, String what, String remedy, String command) {
        findings.add(new Finding(id, Health.DEGRADED, what, remedy, command));
    }

    private void damaged(String id, String what, String remedy, String command) {
        findings.add(new Finding(id, Health.DAMAGED, what, remedy, command));
    }
}
