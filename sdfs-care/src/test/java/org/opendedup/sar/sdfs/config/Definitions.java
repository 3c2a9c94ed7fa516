package org.opendedup.sar.sdfs.config;

import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexParameters;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.raw.MigrationRule;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.restore.cache.CacheChoice;

/** Volume definitions for tests. */
public final class Definitions {
    private Definitions() {}

    /** A plain volume, all of it under {@code base}. */
    public static VolumeDefinition plain(String name, Path base) {
        return new VolumeDefinition(values(name, base));
    }

    /** A plain volume with an SSD of a gigabyte in {@code base/ssd}, and the defaults of mkfs.sdfs. */
    public static VolumeDefinition withSsd(String name, Path base) {
        return new VolumeDefinition(values(name, base)
                .with(VolumeOptions.SAR_ENABLED, true)
                .with(VolumeOptions.SSD_LOCATION, base.resolve("ssd"))
                .with(VolumeOptions.SSD_CAPACITY, 1L << 30));
    }

    /** The same with raw files on 100 MB of it, which are stored in chunks after a minute. */
    public static VolumeDefinition withFastTier(String name, Path base) {
        return new VolumeDefinition(withSsd(name, base)
                .values()
                .with(VolumeOptions.TIER_MODE, Placement.TDDFS)
                .with(VolumeOptions.TIER_CAPACITY, 100L << 20)
                .with(VolumeOptions.TIER_JOURNAL, 60));
    }

    /** A plain volume in the object store of a folder, which must exist. */
    public static VolumeDefinition inStore(String name, Path base, Path store) {
        return new VolumeDefinition(values(name, base)
                .with(VolumeOptions.OBJECT_STORE, "file://" + store)
                .with(VolumeOptions.DURABILITY, Promise.REMOTE)
                .with(VolumeOptions.CACHE_SIZE, 1L << 30)
                .with(VolumeOptions.BACKUP_INTERVAL, BackupSettings.OFF));
    }

    /** The values of a plain volume. */
    static OptionValues values(String name, Path base) {
        return OptionValues.NONE
                .with(VolumeOptions.NAME, name)
                .with(VolumeOptions.CAPACITY, 10L << 30)
                .with(VolumeOptions.BASE_PATH, base)
                .with(VolumeOptions.DATA_LOCATION, base.resolve("chunkstore/chunks"))
                .with(VolumeOptions.METADATA_LOCATION, base.resolve("ddb"))
                .with(VolumeOptions.INDEX_LOCATION, base.resolve("chunkstore/hdb"))
                .with(VolumeOptions.CODEC, Compression.Codec.ZSTD)
                .with(VolumeOptions.CODEC_LEVEL, 1)
                .with(VolumeOptions.FRAME_SIZE, 64L << 10)
                .with(VolumeOptions.MEMORY_BUDGET, 256L << 20)
                .with(VolumeOptions.WRITE_THREADS, 2)
                .with(VolumeOptions.OWNER, 1000)
                .with(VolumeOptions.GROUP, 1000)
                .with(VolumeOptions.RESTORE_LOG_SHARE, 0.5);
    }

    /** One that has another value than the default for every option of the volume file, and needs escaping. */
    public static VolumeDefinition full(Path base) {
        return new VolumeDefinition(values("pool-0.x_1", base)
                .with(VolumeOptions.DATA_LOCATION, Path.of("/disk/<a & \"b\">/chunks"))
                .with(VolumeOptions.FURTHER_LOCATIONS, List.of(Path.of("/disk2/more"), Path.of("/disk3/much")))
                .with(VolumeOptions.METADATA_LOCATION, Path.of("/mirror/ddb ä€"))
                .with(VolumeOptions.INDEX_LOCATION, Path.of("/ssd/hdb'"))
                .with(VolumeOptions.INDEX, IndexClass.CHUNKSTASH)
                .with(VolumeOptions.INDEX_PARAMETERS, IndexParameters.parse("sampling=8,width=32"))
                .with(VolumeOptions.INDEX_SSD_CAPACITY, 3L << 30)
                .with(VolumeOptions.PAGE_SIZE, 128L << 10)
                .with(VolumeOptions.HASH_TYPE, Chunking.SHA256)
                .with(VolumeOptions.CODEC, Compression.Codec.LZ4)
                .with(VolumeOptions.CODEC_LEVEL, 0)
                .with(VolumeOptions.FRAME_SIZE, 256L << 10)
                .with(VolumeOptions.RECOMPRESS, RecompressLevel.parse("zstd:9"))
                .with(VolumeOptions.MAXIMUM_FULL, 90)
                .with(VolumeOptions.ENCRYPTED, true)
                .with(VolumeOptions.FILE_MODE, 0600)
                .with(VolumeOptions.FOLDER_MODE, 0700)
                .with(VolumeOptions.COLLECTIONS, "0 30 2 * * ?")
                .with(VolumeOptions.SCRUBS, "0 15 4 ? * MON")
                .with(VolumeOptions.SNAPSHOTS, "0 0 * * * ?")
                .with(VolumeOptions.SNAPSHOTS_KEPT, KeepRules.parse("last=2,yearly=3"))
                .with(VolumeOptions.BACKUP_INTERVAL, "90m")
                .with(VolumeOptions.BACKUPS_KEPT, 7)
                .with(VolumeOptions.SAR_ENABLED, true)
                .with(VolumeOptions.SSD_LOCATION, Path.of("/ssd/sar"))
                .with(VolumeOptions.SSD_CAPACITY, 20L << 30)
                .with(VolumeOptions.SAR_THRESHOLD, 7)
                .with(VolumeOptions.SAR_MAX_RUN, 64L << 10)
                .with(VolumeOptions.SAR_PROMOTE_ON_READ, false)
                .with(VolumeOptions.SAR_LRU_ENTRIES, 12)
                .with(VolumeOptions.SAR_POLICY, HotSettings.Policy.REFERENCE_COUNT)
                .with(VolumeOptions.TIER_MODE, Placement.TDDFS)
                .with(VolumeOptions.TIER_CAPACITY, 60L << 30)
                .with(VolumeOptions.TIER_HIGH, 90)
                .with(VolumeOptions.TIER_LOW, 50)
                .with(VolumeOptions.TIER_JOURNAL, 30)
                .with(VolumeOptions.TIER_POLICY, MigrationRule.MIXED)
                .with(VolumeOptions.RESTORE_CACHE, CacheChoice.parse("lookahead-log:hot=5%,references=bloom"))
                .with(VolumeOptions.RESTORE_CACHE_SIZE, 64L << 20)
                .with(VolumeOptions.RESTORE_WINDOW, 1500L)
                .with(VolumeOptions.RESTORE_LOG_SHARE, 0.125)
                .with(VolumeOptions.RESTORE_DISK, DiskOption.parse("6.5,180,2")));
    }
}
