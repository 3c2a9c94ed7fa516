package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.sdfs.jmx.SarAdministration.Way;
import org.opendedup.sar.tier.demotion.DemotionStatistics;

/** Implements {@link DataDemotionMXBean} on {@link SarAdministration}. */
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
        sar.run(() -> sar.demoteBelow(Way.JMX, references));
    }

    @Override
    public void demoteAll() {
        sar.run(() -> sar.demoteAll(Way.JMX));
    }

    private DemotionStatistics figures() {
        return sar.status().demotion();
    }
}
