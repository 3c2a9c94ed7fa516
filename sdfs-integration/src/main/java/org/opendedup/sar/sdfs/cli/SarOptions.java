package org.opendedup.sar.sdfs.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.ChoiceConverter;
import org.opendedup.sar.sdfs.cli.command.SizeConverter;
import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.tier.policy.TierSettings;
import picocli.CommandLine.Option;

/**
 * The {@code --sar-*} options of mkfs.sdfs. Defaults are written twice, because picocli applies those of the
 * annotations only if an option of the group is used.
 */
public final class SarOptions {
    @Option(
            names = "--sar-enabled",
            arity = "1",
            paramLabel = "true|false",
            description =
                    "Promote chunks. Default: true if an SSD location is given. With false, copies on the SSD are "
                            + "still read.")
    @Nullable
    Boolean enabled;

    @Option(
            names = "--sar-ssd-location",
            paramLabel = "FOLDER",
            description = "Folder on the SSD for copies of chunks. Losing it loses no data.")
    @Nullable
    Path ssdLocation;

    @Option(
            names = "--sar-ssd-capacity",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "Largest space to use there, including the database of the Map table and space that is not yet "
                            + "reclaimed. If a chunkstash index is on the same device, for both together. Required "
                            + "with a location.")
    long ssdCapacityBytes;

    @Option(
            names = "--sar-reference-count-threshold",
            paramLabel = "N",
            defaultValue = "5",
            description = "Number of references from which the policy reference-count promotes a chunk that is written "
                    + "again. Default: ${DEFAULT-VALUE}.")
    int referenceCountThreshold = 5;

    @Option(
            names = "--sar-max-run",
            paramLabel = "SIZE",
            defaultValue = "128KB",
            converter = SizeConverter.class,
            description =
                    "Length from which runs of neighbouring chunks stay on the disk, which reads them well. Default: "
                            + "${DEFAULT-VALUE}.")
    long maxRunBytes = 128 << 10;

    @Option(
            names = "--sar-promote-on-read",
            arity = "1",
            paramLabel = "true|false",
            defaultValue = "true",
            description = "Promote chunks on a second read from the disk too. Default: ${DEFAULT-VALUE}.")
    boolean promoteOnRead = true;

    @Option(
            names = "--sar-lru-entries",
            paramLabel = "N",
            defaultValue = "1000000",
            description = "Number of entries in the list of recent disk reads, which detects second reads; 12 bytes of "
                    + "memory each. Default: ${DEFAULT-VALUE}.")
    int lruEntries = 1_000_000;

    @Option(
            names = "--sar-policy",
            paramLabel = "POLICY",
            converter = PolicyConverter.class,
            description =
                    "Which chunks get copies on the SSD, and their ranking: reference-count (number of references, as "
                            + "in the SAR paper), cost (disk time that a copy saves for each byte it uses), or open "
                            + "(whatever is read, with the first read, as in the TDDFS paper). Default: "
                            + "reference-count, and open with --tier-mode=tddfs.")
    TierSettings.@Nullable Policy policy;

    /** Returns whether the command says which chunks get copies. */
    boolean isPolicyChosen() {
        return policy != null;
    }

    /** @throws IllegalArgumentException if a value is not allowed; says which, and what is allowed */
    SarSettings settings() {
        if (ssdLocation != null && ssdCapacityBytes > 0) {
            SarParameters.requireUseful(ssdCapacityBytes);
        }
        return new SarSettings(
                ssdLocation == null ? null : ssdLocation.toAbsolutePath().normalize(),
                new TierSettings(
                        enabled == null ? ssdLocation != null : enabled,
                        ssdCapacityBytes,
                        referenceCountThreshold,
                        // A value that does not fit is refused as too long.
                        (int) Math.min(maxRunBytes, Integer.MAX_VALUE),
                        promoteOnRead,
                        lruEntries,
                        policy == null ? TierSettings.Policy.REFERENCE_COUNT : policy));
    }

    /** Converts a policy, spelled with dashes as in the volume file. */
    static final class PolicyConverter extends ChoiceConverter<TierSettings.Policy> {
        PolicyConverter() {
            super(TierSettings.Policy.class);
        }
    }
}
