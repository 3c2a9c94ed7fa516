package org.opendedup.sar.sdfs.cli;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.raw.MigrationRule;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.sdfs.config.JournalTime;
import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.ssd.SsdSize;
import org.opendedup.sar.tier.policy.TierSettings;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/**
 * The options of mkfs.sdfs for a fast tier: {@code --tier-mode} and {@code --tddfs-*}. An option that was not given is
 * null, so that it is known which were.
 */
public final class TierOptions {
    private static final int SHARE_PERCENT = 75;

    @Option(
            names = "--tier-mode",
            paramLabel = "sar|tddfs",
            converter = ModeConverter.class,
            description = "Where new files are stored first. sar: in chunks, deduplicated. tddfs: whole on the SSD, as "
                    + "raw files; they are deduplicated when they are migrated. "
                    + "tddfs needs --sar-ssd-location and --sar-ssd-capacity. Folders may differ: setfattr -n "
                    + "user.sdfs.tier -v sar|tddfs|pin FOLDER. Default: sar.")
    @Nullable
    Placement mode;

    @Option(
            names = "--tddfs-share",
            paramLabel = "PERCENT",
            description = "Share of the SSD capacity for raw files, in percent; the rest is for copies of chunks. "
                    + "Default: 75 in the mode tddfs. In the mode sar there is no share unless this option is given; "
                    + "with it, folders may have raw files.")
    @Nullable
    Integer share;

    @Option(
            names = "--tddfs-high",
            paramLabel = "PERCENT",
            description = "Use of the share from which files are migrated, in percent. Default: 85.")
    @Nullable
    Integer high;

    @Option(
            names = "--tddfs-low",
            paramLabel = "PERCENT",
            description = "Use of the share at which migration ends, in percent. Default: 70.")
    @Nullable
    Integer low;

    @Option(
            names = "--tddfs-policy",
            paramLabel = "lru|mixed",
            converter = RuleConverter.class,
            description =
                    "Which raw files are migrated first. lru: the least recently used. mixed: those that are worth "
                            + "least for each byte, by size, time since the last use, and number of openings since the "
                            + "mount; large files go sooner than small ones. Default: lru.")
    @Nullable
    MigrationRule policy;

    @Option(
            names = "--tddfs-journal",
            paramLabel = "SECONDS|off",
            description = "Also store a raw file in chunks when it was not used for this long. Then a lost SSD loses "
                    + "only what was written since, and files that stay open. They stay on the SSD as well.")
    @Nullable
    String journal;

    @Option(
            names = "--tddfs-unprotected",
            description = "Do without --tddfs-journal, because the SSD is mirrored, or because losing raw files is "
                    + "acceptable. One of the two options is required for raw files.")
    boolean unprotected;

    /**
     * The capacity of the SSD, divided.
     *
     * @param sar for copies of chunks
     * @param raw for raw files
     */
    record Division(SarSettings sar, RawSettings raw) {}

    /**
     * Divides the capacity of the SSD.
     *
     * @param whole the settings with all of the capacity
     * @param isPolicyChosen whether the command says which chunks get copies; if not, the mode decides
     * @throws IllegalArgumentException if a value is not allowed; says which, and what is allowed
     */
    Division divide(SarSettings whole, boolean isPolicyChosen) {
        Placement chosen = mode == null ? Placement.SAR : mode;
        if (chosen == Placement.SAR && share == null) {
            refuseWithoutRaw();
            return new Division(whole, RawSettings.NONE);
        }
        if (whole.ssdLocation() == null) {
            throw new IllegalArgumentException("a fast tier for new files needs --sar-ssd-location=FOLDER and "
                    + "--sar-ssd-capacity=SIZE: the folder on the SSD, and the space to use there");
        }
        int journalSeconds = protection();
        int percent = share == null ? SHARE_PERCENT : share;
        if (percent < 1 || percent > 99) {
            throw new IllegalArgumentException("--tddfs-share is " + percent + "; it must be from 1 to 99 percent");
        }
        long capacity = whole.tier().capacityBytes();
        long rawBytes = capacity / 100 * percent + capacity % 100 * percent / 100;
        requireUseful(capacity, percent, capacity - rawBytes);
        var raw = new RawSettings(
                chosen,
                rawBytes,
                high == null ? RawSettings.HIGH_PERCENT : high,
                low == null ? RawSettings.LOW_PERCENT : low,
                journalSeconds,
                policy == null ? MigrationRule.LRU : policy);
        TierSettings.Policy copies = chosen == Placement.TDDFS && !isPolicyChosen
                ? TierSettings.Policy.OPEN
                : whole.tier().policy();
        TierSettings rest = SarParameters.change(
                whole.tier(),
                Map.of(
                        SarParameters.CAPACITY_BYTES,
                        capacity - rawBytes,
                        SarParameters.POLICY,
                        SarParameters.spelling(copies)));
        return new Division(whole.withTier(rest), raw);
    }

    private void refuseWithoutRaw() {
        if (high != null || low != null || policy != null || journal != null || unprotected) {
            throw new IllegalArgumentException(
                    "the options --tddfs-* need --tier-mode=tddfs, or --tddfs-share for the mode sar");
        }
    }

    /** Returns the seconds of the journal; refuses to choose between the two for the administrator. */
    private int protection() {
        int seconds = journal == null ? 0 : JournalTime.parse(journal);
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
        return seconds;
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

    /** Converts the name of a rule. */
    static final class RuleConverter implements ITypeConverter<MigrationRule> {
        @Override
        public MigrationRule convert(String text) {
            MigrationRule rule = MigrationRule.of(text.toLowerCase(Locale.ROOT));
            if (rule == null) {
                throw new TypeConversionException("'" + text + "' is not lru or mixed");
            }
            return rule;
        }
    }

    /** Converts a mode; {@code pin} is for folders and files only. */
    static final class ModeConverter implements ITypeConverter<Placement> {
        @Override
        public Placement convert(String text) {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "sar" -> Placement.SAR;
                case "tddfs" -> Placement.TDDFS;
                default -> throw new TypeConversionException("'" + text + "' is not sar or tddfs");
            };
        }
    }
}
