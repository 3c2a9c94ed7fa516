package org.opendedup.sar.hot.demotion;

/**
 * Chunks removed from the SSD since the volume was opened, and the progress of the current sweep.
 *
 * @param bySettings chunks that no longer qualified after the settings changed, or that an administrator selected
 * @param bySpace chunks demoted for others that are worth more
 * @param unreferenced chunks no longer referenced
 * @param damaged chunks whose record differed from what was written; since the SSD was attached
 * @param running whether a sweep is running
 * @param examined entries that the sweep has examined
 * @param toExamine entries that the sweep must examine
 */
public record DemotionStatistics(
        long bySettings,
        long bySpace,
        long unreferenced,
        long damaged,
        boolean running,
        long examined,
        long toExamine) {

    public long demoted() {
        return bySettings + bySpace + unreferenced + damaged;
    }
}
