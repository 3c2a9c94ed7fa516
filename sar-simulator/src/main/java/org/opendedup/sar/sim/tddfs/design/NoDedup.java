package org.opendedup.sar.sim.tddfs.design;

import org.opendedup.sar.sim.tddfs.tier.TierClock;
import org.opendedup.sar.sim.tddfs.tier.Work;

/**
 * Files migrate as they are, the least recently used ones first; one that is opened on the slow tier returns as a whole
 * (TDDFS paper, section 5.1).
 */
public final class NoDedup extends FileDesign {
    private long slowBytes;

    public NoDedup(Tiers tiers) {
        super(tiers, false);
    }

    @Override
    void readStored(StoredFile file, long offset, long length) {
        clock.slow(length, 1);
        reload(file, length);
    }

    @Override
    void writeStored(StoredFile file, long offset, long length) {
        reload(file, 0);
        writeRaw(file, offset, length);
    }

    private void reload(StoredFile file, long alreadyRead) {
        traffic.up(file.size, file.size);
        TierClock.Job job = clock.startJob(Work.up(file.size - alreadyRead, 1, file.size));
        file.reloadedBy(job, 1);
        slowBytes -= file.size;
        rawBytes += file.size;
        file.place = StoredFile.Place.RAW;
    }

    @Override
    void lower(StoredFile file) {
        traffic.down(file.size, file.size);
        clock.startJob(Work.down(file.size));
        rawBytes -= file.size;
        slowBytes += file.size;
        file.place = StoredFile.Place.LOWERED;
    }

    @Override
    void dropStored(StoredFile file) {
        slowBytes -= file.size;
    }

    @Override
    public long fastBytes() {
        return rawBytes;
    }

    @Override
    public long slowBytes() {
        return slowBytes;
    }
}
