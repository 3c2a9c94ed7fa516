package org.opendedup.sar.sdfs.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.config.SarSettings;
import picocli.CommandLine.Option;

/**
 * The {@code --sar-*} options of mkfs.sdfs. Defaults stand twice: picocli applies those of the annotations only to a group
 * that is used.
 */
final class SarOptions {
    @Option(
            names = "--sar-enabled",
            arity = "1",
            paramLabel = "true|false",
            description = "Promote chunks. Default: true when an SSD location is given.")
    @Nullable
    Boolean enabled;

    @Option(names = "--sar-ssd-location", paramLabel = "FOLDER", description = "Folder on the SSD.")
    @Nullable
    Path ssdLocation;

    @Option(
            names = "--sar-ssd-capacity",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "The most space used there. Needed with a location.")
    long ssdCapacityBytes;

    @Option(
            names = "--sar-reference-count-threshold",
            paramLabel = "N",
            defaultValue = "5",
            description = "References from which a chunk is promoted. Default: ${DEFAULT-VALUE}.")
    int referenceCountThreshold = 5;

    @Option(
            names = "--sar-max-run",
            paramLabel = "SIZE",
            defaultValue = "128KB",
            converter = SizeConverter.class,
            description = "Longest run of neighbouring chunks that is promoted. Default: ${DEFAULT-VALUE}.")
    long maxRunBytes = 128 << 10;

    @Option(
            names = "--sar-promote-on-read",
            arity = "1",
            paramLabel = "true|false",
            defaultValue = "true",
            description = "Promote what is read from disk a second time. Default: ${DEFAULT-VALUE}.")
    boolean promoteOnRead = true;

    @Option(
            names = "--sar-lru-entries",
            paramLabel = "N",
            defaultValue = "1000000",
            description = "Length of the list of recent disk reads. Default: ${DEFAULT-VALUE}.")
    int lruEntries = 1_000_000;

    @Option(
            names = "--sar-policy",
            paramLabel = "POLICY",
            defaultValue = "reference-count",
            converter = PolicyConverter.class,
            description = "What scores a chunk: reference-count or cost. Default: ${DEFAULT-VALUE}.")
    SarSettings.Policy policy = SarSettings.Policy.REFERENCE_COUNT;

    SarSettings settings() {
        return new SarSettings(
                enabled == null ? ssdLocation != null : enabled,
                ssdLocation == null ? null : ssdLocation.toAbsolutePath().normalize(),
                ssdCapacityBytes,
                referenceCountThreshold,
                maxRunBytes,
                promoteOnRead,
                lruEntries,
                policy);
    }

    /** Dashes as in the volume file. */
    static final class PolicyConverter extends ChoiceConverter<SarSettings.Policy> {
        PolicyConverter() {
            super(SarSettings.Policy.class);
        }
    }
}
