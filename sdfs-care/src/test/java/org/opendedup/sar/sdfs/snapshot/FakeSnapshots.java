package org.opendedup.sar.sdfs.snapshot;

import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.volume.diff.Change;
import org.opendedup.sar.volume.diff.DiffReport;

/** Snapshots of no volume, in memory. */
public final class FakeSnapshots implements SnapshotSource {
    /** What a comparison tells; anybody may change it. */
    public final List<Change> changes = new CopyOnWriteArrayList<>();

    private final InstantSource clock;
    private final List<SnapshotRecord> all = new ArrayList<>();
    private long next = 1;
    /** What another user does after the next list; null: nothing. */
    @Nullable
    Runnable afterList;

    /** Whether there is no space for another one. */
    boolean isFull;

    /** Whether they are those of another volume. */
    boolean isReplica;

    public FakeSnapshots(InstantSource clock) {
        this.clock = clock;
    }

    @Override
    public synchronized List<SnapshotRecord> list() {
        List<SnapshotRecord> listed = List.copyOf(all);
        Runnable after = afterList;
        afterList = null;
        if (after != null) {
            after.run();
        }
        return listed;
    }

    @Override
    public boolean isReplica() {
        return isReplica;
    }

    @Override
    public int beingFreed() {
        return 0;
    }

    @Override
    public synchronized long bytesFreedBy(Collection<String> names, Progress progress) throws PosixException {
        long bytes = 0;
        for (String name : names) {
            bytes += 1000 * find(name).number();
        }
        return bytes;
    }

    @Override
    public synchronized SnapshotRecord create(String name, long heldUntilMs, boolean isScheduled)
            throws PosixException {
        if (isFull) {
            throw new PosixException(Reason.ENOSPC, name);
        }
        if (all.stream().anyMatch(one -> one.name().equals(name))) {
            throw new PosixException(Reason.EEXIST, name);
        }
        var made = new SnapshotRecord(next++, name, clock.millis(), heldUntilMs, isScheduled, false, 100, 1 << 20, 7);
        all.add(made);
        return made;
    }

    private synchronized SnapshotRecord find(String name) throws PosixException {
        return all.stream()
                .filter(one -> one.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new PosixException(Reason.ENOENT, "there is no snapshot '" + name + "'"));
    }

    @Override
    public synchronized SnapshotRecord hold(String name, long untilMs) throws PosixException {
        SnapshotRecord held = find(name).heldUntil(untilMs);
        all.replaceAll(one -> one.name().equals(name) ? held : one);
        return held;
    }

    @Override
    public DiffReport diff(String from, @Nullable String to, Progress progress, Change.Consumer consumer)
            throws IOException {
        long last = find(from).number() + (to == null ? 0 : find(to).number());
        for (Change change : changes) {
            progress.at("paths", last++, 0);
            consumer.accept(change);
        }
        return new DiffReport(changes.size(), 0, 0, 0, true);
    }

    @Override
    public synchronized void delete(String name) throws PosixException {
        SnapshotRecord found = find(name);
        if (found.heldUntilMs() > clock.millis()) {
            throw new PosixException(Reason.EPERM, name + " is held");
        }
        all.remove(found);
    }
}
