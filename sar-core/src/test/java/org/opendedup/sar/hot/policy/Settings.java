package org.opendedup.sar.hot.policy;

import org.opendedup.sar.hot.policy.HotSettings.Policy;

/** Settings for tests: the paper's parameters. */
public final class Settings {
    public static final int THRESHOLD = 5;
    static final int MAX_RUN_BYTES = 128 << 10;

    private Settings() {}

    public static HotSettings of(Policy policy) {
        return new HotSettings(true, 1 << 30, THRESHOLD, MAX_RUN_BYTES, true, 1000, policy);
    }

    public static HotSettings threshold(int threshold) {
        return new HotSettings(true, 1 << 30, threshold, MAX_RUN_BYTES, true, 1000, Policy.REFERENCE_COUNT);
    }

    static HotSettings maxRunBytes(Policy policy, int maxRunBytes) {
        return new HotSettings(true, 1 << 30, THRESHOLD, maxRunBytes, true, 1000, policy);
    }

    public static HotSettings promoteOnRead(boolean promoteOnRead) {
        return new HotSettings(true, 1 << 30, THRESHOLD, MAX_RUN_BYTES, promoteOnRead, 1000, Policy.REFERENCE_COUNT);
    }

    public static HotSettings disabled() {
        return new HotSettings(false, 1 << 30, THRESHOLD, MAX_RUN_BYTES, true, 1000, Policy.REFERENCE_COUNT);
    }
}
