package org.opendedup.sar.sdfs.cli.report;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.objects.lease.LeaseStatus;
import org.opendedup.sar.sdfs.wear.WearFigures;
import org.opendedup.sar.volume.store.DeviceCondition;

/** Formats {@link StatusReport} for people: some lines or one screen, lines of at most about 100 characters. */
public final class StatusText {
    private static final int WIDTH = 100;
    private static final String INDENT = " ".repeat(13);

    private static final int PERCENT = 100;

    /** Findings shown in full; the screen has room for this many. */
    private static final int MAX_FINDINGS = 4;

    /** Garbage that is worth a collection: more than these bytes, and than this part of what is stored. */
    private static final long GARBAGE_BYTES = 1L << 30;

    private static final int GARBAGE_PART = 10;

    /** The least sum of money that is shown. */
    private static final double CENT = 0.01;

    private final StatusReport report;
    private final StringBuilder text = new StringBuilder();

    private StatusText(StatusReport report) {
        this.report = report;
    }

    public static String of(StatusReport report) {
        var printed = new StatusText(report);
        printed.print();
        return printed.text.toString();
    }

    /** Formats what someone wants to know who asks for nothing particular: health, place, space, what to do next. */
    public static String brief(StatusReport report) {
        var printed = new StatusText(report);
        printed.head();
        printed.line("space", printed.use());
        printed.line("next", printed.next());
        return printed.text.toString();
    }

    private void head() {
        text.append(report.name()).append(": ").append(report.health()).append('\n');
        line("mounted", mounted());
        LeaseStatus lease = report.daemon().lease();
        if (lease != null) {
            line("lease", lease.text());
        }
        if (report.daemon().lastEnd() != null) {
            line("last end", report.daemon().lastEnd());
        }
        findings();
    }

    /** Returns what files take, and how much more may be written. */
    private String use() {
        StatusReport.Space space = report.space();
        Long capacityBytes = space.capacityBytes();
        Long freeBytes = space.freeBytes();
        Long availableBytes = space.availableBytes();
        if (capacityBytes == null || freeBytes == null || availableBytes == null) {
            return space(space);
        }
        return "files of " + ByteSize.rounded(capacityBytes - freeBytes) + " are stored in "
                + ByteSize.rounded(space.storedBytes()) + "; " + ByteSize.rounded(availableBytes)
                + " more can be written";
    }

    private String next() {
        StatusReport.Space space = report.space();
        String name = report.name();
        boolean isLarge = space.reclaimableBytes() > Math.max(GARBAGE_BYTES, space.storedBytes() / GARBAGE_PART);
        String first = isLarge
                ? "sdfscli " + name + " gc --wait returns " + ByteSize.rounded(space.reclaimableBytes())
                        + " of deleted files; "
                : space.storedBytes() == 0 && report.daemon().mountPoint() != null
                        ? "copy files to " + report.daemon().mountPoint() + "; "
                        : "";
        return first + "sdfscli " + name + " status says more, sdfscli --help what else there is";
    }

