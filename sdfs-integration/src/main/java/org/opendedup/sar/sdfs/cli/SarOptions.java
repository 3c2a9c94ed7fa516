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
            description = "Promote chunks. Default: true when an SSD location is given. With false, what is on the SSD "
                    + "is still read from there.")
    @Nullable
    Boolean enabled;

    @Option(
            names = "--sar-ssd-location",
            paramLabel = "FOLDER",
            description = "Folder on the SSD, for copies of chunks. Nothing is lost when it is.")
    @Nullable
    Path ssdLocation;

    @Option(
            names = "--sar-ssd-capacity",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "The most space used there, the Map table's database and space not yet reclaimed included. "
                    + "Needed with a location.")
    long ssdCapacityBytes;

    @Option(
            names = "--sar-reference-count-threshold",
            paramLabel = "N",
            defaultValue = "5",
            description = "References to a chunk from which the policy reference-count promotes it when it is written "
                    + "again. Default: ${DEFAULT-VALUE}.")
    int referenceCountThreshold = 5;

    @Option(
            names = "--sar-max-run",
            paramLabel = "SIZE",
            defaultValue = "128KB",
            converter = SizeConverter.class,
            description =
                    "A chunk stays on the disk if it is wanted in a run of neighbours of this length or more: the "
                            + "disk reads that well. Default: ${DEFAULT-VALUE}.")
    long maxRunBytes = 128 << 10;

    @Option(
            names = "--sar-promote-on-read",
            arity = "1",
            paramLabel = "true|false",
            defaultValue = "true",
            description = "Promote also what is read from the disk a second time. Default: ${DEFAULT-VALUE}.")
    boolean promoteOnRead = true;

    @Option(
            names = "--sar-lru-entries",
            paramLabel = "N",
            defaultValue = "1000000",
            description =
                    "Length of the list of recent disk reads, by which a second read is known; 12 bytes of memory "
                            + "each. Default: ${DEFAULT-VALUE}.")
    int lruEntries = 1_000_000;

    @Option(
            names = "--sar-policy",
            paramLabel = "POLICY",
            defaultValue = "reference-count",
            converter = PolicyConverter.class,
            description =
                    "What makes a chunk worth its place: reference-count (how many references there are to it, as "
                            + "the SAR paper has it) or cost (disk time that a copy saves for each byte it takes). "
                            + "Default: ${DEFAULT-VALUE}.")
    TierSettings.Policy policy = TierSettings.Policy.REFERENCE_COUNT;

    /** @throws IllegalArgumentException if a value is not allowed; says which, and what is allowed */
    SarSettings settings() {
        if (ssdLocation != null) {
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
                        policy));
    }

    /** Converts a policy, spelled with dashes as in the volume file. */
    static final class PolicyConverter extends ChoiceConverter<TierSettings.Policy> {
        PolicyConverter() {
            super(TierSettings.Policy.class);
        }
    }
}
