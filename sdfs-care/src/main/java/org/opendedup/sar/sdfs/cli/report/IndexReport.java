package org.opendedup.sar.sdfs.cli.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.index.DiskIndexUse;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.SsdShare;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.join.LossSample;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.join.Joins;
import org.opendedup.sar.volume.engine.VolumeCondition;

/**
 * The fingerprint index, as {@code index status} shows it. The names are stable.
 *
 * @param kind the class in use
 * @param converting the class of the index that the next mount makes; null if it is the one in use
 * @param logBytes bytes of the log of a ChunkStash index; 0 with another class, as the figures of the disk index
 * @param sharedSsd null unless index and copies share an SSD
 * @param estimate what an exact pass would find; null of a volume that has none
 * @param join the latest pass that was asked for; null if there was none since the mount
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record IndexReport(
        @JsonProperty("class") String kind,
        @Nullable String converting,
        boolean usable,
        boolean complete,
        boolean updating,
        long examinedContainers,
        long containers,
        long logBytes,
        DiskIndexUse diskIndex,
        @Nullable Shared sharedSsd,
        @Nullable Estimate estimate,
        @Nullable Join join) {
    /** See {@link SsdShare}. */
    public record Shared(long capacityBytes, long indexBytes, long mostIndexBytes, long mostCopiesBytes) {
        private static @Nullable Shared of(SsdShare share) {
            return share.capacityBytes() == 0
                    ? null
                    : new Shared(
                            share.capacityBytes(), share.indexBytes(), share.mostIndexBytes(), share.mostOtherBytes());
        }
    }

    /** @param wholeVolume whether all containers were compared; else what was written since then */
    public record Estimate(long storedTwiceBytes, boolean wholeVolume, String since) {
        private static Estimate of(LossSample.Estimate estimate) {
            return new Estimate(
                    estimate.bytes(),
                    estimate.isWhole(),
                    Instant.ofEpochMilli(estimate.sinceMs()).toString());
        }
    }

    /** @param report null unless the pass is done */
    public record Join(
            @JsonUnwrapped JobReport job,
            String phase,
            long done,
            long of,
            @JsonUnwrapped @Nullable JoinReport report) {
        public static Join of(JobStatus<JoinReport> status) {
            return new Join(JobReport.of(status), status.stage(), status.done(), status.of(), status.report());
        }

        private String text() {
            return switch (job.state()) {
                case "running" ->
                    phase + " " + done + " of " + of + (phase.equals("comparing") ? " containers" : " bytes of files");
                case "done" ->
                    report == null
                            ? "done"
                            : ByteSize.rounded(report.foundBytes()) + " were stored more than once; "
                                    + ByteSize.rounded(report.joinedBytes())
                                    + " of these are garbage now, which 'gc' returns"
                                    + (report.complete() ? "" : "; it ended early, the next one goes on");
                case "failed" -> "failed: " + job.error();
                default -> job.state();
            };
        }
    }

    /**
     * Returns the report.
     *
     * @param next class of the index that the next mount makes
     * @param joins the exact passes; null of a volume that has none
     */
    public static IndexReport of(
            IndexClass kind, IndexClass next, VolumeCondition.Index condition, @Nullable Joins joins) {
        return new IndexReport(
                kind.label(),
                next == kind ? null : next.label(),
                condition.usable(),
                condition.complete(),
                condition.updating(),
                condition.examined(),
                condition.containers(),
                condition.use().fastBytes(),
                condition.use().disk(),
                Shared.of(condition.use().share()),
                joins == null ? null : Estimate.of(joins.estimate()),
                joins == null ? null : joins.latest().map(Join::of).orElse(null));
    }

    /** Returns one line a fact. */
    public String text() {
        var text = new StringBuilder("class       " + kind);
        text.append("\nstate       ")
                .append(
                        !usable
                                ? "not usable: duplicates are stored again until it is made anew"
                                : complete ? "complete" : "being filled");
        if (converting != null) {
            text.append("\nconverting  to " + converting + " at the next mount");
        }
        if (!complete) {
            text.append("\nexamined    " + examinedContainers + " of " + containers + " containers");
        }
        if (logBytes > 0 || diskIndex.chunks() > 0) {
            text.append("\nlog         " + ByteSize.rounded(logBytes));
        }
        if (diskIndex.chunks() > 0) {
            text.append("\ndisk index  " + ByteSize.rounded(diskIndex.bytes()) + ", " + diskIndex.chunks()
                    + " chunks; it was asked for " + diskIndex.asked() + " since the mount, and had "
                    + diskIndex.found());
        }
        if (sharedSsd != null) {
            text.append("\nSSD         " + ByteSize.rounded(sharedSsd.capacityBytes)
                    + " for index and copies: the index has " + ByteSize.rounded(sharedSsd.indexBytes)
                    + " and may have " + ByteSize.rounded(sharedSsd.mostIndexBytes) + ", the copies may have "
                    + ByteSize.rounded(sharedSsd.mostCopiesBytes));
        }
        if (estimate != null) {
            text.append("\nduplicates  about " + ByteSize.rounded(estimate.storedTwiceBytes)
                    + " are stored more than once"
                    + (estimate.wholeVolume ? "; all containers were compared at " : ", of what was written since ")
                    + estimate.since);
        }
        return join == null
                ? text.toString()
                : text.append("\nexact pass  " + join.text()).toString();
    }
}
