package org.opendedup.sar.sim.tddfs.design;

import java.util.HashMap;
import java.util.Map;
import org.opendedup.sar.sim.tddfs.tier.TierClock;

/** All files lie on the slow tier as they are (TDDFS paper, section 5.1). Each request takes one seek. */
public final class SlowTierOnly implements Design {
    private final TierClock clock;
    private final Map<Integer, Long> sizes = new HashMap<>();
    private long slowBytes;

    public SlowTierOnly(Tiers tiers) {
        clock = tiers.clock();
    }

    @Override
    public void create(int file, long bytes) {
        resize(file, bytes);
        clock.slow(bytes, 1);
    }

    @Override
    public void read(int file, long offset, long length) {
        clock.slow(length, 1);
    }

    @Override
    public void write(int file, long offset, long length) {
        resize(file, Math.max(sizes.getOrDefault(file, 0L), offset + length));
        clock.slow(length, 1);
    }

    @Override
    public void delete(int file) {
        resize(file, 0);
    }

    private void resize(int file, long bytes) {
        Long before = sizes.put(file, bytes);
        slowBytes += bytes - (before == null ? 0 : before);
    }

    @Override
    public long fastBytes() {
        return 0;
    }

    @Override
    public long slowBytes() {
        return slowBytes;
    }
}
