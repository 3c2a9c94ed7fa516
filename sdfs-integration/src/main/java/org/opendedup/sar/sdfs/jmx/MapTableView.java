package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.tier.SsdTier;

/** Implements {@link MapTableMXBean} on {@link SarAdministration}. */
record MapTableView(SarAdministration sar) implements MapTableMXBean {
    @Override
    public long getEntries() {
        return status().mapTableEntries();
    }

    @Override
    public long getMaxEntries() {
        return status().mapTableMaxEntries();
    }

    @Override
    public long getHeapBytes() {
        return status().mapTableHeapBytes();
    }

    @Override
    public double getBytesPerEntry() {
        return SarFigures.bytesPerEntry(status());
    }

    private SsdTier.Status status() {
        return sar.status();
    }
}
