package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Optional;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.daemon.MountService.MountedVolume;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.config.Schedule;
import org.opendedup.sar.sdfs.health.FastTierFacts;
import org.opendedup.sar.sdfs.health.HealthFacts;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.health.ScrubFacts;
import org.opendedup.sar.sdfs.health.SnapshotFacts;
import org.opendedup.sar.sdfs.health.StoreFacts;
import org.opendedup.sar.sdfs.jmx.SarAdministration;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.ScheduleTimer;
import org.opendedup.sar.sdfs.keys.KeyHeaderWatch;
import org.opendedup.sar.sdfs.log.RepeatsAppender;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * Collects from the parts of a daemon what decides about its volume's health.
 *
 * @param lastEnd what the previous daemon left
 */
record DaemonHealth(
        RunFiles files,
        MountedVolume volume,
        SarAdministration sar,
        GarbageCollections collections,
        ScheduleTimer collectionTimer,
        Scrubs scrubs,
        KeyHeaderWatch keyHeader,
        ScheduleTimer snapshotTimer,
        Optional<LastEnd.Found> lastEnd)
        implements HealthWatch.Source<HealthFacts> {

    @Override
    public HealthFacts facts() throws IOException {
        HotChunks.Status ssd = sar.status();
        RepeatsAppender.Logged logged = RepeatsAppender.logged();
        VolumeConfig config = files.definition().config();
        var store = new StoreFacts(
                config.name(),
                config.locations().data(),
                config.locations().containers(),
                volume.condition(),
                ssd.state(),
                ssd.reason(),
                ssd.isDetachedOnRequest(),
                collections.lastFailure().map(FailureText::of).orElse(null),
                collectionTimer.missed().map(ZonedDateTime::toInstant).orElse(null),
                scrub(),
                volume.backups().condition(),
                keyHeader.faults(),
                Instant.now());
        return new HealthFacts(
                store,
                files.log(),
                config.locations().hashDb(),
                volume.space(),
                new FastTierFacts(volume.tier().summary(), volume.tier().lostFiles()),
                snapshots(),
                volume.remote(),
                volume.failures().counts(),
                lastEnd.filter(LastEnd.Found::lost).map(LastEnd.Found::text).orElse(null),
                logged.warnings(),
                logged.errors());
    }

    private SnapshotFacts snapshots() throws IOException {
        List<SnapshotRecord> all = volume.snapshots().list();
        boolean isReplica = volume.snapshots().isReplica();
        return new SnapshotFacts(
                all.size(),
                all.isEmpty() ? 0 : all.get(0).createdMs(),
                all.isEmpty() ? 0 : all.get(all.size() - 1).createdMs(),
                volume.snapshots().beingFreed(),
                isReplica,
                isReplica
                        ? null
                        : snapshotTimer.missed().map(ZonedDateTime::toInstant).orElse(null));
    }

    private ScrubFacts scrub() throws IOException {
        Optional<ScrubRecord> last = scrubs.last();
        return new ScrubFacts(
                !files.definition().scrubSchedule().equals(Schedule.OFF),
                scrubs.running().isPresent(),
                last.map(record -> Instant.ofEpochMilli(record.endedMs())).orElseGet(scrubs::volumeMade),
                last.map(ScrubRecord::totals).orElse(ScrubTotals.NONE),
                scrubs.latest().map(JobStatus::failure).map(FailureText::of).orElse(null));
    }
}
