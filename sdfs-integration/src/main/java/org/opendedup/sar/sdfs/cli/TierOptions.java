package org.opendedup.sar.sdfs.cli;

import java.util.stream.Stream;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.sdfs.config.OptionValues;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.ssd.SsdSize;

/** Divides the capacity of the SSD between copies of chunks and raw files, for mkfs.sdfs. */
final class TierOptions {
    private static final int SHARE_PERCENT = 75;

    private TierOptions() {}

    /**
     * Returns values of options with the two parts of the capacity.
     *
     * @param given the values that mkfs.sdfs was given, with all of the capacity
     * @throws IllegalArgumentException if a value is not allowed; says which, and what is allowed
     */
    static OptionValues divide(OptionValues given) {
        Placement mode = given.get(VolumeOptions.TIER_MODE);
        if (mode == Placement.SAR && !given.isSet(VolumeOptions.TIER_SHARE)) {
            refuseWithoutRaw(given);
            return given;
        }
        if (!given.isSet(VolumeOptions.SSD_LOCATION) || !given.isSet(VolumeOptions.SSD_CAPACITY)) {
            throw new IllegalArgumentException("a fast tier for new files needs --sar-ssd-location=FOLDER and "
                    + "--sar-ssd-capacity=SIZE: the folder on the SSD, and the space to use there");
        }
        requireProtection(given.get(VolumeOptions.TIER_JOURNAL), given.get(VolumeOptions.TIER_UNPROTECTED));
        int percent = given.find(VolumeOptions.TIER_SHARE).orElse(SHARE_PERCENT);
        long capacity = given.get(VolumeOptions.SSD_CAPACITY);
        long rawBytes = capacity / 100 * percent + capacity % 100 * percent / 100;
        requireUseful(capacity, percent, capacity - rawBytes);
        OptionValues divided =
                given.with(VolumeOptions.SSD_CAPACITY, capacity - rawBytes).with(VolumeOptions.TIER_CAPACITY, rawBytes);
        return mode == Placement.TDDFS ? divided.orElse(VolumeOptions.SAR_POLICY, HotSettings.Policy.OPEN) : divided;
    }

    private static void refuseWithoutRaw(OptionValues given) {
        if (Stream.of(
                        VolumeOptions.TIER_HIGH,
                        VolumeOptions.TIER_LOW,
                        VolumeOptions.TIER_POLICY,
                        VolumeOptions.TIER_JOURNAL,
                        VolumeOptions.TIER_UNPROTECTED)
                .anyMatch(given::isSet)) {
            throw new IllegalArgumentException(
                    "the options --tddfs-* need --tier-mode=tddfs, or --tddfs-share for the mode sar");
        }
    }

    /** Refuses to choose between the two for the administrator. */
    private static void requireProtection(int seconds, boolean unprotected) {
        if (seconds > 0 && unprotected) {
            throw new IllegalArgumentException("--tddfs-journal=" + seconds
                    + " protects raw files and --tddfs-unprotected does not: give one of them");
        }
        if (seconds == 0 && !unprotected) {
            throw new IllegalArgumentException("raw files lie on the SSD only, so a lost SSD loses them: choose "
                    + "--tddfs-journal=SECONDS or --tddfs-unprotected. With --tddfs-journal=SECONDS, a file that was "
                    + "not used for so long is also stored in chunks, and a lost SSD loses only what was written "
                    + "since. With --tddfs-unprotected you say that the SSD is mirrored, or that you accept the loss "
                    + "of all raw files.");
        }
    }

    private static void requireUseful(long capacity, int percent, long rest) {
        long least = SsdSize.leastCapacity();
        if (rest < least) {
            throw new IllegalArgumentException("--tddfs-share=" + percent + " of an SSD capacity of "
                    + ByteSize.exact(capacity) + " leaves " + ByteSize.rounded(rest)
                    + " for copies of chunks, which need at least " + ByteSize.exact(least)
                    + ": give a larger --sar-ssd-capacity, or a smaller share");
        }
    }
}
