package org.opendedup.sar.sdfs.cli;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.config.RestoreSettings;
import picocli.CommandLine.Option;

/** The {@code --restore-*} options of mkfs.sdfs. Defaults stand twice, as in {@link SarOptions}. */
final class RestoreOptions {
    @Option(
            names = "--restore-cache",
            paramLabel = "POLICY",
            defaultValue = "lru",
            converter = CacheConverter.class,
            description = "Which container leaves the read cache first: lru or lookahead. Default: ${DEFAULT-VALUE}.")
    RestoreSettings.Cache cache = RestoreSettings.Cache.LRU;

    @Option(
            names = "--restore-cache-size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Memory of the read cache. Default: what the memory budget gives.")
    @Nullable
    Long cacheBytes;

    @Option(
            names = "--restore-window",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "How far ahead a reader's recipe is looked at. Default: 8 times the cache.")
    @Nullable
    Long windowBytes;

    @Option(
            names = "--restore-log-share",
            paramLabel = "SHARE",
            defaultValue = "0.5",
            description = "Share of the cache, 0 to 1, for chunks of evicted containers. Default: ${DEFAULT-VALUE}.")
    double logShare = 0.5;

    RestoreSettings settings() {
        return new RestoreSettings(cache, optional(cacheBytes), optional(windowBytes), logShare);
    }

    private static OptionalLong optional(@Nullable Long value) {
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }

    /** Spelled as in the volume file. */
    static final class CacheConverter extends ChoiceConverter<RestoreSettings.Cache> {
        CacheConverter() {
            super(RestoreSettings.Cache.class);
        }
    }
}
