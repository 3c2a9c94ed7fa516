package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.util.List;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.sdfs.snapshot.SnapshotSource;
import org.opendedup.sar.volume.snapshot.VolumeSnapshots;

/** The snapshots of a mounted volume, which have what the kernel holds in its cache when they are made. */
public record ServedSnapshots(VolumeSnapshots snapshots, ServedPaths.Cache cache) implements SnapshotSource {
    @Override
    public List<SnapshotRecord> list() {
        return snapshots.list();
    }

    @Override
    public int beingFreed() {
        return snapshots.beingFreed();
    }

    @Override
    public long bytesFreedBy(String name) throws IOException {
        return snapshots.bytesFreedBy(name, name);
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
    public void delete(String name) throws IOException {
        snapshots.delete(name);
    }
}
