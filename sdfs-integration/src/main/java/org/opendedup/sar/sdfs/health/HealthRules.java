package org.opendedup.sar.sdfs.health;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.metadata.ScrubTotals;
import org.opendedup.sar.sdfs.health.RequestFailures.Counts;
import org.opendedup.sar.tier.SsdState;
import org.opendedup.sar.volume.FastTier;
import org.opendedup.sar.volume.VolumeCondition;
import org.opendedup.sar.volume.store.DeviceCondition;

/** Decides from facts what is wrong with a volume, and what to do. */
public final class HealthRules {
    /** A device is nearly full below this number of bytes that can still be written there, ... */
    static final long NEARLY_FULL_BYTES = 10L << 30;

    /** ... if that is also less than this part of it. */
    static final int NEARLY_FULL_PART = 20;

    /** How long a failed request counts that nothing else explains. */
    static final Duration RECENT = Duration.ofHours(1);

    /** How old the last scrub may be, if there is a schedule: three times of the default one. */
    static final Duration SCRUB_AGE = Duration.ofDays(92);

    private final HealthFacts facts;
    private final List<Finding> findings = new ArrayList<>();

    private HealthRules(HealthFacts facts) {
        this.facts = facts;
    }

    /** Returns what is wrong, the worst first; empty if the volume is well. */
    public static List<Finding> findings(HealthFacts facts) {
        var rules = new HealthRules(facts);
        rules.damage();
        rules.changes();
        rules.space();
        rules.ssd();
        rules.fastTier();
        rules.scrub();
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
                    "List the files, and heal them: write the same content again, under any name, or attach the SSD"
                            + " that has copies",
                    listDamage() + "; sdfscli " + facts.volume() + " heal --wait");
        }
        if (condition.unmarkedFrames() > 0) {
            damaged(
                    "unreadable-containers",
                    condition.unmarkedFrames() + " frames cannot be read, nor can the directories of their containers",
                    "Check the disk of " + facts.data() + " and its cables; the log names the containers",
                    listDamage());
        }
        if (condition.missingContainers() > 0) {
            damaged(
                    "missing-containers",
                    (condition.missingContainers() == 1
                                    ? "1 container is"
                                    : condition.missingContainers() + " containers are")
                            + " missing in " + facts.data(),
                    "Put the missing files back, from where they were moved or from a backup; the log names them",
                    listDamage());
        }
    }

    private void changes() {
        VolumeCondition condition = facts.condition();
        if (condition.stopped() != null && condition.resumable()) {
            degraded(
                    "read-only",
                    "the volume is read-only since a write to a disk failed: " + Printable.line(condition.stopped()),
                    "Make the disk work again; accepted data waits in memory until then",
                    "sdfscli " + facts.volume() + " resume");
        } else if (condition.stopped() != null) {
            damaged(
                    "read-only-for-good",
                    "the volume is read-only, and some of its last changes are lost: "
                            + Printable.line(condition.stopped()),
                    "Unmount and mount it to get the last committed state",
                    "sdfscli " + facts.volume() + " unmount");
        }
        if (facts.lostAtLastEnd() != null) {
            degraded(
                    "lost-at-last-end",
                    Printable.line(facts.lostAtLastEnd()),
                    "Write these files again; the next mount forgets this message",
                    "");
        }
    }

    private void space() {
        String shortage = facts.condition().shortage();
        if (shortage != null) {
            degraded(
                    "no-space",
                    "writes are refused, because a disk is full: " + Printable.line(shortage),
                    "Free space on the disk, or delete files and collect the garbage",
                    collect());
        }
        for (DeviceCondition device : facts.condition().devices()) {
            device(device, shortage != null);
        }
        if (shortage == null
                && facts.space().availableBytes() == 0
                && facts.space().deviceFreeBytes() > 0) {
            degraded(
                    "volume-full",
                    "the volume is full: its files use the capacity of "
                            + ByteSize.rounded(facts.space().capacityBytes()),
                    "Delete files",
                    "sdfscli " + facts.volume() + " df");
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
                    collect());
        } else if (!isKnownFull
                && device.usableBytes() < NEARLY_FULL_BYTES
                && device.usableBytes() < device.totalBytes() / NEARLY_FULL_PART) {
            degraded(
                    "nearly-full",
                    name + " is nearly full: " + ByteSize.rounded(device.usableBytes()) + " of "
                            + ByteSize.rounded(device.totalBytes()) + " are left",
                    "Free space there, or delete files and collect the garbage",
                    collect());
        }
    }

    private String listDamage() {
        return "sdfscli " + facts.volume() + " damaged";
    }

    private String collect() {
        return "sdfscli " + facts.volume() + " gc --wait";
    }

    private void ssd() {
        String reason = facts.ssdReason().isEmpty() ? "" : ": " + Printable.line(facts.ssdReason());
        String attach = "sdfscli " + facts.volume() + " sar attach";
        SsdState state = facts.ssd();
        if (state == SsdState.SUSPENDED) {
            degraded(
                    "ssd-suspended",
                    "the SSD answers too slowly and is not used for a while" + reason,
                    "Check the SSD if this lasts or repeats; the volume tries it again by itself",
                    "sdfscli " + facts.volume() + " sar status");
        } else if (state == SsdState.READ_ONLY) {
            degraded("ssd-read-only", "the SSD takes no writes" + reason, "Replace it, and attach the new one", attach);
        } else if (state == SsdState.FAILED) {
            degraded("ssd-failed", "the SSD failed too often" + reason, "Check or replace it, and attach it", attach);
        } else if (state == SsdState.DETACHED && !facts.ssdDetachedOnRequest()) {
            degraded(
                    "ssd-lost", "the SSD is not attached" + reason, "Make its folder available, and attach it", attach);
        }
    }

    private void fastTier() {
        FastTier.Summary tier = facts.fastTier().summary();
        String tierCommand = "sdfscli " + facts.volume() + " tier ";
        long lost = facts.fastTier().lostFiles();
        if (lost > 0) {
            damaged(
                    "raw-files-lost",
                    (lost == 1 ? "1 file is" : lost + " files are")
                            + " lost: the bytes were only on the fast tier, which"
                            + " does not have them any more, and reading gives an I/O error",
                    "List the files, restore them from a backup, and delete those that no backup has",
                    tierCommand + "status");
        }
        if (tier.hanging() != null) {
            degraded(
                    "fast-tier-hangs",
                    "the fast tier does not answer: " + tier.hanging() + ". Calls on the files that lie there wait,"
                            + " what was written to them is not durable, and new files are stored in chunks",
                    "Check the device and the kernel's log; the volume uses it again when it answers",
                    tierCommand + "status");
        }
        if (tier.absent() != null && tier.files() > 0) {
            degraded(
                    "fast-tier-absent",
                    "the fast tier cannot be used, and "
                            + (tier.files() == 1 ? "1 file lies" : tier.files() + " files lie") + " there: "
                            + Printable.line(tier.absent()),
                    "Make its folder available, and attach it; only if the device is lost for good, add --new",
                    tierCommand + "attach");
        } else if (tier.absent() != null && tier.settings().isEnabled()) {
            degraded(
                    "fast-tier-absent",
                    "the fast tier cannot be used, so new files are stored in chunks: " + Printable.line(tier.absent()),
                    "Make its folder available, and attach it; for a new device, add --new",
                    tierCommand + "attach");
        }
    }

    private void scrub() {
        ScrubFacts scrub = facts.scrub();
        String start = "sdfscli " + facts.volume() + " scrub start --wait";
        // Damaged frames count as damaged chunks, as long as a file refers to them.
        ScrubTotals found = scrub.found();
        if (found.damagedContainers() > 0 || found.contradictions() > 0) {
            degraded(
                    "scrub-found",
                    "the last scrub found " + found.damagedContainers() + " containers whose directories are damaged or"
                            + " missing, and " + found.contradictions() + " contradictions to the metadata",
                    "Back up the files, and check the disk of " + facts.data()
                            + "; the log names the containers, and the next scrub without a finding clears this",
                    "grep -a 'the scrub' " + quoted(facts.log().toString()));
        }
        if (found.references().wrong() > 0 || found.references().defects() > 0) {
            degraded(
                    "scrub-references",
                    "the last scrub found " + found.references().wrong()
                            + " chunks that files refer to as other content, and "
                            + found.references().defects() + " other defects of the metadata",
                    "Check the volume: the check names the files, and what mends each finding",
                    "sdfscli " + facts.volume() + " check");
        }
        if (found.index().shouldBeMadeAnew()) {
            degraded(
                    "scrub-index",
                    "of " + found.index().entries()
                            + " sampled entries of the fingerprint index, the last scrub removed "
                            + found.index().wrong() + " that named other content and "
                            + found.index().stale() + " that named nothing; there may be more",
                    "Unmount the volume and delete the index: the next mount makes it anew from the containers",
                    "sdfscli " + facts.volume() + " unmount && find "
                            + quoted(facts.hashDb().toString()) + " -mindepth 1 -delete");
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

    private void rest() {
        VolumeCondition.Index index = facts.condition().index();
        if (!index.usable() || !index.complete() && !index.updating()) {
            degraded(
                    "index",
                    (index.usable() ? "the fingerprint index is not complete" : "the fingerprint index is not used")
                            + ": duplicates may be stored again",
                    "The log has the reason; when it is removed, the volume makes the index anew by itself",
                    "grep -a index " + quoted(facts.log().toString()));
        }
        if (facts.collectionFailure() != null) {
            degraded(
                    "collection-failed",
                    "the last collection of garbage failed: " + Printable.line(facts.collectionFailure()),
                    "Remove the cause, and collect again",
                    collect());
        }
        Counts failures = facts.failures();
        Duration lastAge = failures.lastAge();
        if (findings.isEmpty() && lastAge != null && lastAge.compareTo(RECENT) < 0) {
            degraded(
                    "failed-requests",
                    failures.all() + " requests of programs failed with an I/O error since the volume was mounted, the"
                            + " last less than an hour ago",
                    "The log has the reasons; check the disks",
                    "grep -a ERROR " + quoted(facts.log().toString()));
        }
    }

    /** Quotes a path for a shell if needed. */
    private static String quoted(String path) {
        return path.matches("[A-Za-z0-9/._+:@%-]*") ? path : "'" + path.replace("'", "'\\''") + "'";
    }

    private void degraded(String id, String what, String remedy, String command) {
        findings.add(new Finding(id, Health.DEGRADED, what, remedy, command));
    }

    private void damaged(String id, String what, String remedy, String command) {
        findings.add(new Finding(id, Health.DAMAGED, what, remedy, command));
    }
}
