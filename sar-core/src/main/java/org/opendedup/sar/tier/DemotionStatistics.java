package org.opendedup.sar.tier;

/**
 * What left the SSD, in chunks, since the volume was opened, and how far the sweep under way is.
 *
 * @param bySettings no longer qualified after the settings changed, or was named by an administrator
 * @param bySpace gave room to what is worth more
 * @param unreferenced nothing refers to it any more
 * @param damaged its record was not what was written; since the SSD was attached
 * @param running whether a sweep is under way
 * @param examined entries the sweep has looked at
 * @param toExamine entries it has to look at
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
