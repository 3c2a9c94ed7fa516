package org.opendedup.sar.sim.tddfs.design;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sim.tddfs.tier.ChunkCutter;
import org.opendedup.sar.sim.tddfs.tier.Recipe;
import org.opendedup.sar.sim.tddfs.tier.TierClock;

/** A file of a design. */
final class StoredFile {
    final int number;
    /** What was cut of it; another file of the same number has a history of its own. */
    final ChunkCutter.History history;

    long size;
    Place place = Place.RAW;
    /** Its chunks; null for a file that was never deduplicated. */
    @Nullable
    Recipe recipe;
    /** Number of the request that used it last. */
    int lastUse;
    /** Where the last read ended. */
    long lastReadEnd;

    private TierClock.@Nullable Job reload;
    private double reloadedShare;

    /** Where a file is (TDDFS paper, section 3.1: newly created, deduplicated and reloaded files). */
    enum Place {
        /** As a whole on the fast tier. */
        RAW,
        /** On the slow tier. */
        LOWERED,
        /** As chunks on the fast tier. */
        RELOADED
    }

    StoredFile(int number, long size) {
        this.number = number;
        this.size = size;
        history = new ChunkCutter.History(number);
    }

    /** Returns the recipe of a file that has one. */
    Recipe chunks() {
        if (recipe == null) {
            throw new IllegalStateException("file " + number + " was never deduplicated");
        }
        return recipe;
    }

    /** Notes that it is being reloaded, and which share of it comes from the slow tier. */
    void reloadedBy(TierClock.Job job, double share) {
        reload = job;
        reloadedShare = share;
    }

    /** Returns how many of the bytes up to an offset must still be read from the slow tier. */
    long pendingBytes(long end, long length) {
        if (reload == null) {
            return 0;
        }
        double done = reload.doneShare();
        if (done >= 1) {
            reload = null;
            return 0;
        }
        return end <= done * size ? 0 : Math.round(length * reloadedShare);
    }
}
