package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;

/**
 * A key-value store in memory that can lose power. It remembers every batch. {@link #crash} returns the store that is
 * found afterwards: it has all durable batches, and of a batch whose commit failed all, nothing or parts of its record.
 * Recovery drops a partial record if it is the last one, and otherwise refuses the store, because an acknowledged
 * record is then damaged.
 */
public final class CrashKeyValueStore implements KeyValueStore {
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Change(Family family, byte[] key, byte[] value) {}

    private enum Fate {
        DURABLE,
        /** The last commit failed: after a crash the batch may be there or not. */
        UNCERTAIN,
        /** Committed while commits were not durable: this batch and all later ones may be lost. */
        VOLATILE
    }

    private record Logged(List<Change> changes, Fate fate) {}

    /** The part of a batch's record that survives a crash. */
    private enum Remains {
        NOTHING,
        WHOLE,
        TORN
    }

    private final KeyValueStore live = new HeapKeyValueStore();
    private final List<Logged> log = new ArrayList<>();
    private final SplittableRandom settlements = new SplittableRandom(1);
    private boolean commitIsNotDurable;
    private int commitsToFail;
    private boolean crashed;

    /** The switch for controls: while set, acknowledged batches may be lost, from a random one on. */
    public synchronized void setCommitIsNotDurable(boolean notDurable) {
        commitIsNotDurable = notDurable;
    }

    /**
     * Makes the next commits fail: none of their changes is visible, but the next batch or a crash may restore them.
     */
    public synchronized void failNextCommits(int count) {
        commitsToFail = count;
    }

    /** Number of batches committed or tried so far. */
    public synchronized int batches() {
        return log.size();
    }

    /**
     * Cuts the power: this store refuses all further calls. Returns the store that is found after power returns.
     *
     * @throws CorruptionException if a later record follows a damaged one
     */
    public synchronized CrashKeyValueStore crash(long seed) throws IOException {
        crashed = true;
        SplittableRandom random = new SplittableRandom(seed);
        CrashKeyValueStore found = new CrashKeyValueStore();
        boolean torn = false;
        for (int i = 0; i < log.size(); i++) {
            Logged batch = log.get(i);
            Remains remains = remains(batch.fate, random);
            if (remains == Remains.NOTHING && batch.fate == Fate.VOLATILE) {
                break;
            }
            if (torn && remains != Remains.NOTHING) {
                throw new CorruptionException("the log", i - 1, "a record", "a torn one before another");
            }
            torn |= remains == Remains.TORN;
            if (remains == Remains.WHOLE) {
                found.apply(batch.changes);
            }
        }
        return found;
    }

    private static Remains remains(Fate fate, SplittableRandom random) {
        return switch (fate) {
            case DURABLE -> Remains.WHOLE;
            case UNCERTAIN -> Remains.values()[random.nextInt(3)];
            case VOLATILE ->
                random.nextInt(4) > 0 ? Remains.WHOLE : random.nextBoolean() ? Remains.NOTHING : Remains.TORN;
        };
    }

    /** Completes or drops a failed commit, as RocksDB does when it is opened again for the next batch. */
    private synchronized void settle() throws IOException {
        int last = log.size() - 1;
        if (last >= 0 && log.get(last).fate == Fate.UNCERTAIN) {
            List<Change> changes = settlements.nextBoolean() ? log.get(last).changes : List.of();
            log.set(last, new Logged(changes, Fate.DURABLE));
            applyLive(changes);
        }
    }

    @Override
    public synchronized byte[] get(Family family, byte[] key) throws IOException {
        requirePower();
        return live.get(family, key);
    }

    @Override
    public synchronized Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        requirePower();
        return live.scan(family, from, to);
    }

    @Override
    public Batch batch() throws IOException {
        settle();
        return new LoggedBatch();
    }

    @Override
    public void close() {}

    private void requirePower() throws IOException {
        if (crashed) {
            throw new IOException("the power is off");
        }
    }

    private synchronized void commit(List<Change> changes) throws IOException {
        requirePower();
        settle();
        if (commitsToFail > 0) {
            commitsToFail--;
            log.add(new Logged(changes, Fate.UNCERTAIN));
            throw new IOException("the commit fails, as the test asked for");
        }
        apply(changes);
        if (commitIsNotDurable) {
            log.set(log.size() - 1, new Logged(changes, Fate.VOLATILE));
        }
    }

    private void apply(List<Change> changes) throws IOException {
        log.add(new Logged(changes, Fate.DURABLE));
        applyLive(changes);
    }

    private void applyLive(List<Change> changes) throws IOException {
        try (Batch batch = live.batch()) {
            for (Change change : changes) {
                if (change.value == null) {
                    batch.delete(change.family, change.key);
                } else {
                    batch.put(change.family, change.key, change.value);
                }
            }
            batch.commit();
        }
    }

    private final class LoggedBatch implements Batch {
        private final List<Change> changes = new ArrayList<>();

        @Override
        public void put(Family family, byte[] key, byte[] value) {
            changes.add(new Change(family, key.clone(), value.clone()));
        }

        @Override
        public void delete(Family family, byte[] key) {
            changes.add(new Change(family, key.clone(), null));
        }

        @Override
        public void commit() throws IOException {
            CrashKeyValueStore.this.commit(List.copyOf(changes));
        }

        @Override
        public void close() {}
    }
}
