package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.policy.TierSettings;

/** Implements {@link LruListMXBean} on {@link SarAdministration}. */
record LruListView(SarAdministration sar) implements LruListMXBean {
    @Override
    public int getLruEntries() {
        return settings().lruEntries();
    }

    @Override
    public void setLruEntries(int lruEntries) {
        sar.set(SarParameters.LRU_ENTRIES, lruEntries);
    }

    @Override
    public int getItems() {
        return status().lruItems();
    }

    @Override
    public long getHits() {
        return status().lruHits();
    }

    @Override
    public long getHeapBytes() {
        return status().lruHeapBytes();
    }

    private TierSettings settings() {
        return sar.status().settings();
    }

    private SsdTier.Status status() {
        return sar.status();
    }
}
