package org.opendedup.sar.sdfs.health;

import org.opendedup.sar.volume.raw.FastTier;

/**
 * What is known about the raw files of a volume.
 *
 * @param summary the fast tier and its use
 * @param lostFiles files whose bytes were only on the fast tier, which does not have them any more
 */
public record FastTierFacts(FastTier.Summary summary, long lostFiles) {}
