package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.sdfs.snapshot.SnapshotSource;
import org.opendedup.sar.volume.diff.Change;
import org.opendedup.sar.volume.diff.DiffReport;
import org.opendedup.sar.volume.diff.SnapshotDiff;
import org.opendedup.sar.volume.snapshot.VolumeSnapshots;

/** The snapshots of a mounted volume, which have what the kernel holds in its cache when they are made. */
public record ServedSnapshots(VolumeSnapshots snapshots, SnapshotDiff comparison, ServedPaths.Cache cache)
        implements SnapshotSource {
    @Override
    public List<SnapshotRecord> list() {
        return snapshots.list();
    }

    @Override
    public int beingFreed() {
        return snapshots.beingFreed();
    }

    @Override
    public boolean isReplica() throws IOException {
        return snapshots.isReplica();
    }

    @Override
    public long bytesFreedBy(Collection<String> names, Progress progress) throws IOException {
        return snapshots.bytesFreedBy(names, progress);
    }

    @Override
    public SnapshotRecord create(String name, long heldUntilMs, boolean isScheduled) throws IOException {
        cache.writeBack();
        return snapshots.create(name, heldUntilMs, isScheduled);
    }

    @Override
    public SnapshotRecord hold(String name, long untilMs) throws IOException {
        return snapshots.hold(name, untilMs);
    }

    @Override
    public DiffReport diff(String from, @Nullable String to, Progress progress, Change.Consumer consumer)
            throws IOException {
        if (to == null) {
            cache.writeBack();
        }
        return comparison.run(from, to, progress, consumer);
    }

    @Override
    public void delete(String name) throws IOException {
        snapshots.delete(name);
    }
}
