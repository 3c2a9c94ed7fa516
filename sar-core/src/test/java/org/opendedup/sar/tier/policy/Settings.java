package org.opendedup.sar.tier.policy;

import org.opendedup.sar.tier.policy.TierSettings.Policy;

/** Settings for tests: the paper's parameters. */
public final class Settings {
    public static final int THRESHOLD = 5;
    static final int MAX_RUN_BYTES = 128 << 10;

    private Settings() {}

    public static TierSettings of(Policy policy) {
        return new TierSettings(true, 1 << 30, THRESHOLD, MAX_RUN_BYTES, true, 1000, policy);
    }

    public static TierSettings threshold(int threshold) {
        return new TierSettings(true, 1 << 30, threshold, MAX_RUN_BYTES, true, 1000, Policy.REFERENCE_COUNT);
    }

    static TierSettings maxRunBytes(Policy policy, int maxRunBytes) {
        return new TierSettings(true, 1 << 30, THRESHOLD, maxRunBytes, true, 1000, policy);
    }

    public static TierSettings promoteOnRead(boolean promoteOnRead) {
        return new TierSettings(true, 1 << 30, THRESHOLD, MAX_RUN_BYTES, promoteOnRead, 1000, Policy.REFERENCE_COUNT);
    }

    public static TierSettings disabled() {
        return new TierSettings(false, 1 << 30, THRESHOLD, MAX_RUN_BYTES, true, 1000, Policy.REFERENCE_COUNT);
    }
}
