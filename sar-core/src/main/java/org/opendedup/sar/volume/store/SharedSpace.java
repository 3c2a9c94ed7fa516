package org.opendedup.sar.volume.store;

import org.opendedup.sar.hot.copies.SsdBudget;
import org.opendedup.sar.index.IndexSpace;
import org.opendedup.sar.index.SsdShare;

/** The space of one index on an SSD that it shares. While a lost index is replaced, there are two. */
final class SharedSpace implements IndexSpace {
    private final SsdBudget budget;
    private final IndexSpace own;
    private long usedBytes;

    /** @param own bound of the index alone */
    SharedSpace(SsdBudget budget, IndexSpace own) {
        this.budget = budget;
        this.own = own;
    }

    @Override
    public synchronized long mostBytes() {
        long others = budget.share().indexBytes() - usedBytes;
        return Math.min(own.mostBytes(), budget.mostIndexBytes() - Math.max(0, others));
    }

    @Override
    public synchronized void used(long bytes) {
        if (bytes != usedBytes) {
            budget.indexGrew(bytes - usedBytes);
            usedBytes = bytes;
        }
    }

    @Override
    public SsdShare share() {
        return budget.share();
    }
}
