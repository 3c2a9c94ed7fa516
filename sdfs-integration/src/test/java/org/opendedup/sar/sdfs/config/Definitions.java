package org.opendedup.sar.sdfs.config;

import java.nio.file.Path;
import java.util.OptionalLong;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.index.IndexPlacement;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.volume.config.VolumeConfig;

/** Volume definitions for tests. */
public final class Definitions {
    private Definitions() {}

    /** A plain volume, all of it under {@code base}. */
    public static VolumeDefinition plain(String name, Path base) {
        var locations = new VolumeConfig.Locations(
                base.resolve("chunkstore/chunks"), base.resolve("ddb"), base.resolve("chunkstore/hdb"));
        return of(name, base, locations, new Compression(Compression.Codec.ZSTD, 1, 64 << 10));
    }

    /** A plain volume with an SSD of a gigabyte in {@code base/ssd}, and the defaults of mkfs.sdfs. */
    public static VolumeDefinition withSsd(String name, Path base) {
        var tier = new TierSettings(true, 1L << 30, 5, 128 << 10, true, 1_000_000, TierSettings.Policy.REFERENCE_COUNT);
        return plain(name, base).withSar(new SarSettings(base.resolve("ssd"), tier));
    }

    /** The same with raw files on 100 MB of it, which are stored in chunks after a minute. */
    public static VolumeDefinition withFastTier(String name, Path base) {
        return withSsd(name, base).withRaw(new RawSettings(Placement.TDDFS, 100L << 20, 85, 70, 60));
    }

    static VolumeDefinition of(String name, Path base, VolumeConfig.Locations locations, Compression compression) {
        var config = new VolumeConfig(
                name,
                10L << 30,
                95,
                locations,
                Chunking.VARIABLE_SHA256,
                compression,
                256 << 10,
                256L << 20,
                2,
                new VolumeConfig.RootDirectory(0755, 1000, 1000));
        var sar = new SarSettings(
                null, new TierSettings(false, 0, 5, 128 << 10, true, 1_000_000, TierSettings.Policy.REFERENCE_COUNT));
        var restore = new RestoreSettings(
                CachePolicy.DEFAULT, OptionalLong.empty(), OptionalLong.empty(), 0.5, DiskOption.AUTO);
        return new VolumeDefinition(config, base, "rocksdb", "0 0 12 ? * SUN", RecompressLevel.OFF, 0644, sar, restore);
    }

    /** One that uses every attribute of the volume file, and needs escaping. */
    static VolumeDefinition full(Path base) {
        var locations = new VolumeConfig.Locations(
                Path.of("/disk/<a & \"b\">/chunks"), Path.of("/mirror/ddb ä€"), Path.of("/ssd/hdb'"));
        VolumeDefinition plain =
                of("pool-0.x_1", base, locations, new Compression(Compression.Codec.LZ4, 0, 256 << 10));
        var sar = new SarSettings(
                Path.of("/ssd/sar"),
                new TierSettings(true, 20L << 30, 7, 64 << 10, false, 12, TierSettings.Policy.COST));
        var restore = new RestoreSettings(
                CachePolicy.LOOKAHEAD_LOG,
                OptionalLong.of(64 << 20),
                OptionalLong.of(1500),
                0.25,
                DiskOption.parse("6.5,180,2"));
        return new VolumeDefinition(
                plain.config().withIndexPlacement(new IndexPlacement(3L << 30)),
                base,
                "rocksdb",
                "0 30 2 * * ?",
                RecompressLevel.parse("zstd:9"),
                0600,
                sar,
                restore,
                BackupSettings.of("90m", 7),
                "0 15 4 ? * MON",
                new RawSettings(Placement.TDDFS, 60L << 30, 90, 50, 30));
    }
}
