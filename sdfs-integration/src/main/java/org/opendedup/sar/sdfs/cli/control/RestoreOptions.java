package org.opendedup.sar.sdfs.cli.control;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.sdfs.cli.SarOptions;
import org.opendedup.sar.sdfs.cli.command.ChoiceConverter;
import org.opendedup.sar.sdfs.cli.command.SizeConverter;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The {@code --restore-*} options of mkfs.sdfs. Defaults are written twice, as in {@link SarOptions}. */
public final class RestoreOptions {
    @Option(
            names = "--restore-cache",
            paramLabel = "POLICY",
            defaultValue = "default",
            converter = CacheConverter.class,
            description =
                    "Chunks of read containers that stay in memory for a sequential reader: default (those that its "
                            + "file refers to next), lookahead-base, lookahead-log, assembly, opt or lru. Default: "
                            + "${DEFAULT-VALUE}.")
    CachePolicy cache = CachePolicy.DEFAULT;

    @Option(
            names = "--restore-cache-size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Memory limit of all sequential readers together. Default: their part of the memory budget.")
    @Nullable
    Long cacheBytes;

    @Option(
            names = "--restore-window",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "Lookahead window: bytes of a reader's file that default and lookahead-* examine ahead. Default: "
                            + "16 times the cache size with default, half the cache size with lookahead-*.")
    @Nullable
    Long windowBytes;

    @Option(
            names = "--restore-log-share",
            paramLabel = "SHARE",
            defaultValue = "0.25",
            description = "Share of the memory, 0 to 0.9, in which lookahead-log keeps chunks of evicted containers. "
                    + "Default: ${DEFAULT-VALUE}.")
    double logShare = CacheParameters.DEFAULT_LOG_SHARE;

    @Option(
            names = "--restore-disk",
            paramLabel = "DISK",
            defaultValue = "auto",
            converter = DiskConverter.class,
            description = "Disk of the containers: auto (measured during reads), hdd, ssd, or "
                    + "SEEK_MS,MB_PER_S[,CONCURRENCY] (time to skip to the next request, rate, number of requests at "
                    + "once). Default: ${DEFAULT-VALUE}.")
    DiskOption disk = DiskOption.AUTO;

    public RestoreSettings settings() {
        return new RestoreSettings(cache, optional(cacheBytes), optional(windowBytes), logShare, disk);
    }

    private static OptionalLong optional(@Nullable Long value) {
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }

    /** Parses a disk as in the volume file. */
    static final class DiskConverter implements ITypeConverter<DiskOption> {
        @Override
        public DiskOption convert(String value) {
            try {
                return DiskOption.parse(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    /** Parses a policy, spelled as in the volume file. */
    static final class CacheConverter extends ChoiceConverter<CachePolicy> {
        CacheConverter() {
            super(CachePolicy.class);
        }
    }
}
