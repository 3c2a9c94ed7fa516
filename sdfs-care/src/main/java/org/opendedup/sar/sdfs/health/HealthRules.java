package org.opendedup.sar.sdfs.health;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.health.RequestFailures.Counts;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.store.RemoteStatistics;

/**
 * Decides from facts what is wrong with a mounted volume of files, and what to do: {@link StoreRules} about what it
 * stores, and more about its files.
 */
public final class HealthRules {
    /** How long a failed request counts that nothing else explains. */
    static final Duration RECENT = Duration.ofHours(1);
    /** How late a snapshot of the schedule may be. */
    static final Duration SNAPSHOT_LATE = Duration.ofDays(1);

    /** How old bytes may be that the object store does not have: twice the time for which a request is repeated. */
    static final Duration STORE_LAG = Duration.ofMinutes(2);

    private final HealthFacts facts;
    private final Remedies remedies;
    private final List<Finding> findings;

    private HealthRules(HealthFacts facts) {
        this.facts = facts;
        remedies = new CommandRemedies(facts.volume(), facts.log(), facts.hashDb());
        findings = new ArrayList<>(StoreRules.findings(facts.store(), remedies));
    }

    /** Returns what is wrong, the worst first; empty if the volume is well. */
    public static List<Finding> findings(HealthFacts facts) {
        var rules = new HealthRules(facts);
        rules.lost();
        rules.full();
        rules.fastTier();
        rules.snapshots();
        rules.objectStore();
        rules.failed();
        rules.findings.sort((one, other) -> other.severity().compareTo(one.severity()));
        return List.copyOf(rules.findings);
    }

    private void lost() {
        if (facts.lostAtLastEnd() != null) {
            degraded(
                    "lost-at-last-end",
                    Printable.line(facts.lostAtLastEnd()),
                    "Write these files again; the next mount forgets this message",
                    "");
        }
    }

    private void full() {
        String shortage = facts.condition().shortage();
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
                    "List the files and delete them; then bring those back that a backup has",
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
        if (tier.absent() != null && tier.hasFiles()) {
            long there = tier.files() + tier.changedFiles();
            degraded(
                    "fast-tier-absent",
                    "the fast tier cannot be used, and "
                            + (there == 1 ? "1 file has bytes" : there + " files have bytes") + " there: "
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

    private void snapshots() {
        Instant due = facts.snapshots().due();
        if (due != null && due.isBefore(facts.store().now().minus(SNAPSHOT_LATE))) {
            degraded(
                    "snapshot-due",
                    "the schedule has made no snapshot since " + due.truncatedTo(ChronoUnit.SECONDS)
                            + ", when one was due",
                    "The log has the reason, if one failed; make one, or keep the volume mounted for longer than ten"
                            + " minutes",
                    "sdfscli " + facts.volume() + " snapshot create");
        }
    }

    private void objectStore() {
        RemoteStatistics remote = facts.remote();
        if (remote == null) {
            return;
        }
        String store = remote.settings().store();
        RemoteStatistics.Reading reading = remote.reading();
        if (reading != null && reading.isLost()) {
            degraded(
                    "reader-lost",
                    "the owner of the volume in " + store
                            + " did not hear from this mount, and has deleted data that it"
                            + " may need: reads of them fail",
                    "Unmount it, and mount it again with the newest state",
                    "sdfscli " + facts.volume() + " unmount");
        }
        String missing = ByteSize.rounded(remote.missingBytes()) + " are on this machine only, the oldest for "
                + remote.missingMs() / 1000 + " s";
        String figures = "sdfscli " + facts.volume() + " stats";
        String reason = remote.failure() == null ? "" : ": " + Printable.line(remote.failure());
        if (remote.requests().breakerSeconds() > 0) {
            degraded(
                    "object-store-silent",
                    store + " has not answered for " + remote.requests().breakerSeconds() + " s; " + missing + reason,
                    "Make the store reachable; it is asked again each half a minute, and what waits follows by itself",
                    figures);
        } else if (remote.failure() != null) {
            degraded(
                    "object-store-refuses",
                    "what is put does not get into " + store + "; " + missing + reason,
                    "Remove the cause: a store that does not answer, wrong credentials, no space; "
                            + "what waits follows by itself",
                    figures);
        } else if (remote.missingMs() > STORE_LAG.toMillis()) {
            degraded(
                    "object-store-lags",
                    store + " lags behind the volume: " + missing + ", and would be lost with it",
                    "Write less at a time, or give the volume a faster way to the store; what waits follows by itself",
                    figures);
        }
    }

    private void failed() {
        Counts failures = facts.failures();
        Duration lastAge = failures.lastAge();
        if (failures.metDamage() && Finding.healthOf(findings) != Health.DAMAGED) {
            damaged(
                    "damaged-metadata",
                    "requests of programs met damage since the volume was mounted, and no chunk is known to be"
                            + " damaged: names or recipes of files cannot be read",
                    "Check the volume: the check names what is damaged, and what mends it",
                    remedies.check());
        }
        if (findings.isEmpty() && lastAge != null && lastAge.compareTo(RECENT) < 0) {
            degraded(
                    "failed-requests",
                    failures.all() + " requests of programs failed with an I/O error since the volume was mounted, the"
                            + " last less than an hour ago",
                    "The log has the reasons; check the disks",
                    remedies.logged("ERROR"));
        }
    }

    private void degraded(String id, String what, String remedy, String command) {
        findings.add(new Finding(id, Health.DEGRADED, what, remedy, command));
    }

    private void damaged(String id, String what, String remedy, String command) {
        findings.add(new Finding(id, Health.DAMAGED, what, remedy, command));
    }
}