    private void print() {
        head();
        line("space", space(report.space()));
        for (DeviceCondition device : report.devices()) {
            line(
                    "disk",
                    ByteSize.rounded(device.usableBytes()) + " free of " + ByteSize.rounded(device.totalBytes()) + ": "
                            + device.folder() + " (" + String.join(", ", device.parts()) + ")"
                            + (device.state().equals(DeviceCondition.OK) ? "" : ", " + device.state()));
        }
        line("collection", collection(report.collection()));
        line("scrub", ScrubText.line(report.scrub()));
        StatusReport.Snapshots snapshots = report.snapshots();
        if (snapshots != null && (snapshots.isReplica() || snapshots.count() + snapshots.beingFreed() > 0)) {
            line("snapshots", snapshots(snapshots));
        }
        line("SSD", ssd(report.ssd()));
        WearFigures wear = report.ssd().wear();
        if (wear != null && !report.ssd().state().equals("none")) {
            line("SSD writes", wear(wear));
        }
        StatusReport.FastTier fastTier = report.fastTier();
        if (fastTier != null
                && (fastTier.rawCapacityBytes() > 0 || fastTier.rawFiles() + fastTier.changedFiles() > 0)) {
            line("fast tier", fastTier(fastTier));
        }
        StatusReport.ObjectStore objectStore = report.objectStore();
        if (objectStore != null) {
            line("store", objectStore(objectStore));
        }
        line("index", index(report.index()));
        StatusReport.Errors errors = report.errors();
        line(
                "errors",
                errors.damagedChunks() + " damaged chunks; since mounting: " + errors.healedChunks()
                        + " healed chunks, " + errors.missingContainers() + " missing containers" + requests(errors));
        if (report.logFile() != null) {
            line(
                    "log",
                    errors.loggedErrors() + " errors, " + errors.loggedWarnings() + " warnings since mounting: "
                            + report.logFile());
        }
    }

    /** Returns the line of the object store of a report. */
    static String objectStore(StatusReport.ObjectStore store) {
        String silent = store.breaker().equals("closed") ? "" : ", and it does not answer";
        if (store.readingSeconds() > 0) {
            return store.address() + ", read as it was " + RoughTime.of((long) store.readingSeconds()) + " ago"
                    + silent;
        }
        String readers = store.readers() == 0 ? "" : "; mounts elsewhere that read it: " + store.readers();
        String missing = store.missingBytes() == 0
                ? "it has everything"
                : ByteSize.rounded(store.missingBytes()) + " are not there yet, the oldest for "
                        + RoughTime.of((long) store.missingSeconds());
        String costs = store.requestsCost() + store.monthCost() == 0
                ? ""
                : "; requests since mounting cost " + money(store.requestsCost()) + ", a month of what is stored "
                        + money(store.monthCost());
        return store.address() + ", durability " + store.durability() + ": " + missing + silent + readers + costs;
    }

    private static String money(double cost) {
        return cost < CENT / 2 ? "less than 0.01" : String.format(Locale.ROOT, "%.2f", cost);
    }

    private static String snapshots(StatusReport.Snapshots snapshots) {
        String times = snapshots.count() == 0
                ? ""
                : ", the newest of " + snapshots.newest() + ", the oldest of " + snapshots.oldest();
        return snapshots.count()
                + times
                + (snapshots.isReplica() ? "; received: the volume is a replica, whose files do not change" : "")
                + (snapshots.beingFreed() == 0 ? "" : "; " + snapshots.beingFreed() + " deleted, being freed");
    }

    /** The process of a volume without files does not know where these are mounted. */
    private String mounted() {
        DaemonState daemon = report.daemon();
        return (daemon.state().equals("mounted") ? "" : daemon.state() + "; ")
                + (daemon.mountPoint() == null ? "for " : "on " + daemon.mountPoint() + " for ")
                + RoughTime.of(report.uptimeSeconds()) + ", by process " + daemon.pid();
    }

    private static String space(StatusReport.Space space) {
        Long availableBytes = space.availableBytes();
        Long capacityBytes = space.capacityBytes();
        String available = availableBytes == null || capacityBytes == null
                ? ByteSize.rounded(space.deviceFreeBytes()) + " free on the disks"
                : ByteSize.rounded(availableBytes) + " available of " + ByteSize.rounded(capacityBytes);
        return available + "; stored " + ByteSize.rounded(space.storedBytes()) + ", of which "
                + ByteSize.rounded(space.reclaimableBytes()) + " are garbage";
    }

    private static String requests(StatusReport.Errors errors) {
        return errors.failedReads() == null
                ? ""
                : ", failed requests: " + errors.failedReads() + " read, " + errors.failedWrites() + " write, "
                        + errors.failedSyncs() + " sync, " + errors.refusedForSpace() + " without space";
    }

