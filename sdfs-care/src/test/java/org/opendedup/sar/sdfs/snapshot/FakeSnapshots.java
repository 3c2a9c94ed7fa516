package org.opendedup.sar.sdfs.snapshot;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.record.SnapshotRecord;

/** Snapshots of no volume, in memory. */
public final class FakeSnapshots implements SnapshotSource {
    private final InstantSource clock;
    private final List<SnapshotRecord> all = new ArrayList<>();
    private long next = 1;

    public FakeSnapshots(InstantSource clock) {
        this.clock = clock;
    }

    @Override
    public synchronized List<SnapshotRecord> list() {
        return List.copyOf(all);
    }

    @Override
    public int beingFreed() {
        return 0;
    }

    @Override
    public synchronized long bytesFreedBy(String name) throws PosixException {
        return 1000 * find(name).number();
    }

    @Override
    public synchronized SnapshotRecord create(String name, long heldUntilMs, boolean isScheduled)
            throws PosixException {
        if (all.stream().anyMatch(one -> one.name().equals(name))) {
            throw new PosixException(Reason.EEXIST, name);
        }
        var made = new SnapshotRecord(next++, name, clock.millis(), heldUntilMs, isScheduled, false, 100, 1 << 20, 7);
        all.add(made);
        return made;
    }

    private SnapshotRecord find(String name) throws PosixException {
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
    public synchronized void delete(String name) throws PosixException {
        SnapshotRecord found = find(name);
        if (found.heldUntilMs() > clock.millis()) {
            throw new PosixException(Reason.EPERM, name + " is held");
        }
        all.remove(found);
    }
}
