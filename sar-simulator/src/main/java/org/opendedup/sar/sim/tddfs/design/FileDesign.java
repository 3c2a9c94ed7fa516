package org.opendedup.sar.sim.tddfs.design;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import org.opendedup.sar.sim.tddfs.policy.MigrationPolicy;
import org.opendedup.sar.sim.tddfs.tier.TierClock;
import org.opendedup.sar.sim.tddfs.tier.Traffic;

/**
 * What the designs that migrate files have in common: new files lie on the fast tier as a whole, and a
 * {@link MigrationPolicy} decides which ones leave it. The file that a request uses stays, so the fast tier can be
 * above its limit by one file.
 */
abstract class FileDesign implements Design {
    final TierClock clock;
    final Traffic traffic;
    final MigrationPolicy policy;
    final Map<Integer, StoredFile> files = new HashMap<>();
    /** Bytes of files that lie on the fast tier as a whole. */
    long rawBytes;

    int requests;

    FileDesign(Tiers tiers, boolean hasSmallFileRule) {
        clock = tiers.clock();
        traffic = tiers.traffic();
        policy = new MigrationPolicy(tiers.limits(hasSmallFileRule));
    }

    // --- what a design does ---

    /** Reads of a file that is not raw, and brings to the fast tier what the design wants there. */
    abstract void readStored(StoredFile file, long offset, long length);

    /** Writes to a file that is not raw. The file still has its old size. */
    abstract void writeStored(StoredFile file, long offset, long length);

    /** Moves a file to the slow tier. */
    abstract void lower(StoredFile file);

    /** Frees what a file that is not raw occupies. */
    abstract void dropStored(StoredFile file);

    /** Frees what nothing refers to on the fast tier. */
    void collectFast() {}

    /** Notes that a range of a raw file was written; it may reach beyond the end of the file. */
    void changedRaw(StoredFile file, long offset, long length) {}

    // --- requests ---

    @Override
    public final void create(int number, long bytes) {
        begin();
        if (files.containsKey(number)) {
            drop(number);
        }
        StoredFile file = new StoredFile(number, bytes);
        files.put(number, file);
        rawBytes += bytes;
        clock.fast(true, bytes);
        end(file);
    }

    @Override
    public final void read(int number, long offset, long length) {
        begin();
        StoredFile file = file(number);
        if (file.place == StoredFile.Place.RAW) {
            long pending = file.pendingBytes(offset + length, length);
            clock.slow(pending, 1);
            clock.fast(false, length - pending);
        } else {
            readStored(file, offset, length);
        }
        file.lastReadEnd = offset + length;
        end(file);
    }

    @Override
    public final void write(int number, long offset, long length) {
        begin();
        StoredFile file = file(number);
        if (file.place == StoredFile.Place.RAW) {
            writeRaw(file, offset, length);
        } else {
            writeStored(file, offset, length);
        }
        file.size = Math.max(file.size, offset + length);
        end(file);
    }

    /** Writes to a raw file that still has its old size. */
    final void writeRaw(StoredFile file, long offset, long length) {
        clock.fast(true, length);
        rawBytes += Math.max(0, offset + length - file.size);
        changedRaw(file, offset, length);
    }

    @Override
    public final void delete(int number) {
        begin();
        drop(number);
    }

    private void begin() {
        clock.beginRequest();
        requests++;
    }

    private void end(StoredFile file) {
        file.lastUse = requests;
        if (isSelectable(file)) {
            policy.used(file.number, file.size);
        }
        makeRoom(file.number);
    }

    /** Returns whether the policy chooses among files like this one. */
    boolean isSelectable(StoredFile file) {
        return file.place != StoredFile.Place.LOWERED;
    }

    final StoredFile file(int number) {
        StoredFile file = files.get(number);
        if (file == null) {
            throw new IllegalArgumentException("there is no file " + number);
        }
        return file;
    }

    private void drop(int number) {
        StoredFile file = file(number);
        if (file.place == StoredFile.Place.RAW) {
            rawBytes -= file.size;
        } else {
            dropStored(file);
        }
        policy.remove(number);
        files.remove(number);
    }

    /** Moves files to the slow tier if too much of the fast one is in use. */
    void makeRoom(int inUse) {
        if (!policy.mustStart(fastBytes())) {
            return;
        }
        collectFast();
        while (!policy.mayStop(fastBytes())) {
            OptionalInt next = policy.next(inUse);
            if (next.isEmpty()) {
                return;
            }
            policy.remove(next.getAsInt());
            lower(file(next.getAsInt()));
            collectFast();
        }
    }
}