    private void findings() {
        List<StatusReport.Finding> findings = report.findings();
        for (StatusReport.Finding finding : findings.subList(0, Math.min(MAX_FINDINGS, findings.size()))) {
            line(finding.severity().toUpperCase(Locale.ROOT), sentence(finding.what()));
            boolean hasCommand = !finding.command().isEmpty();
            line("  to do", finding.remedy() + (hasCommand ? ":" : "."));
            if (hasCommand) {
                // Unbroken, to be copied.
                text.append(INDENT).append("  ").append(finding.command()).append('\n');
            }
        }
        if (findings.size() > MAX_FINDINGS) {
            line("", "and " + (findings.size() - MAX_FINDINGS) + " more: see --json");
        }
    }

    /** Ends a text like a sentence; one that ends in a question stays one. */
    private static String sentence(String text) {
        return text.endsWith(".") || text.endsWith("?") ? text : text + ".";
    }

    private static String collection(Map<String, Object> collection) {
        String next = String.valueOf(collection.get("next"));
        String after = next.isEmpty() ? "" : "; next " + next;
        if (Boolean.TRUE.equals(collection.get("running"))) {
            return "running" + (Boolean.TRUE.equals(collection.get("paused")) ? ", paused" : "") + after;
        }
        Map<String, Object> last = Json.object(collection, "last");
        if (last.isEmpty()) {
            return "none since mounting" + after;
        }
        return last.get("state") + " " + last.get("ended") + ", " + ByteSize.rounded(Json.number(last, "returnedBytes"))
                + " returned" + after;
    }

    /** Returns the line of the SSD of a report. */
    static String ssd(StatusReport.Ssd ssd) {
        if (ssd.state().equals("none")) {
            return ssd.state();
        }
        String copies = ssd.state() + ", " + ByteSize.rounded(ssd.ssdUsedBytes());
        String capacity = " of " + ByteSize.rounded(ssd.ssdCapacityBytes()) + " used";
        return ssd.ssdIndexBytes() == 0
                ? copies + capacity
                : copies + " by copies and " + ByteSize.rounded(ssd.ssdIndexBytes()) + " by the index" + capacity;
    }

    private static String wear(WearFigures wear) {
        Double used = wear.wearRatio();
        return ByteSize.rounded(wear.writtenTodayBytes()) + " today, " + ByteSize.rounded(wear.writtenBytes())
                + " in total; in the week before " + ByteSize.rounded(wear.writtenPerDayBytes()) + " a day; wear "
                + (used == null
                        ? "unknown: " + wear.wearUnknown()
                        : Math.round(used * PERCENT) + " % (" + wear.devices() + ")");
    }

    private static String fastTier(StatusReport.FastTier tier) {
        return tier.mode() + (tier.available() ? "" : ", absent") + ", " + ByteSize.rounded(tier.rawUsedBytes())
                + " of " + ByteSize.rounded(tier.rawCapacityBytes()) + " used by " + tier.rawFiles() + " files"
                + (tier.changedFiles() == 0 ? "" : " and changed bytes of " + tier.changedFiles());
    }

    private static String index(StatusReport.Index index) {
        if (!index.usable()) {
            return "not used";
        }
        if (index.updating()) {
            return "being compared with the containers: " + index.examinedContainers() + " of " + index.containers();
        }
        return index.complete() ? "complete" : "not complete";
    }

    /** Appends a line with its title; breaks it between words where it is longer than the screen. */
    private void line(String title, Object value) {
        var line = new StringBuilder(String.format("  %-11s", title));
        for (String word : String.valueOf(value).split(" ")) {
            if (line.length() > INDENT.length() && line.length() + 1 + word.length() > WIDTH) {
                text.append(line).append('\n');
                line = new StringBuilder(INDENT);
            }
            line.append(line.length() == INDENT.length() ? "" : " ").append(word);
        }
        text.append(line).append('\n');
    }
}
