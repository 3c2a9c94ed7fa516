package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.tier.DemotionStatistics;

/** What left the SSD, how far the sweep under way is, and a way to start one. */
record DataDemotionView(SarAdministration sar) implements DataDemotionMXBean {
    @Override
    public long getDemotedChunks() {
        return figures().demoted();
    }

    @Override
    public long getDemotedBySettings() {
        return figures().bySettings();
    }

    @Override
    public long getDemotedBySpace() {
        return figures().bySpace();
    }

    @Override
    public long getDemotedUnreferenced() {
        return figures().unreferenced();
    }

    @Override
    public long getDemotedDamaged() {
        return figures().damaged();
    }

    @Override
    public boolean isRunning() {
        return figures().running();
    }

    @Override
    public long getExamined() {
        return figures().examined();
    }

    @Override
    public long getToExamine() {
        return figures().toExamine();
    }

    @Override
    public void demoteBelow(int references) {
        sar.demoteBelow(references);
    }

    @Override
    public void demoteAll() {
        sar.demoteAll();
    }

    private DemotionStatistics figures() {
        return sar.status().demotion();
    }
}
