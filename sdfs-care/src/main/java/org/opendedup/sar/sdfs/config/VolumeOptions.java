package org.opendedup.sar.sdfs.config;

import static org.opendedup.sar.sdfs.config.OptionKind.BOOLEAN;
import static org.opendedup.sar.sdfs.config.OptionKind.FLAG;
import static org.opendedup.sar.sdfs.config.OptionKind.FOLDER;
import static org.opendedup.sar.sdfs.config.OptionKind.FOLDERS;
import static org.opendedup.sar.sdfs.config.OptionKind.MODE;
import static org.opendedup.sar.sdfs.config.OptionKind.SHARE;
import static org.opendedup.sar.sdfs.config.OptionKind.SIZE;
import static org.opendedup.sar.sdfs.config.OptionKind.choice;
import static org.opendedup.sar.sdfs.config.OptionKind.integer;
import static org.opendedup.sar.sdfs.config.OptionKind.number;
import static org.opendedup.sar.sdfs.config.OptionKind.text;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexParameters;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.objects.StorePrices;
import org.opendedup.sar.raw.MigrationRule;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.restore.cache.CacheChoice;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.lookahead.StreamBudget;
import org.opendedup.sar.ssd.SsdSize;
import org.opendedup.sar.volume.config.MemoryPlan;

/**
 * All options of a volume. To add one, declare it here in its section, and hand its value to the engine in
 * {@link VolumeDefinition}.
 */
public final class VolumeOptions {
    /** The elements of the volume file that are left out if all their attributes have their defaults. */
    static final Set<String> OPTIONAL_ELEMENTS = Set.of("fast-tier", "object-store");

    private static final Section VOLUME = new Section("", "", "");

    public static final VolumeOption<String> NAME = VOLUME.option(
                    "--volume-name", "volume/name", "name", OptionKind.NAME)
            .text("Letters, digits, '.', '_' and '-'.");

    public static final VolumeOption<Long> CAPACITY = VOLUME.option(
                    "--volume-capacity", "volume/capacity", "capacityBytes", SIZE)
            .byDefaultAs("the size of the disk of the containers")
            // A smaller value is most likely a size without its unit.
            .from(1L << 20)
            .changedBy("set --capacity")
            .text("Largest total size of the files, before deduplication and without holes. At least 1MB.");

    public static final VolumeOption<Path> BASE_PATH = VOLUME.option(
                    "--base-path", "locations/base-path", "basePath", FOLDER)
            .byDefaultAs("/opt/sdfs/volumes/NAME")
            .ofMachine()
            .text("Folder of everything that has no location of its own.");

    public static final VolumeOption<Path> DATA_LOCATION = VOLUME.option(
                    "--chunk-store-data-location", "local-chunkstore/chunk-store", "dataLocation", FOLDER)
            .byDefaultAs("BASE/chunkstore/chunks")
            .inPlugin("sar-data-location", "chunk-store on <local-chunkstore>, then /sar/data")
            .ofMachine()
            .text("Containers.");

    public static final VolumeOption<List<Path>> FURTHER_LOCATIONS = VOLUME.option(
                    "--chunk-store-further-locations",
                    "local-chunkstore/further-chunk-stores",
                    "furtherDataLocations",
                    FOLDERS)
            .mayBeAbsent("")
            .changedBy("add-location")
            .text("More folders of containers, on other disks; their names have no colon. Each new container goes "
                    + "where most space is free. The volume needs all of them.");

    public static final VolumeOption<Path> METADATA_LOCATION = VOLUME.option(
                    "--dedup-db-store", "locations/dedup-db-store", "metadataLocation", FOLDER)
            .byDefaultAs("BASE/ddb")
            .inPlugin("sar-metadata-location", "as above, /sar/metadata")
            .ofMachine()
            .text("Folder of names, recipes and counts. They are as important as the data.");

    public static final VolumeOption<Path> INDEX_LOCATION = VOLUME.option(
                    "--chunk-store-hashdb-location", "local-chunkstore/hash-db-store", "hashDbLocation", FOLDER)
            .byDefaultAs("BASE/chunkstore/hdb")
            .inPlugin("sar-index-location", "hash-db-store on <local-chunkstore>, then /sar/index")
            .ofMachine()
            .text("Folder of the fingerprint index. Use the SSD if there is one. A lost index is rebuilt.");

    public static final VolumeOption<IndexClass> INDEX = VOLUME.option(
                    "--chunk-store-hashdb-class",
                    "local-chunkstore/hashdb-class",
                    "indexClass",
                    choice("INDEX", IndexClass::label, IndexClass.values()))
            .byDefault(IndexClass.ROCKSDB)
            .changedBy("index convert")
            .inPlugin("sar-index-class")
            .ofMachine()
            .text("Type of fingerprint index. rocksdb: for any disk; exact. chunkstash: for an SSD; 6 bytes of "
                    + "memory a chunk, faster; exact while memory suffices. silo: for disks only, with little "
                    + "memory a TB; finds nearly all duplicates.");

    public static final VolumeOption<IndexParameters> INDEX_PARAMETERS = VOLUME.option(
                    "--index-parameters",
                    "local-chunkstore/index-parameters",
                    "indexParameters",
                    text("NAME=VALUE,...", IndexParameters::parse))
            .mayBeAbsent("")
            .byDefaultAs("by the memory of the index")
            .inPlugin("sar-index-parameters")
            .ofMachine()
            .text("Sizes of the index. silo: segment (64KB to 8MB), block (1MB to 1GB), cache (blocks in memory, as "
                    + "many as it has room for). chunkstash: sampling (one of so many chunks of a container is in "
                    + "memory: 1, 2, 4, to 1024), width (16, 24 or 32 positions of the table for each chunk).");

    public static final VolumeOption<Long> PAGE_SIZE = VOLUME.option(
                    "--io-chunk-size",
                    "io/chunk-size",
                    "ioChunkBytes",
                    number("SIZE", VolumeOptions::power, ByteSize::exact))
            .byDefault(256L << 10)
            .from(64L << 10)
            .to(4L << 20)
            .text("Range of a file that one recipe record describes: a power of two from 64KB to 4MB.");

    public static final VolumeOption<Chunking> HASH_TYPE = VOLUME.option(
                    "--hash-type", "io/hash-type", "hashType", choice("TYPE", Chunking::name, Chunking.values()))
            .byDefault(Chunking.VARIABLE_SHA256)
            .text("Cutting of files into chunks. VARIABLE_SHA256: by content, into 2 to 64 KiB, 8 KiB on average. "
                    + "SHA256: into 4 KiB each, for disk images.");

    public static final VolumeOption<CompressionChoice> COMPRESSION = VOLUME.option(
                    "--chunk-store-compress", "", "", text("CODEC", CompressionChoice::parse))
            .byDefault(CompressionChoice.parse("zstd"))
            .byDefaultAs("zstd:1; with --backup-volume zstd:3")
            .inPlugin("sar-compression", "zstd:1")
            .text("Compression: zstd, zstd:LEVEL (1 to 19), lz4 or none.");

    public static final VolumeOption<Compression.Codec> CODEC = VOLUME.option(
                    "",
                    "local-chunkstore/compress",
                    "",
                    choice("CODEC", OptionKind::spelling, Compression.Codec.values()))
            .text("Codec of --chunk-store-compress.");

    public static final VolumeOption<Integer> CODEC_LEVEL = VOLUME.option(
                    "", "local-chunkstore/compress-level", "", integer("LEVEL"))
            .from(0)
            .to(RecompressLevel.MAX)
            .text("Level of --chunk-store-compress.");

    public static final VolumeOption<Long> FRAME_SIZE = VOLUME.option(
                    "", "local-chunkstore/extended-config/frame-size", "frameBytes", SIZE)
            .from(4L << 10)
            .to(1L << 20)
            .text("Size of a frame before compression.");

    public static final VolumeOption<RecompressLevel> RECOMPRESS = VOLUME.option(
                    "--chunk-store-recompress",
                    "local-chunkstore/recompress",
                    "recompress",
                    text("LEVEL", RecompressLevel::parse))
            .byDefault(RecompressLevel.OFF)
            .added()
            .changedBy("gc set --recompress")
            .inPlugin("sar-recompress")
            .text("Compression that garbage collections give to what has stayed since the one before: zstd:LEVEL "
                    + "(1 to 19), harder than that of writing, or off. In the background, each container is "
                    + "written once more. zstd:9 stores up to a tenth less and needs a second of a core for "
                    + "about 70MB; zstd:12 two and a half times as long.");

    public static final VolumeOption<Boolean> BACKUP_VOLUME = VOLUME.option("--backup-volume", "", "", FLAG)
            .byDefault(false)
            .text("For backups: compress harder, in frames of 256KB instead of 64KB. Stores less; random reads cost"
                    + " more.");

    public static final VolumeOption<Integer> WRITE_THREADS = VOLUME.option(
                    "--io-write-threads", "io/write-threads", "writeThreads", integer("N"))
            .byDefaultAs("the number of cores")
            .from(1)
            .to(256)
            .inPlugin("sar-write-threads", "the number of cores, at least 2")
            .changedBy("set --write-threads")
            .atNextMount()
            .ofMachine()
            .text("Number of threads that fingerprint and compress.");

    public static final VolumeOption<Long> MEMORY_BUDGET = VOLUME.option(
                    "--memory-budget", "io/memory-budget", "memoryBudgetBytes", SIZE)
            .byDefaultAs("the smaller of 1GB and a quarter of RAM, at least 256MB, and more for many threads")
            // Below it, the index and the caches have no room to work.
            .from(MemoryPlan.MIN_BUDGET_BYTES)
            .inPlugin("sar-memory-budget", "1GB")
            .changedBy("set --memory")
            .atNextMount()
            .ofMachine()
            .text("Memory of the mounted volume, native memory included. About 150MB for the JVM itself are added.");

    public static final VolumeOption<Integer> MAXIMUM_FULL = VOLUME.option(
                    "--volume-maximum-full-percentage",
                    "volume/maximum-percentage-full",
                    "maximumFullPercentage",
                    integer("N"))
            .byDefault(95)
            .from(1)
            .to(100)
            .changedBy("set --maximum-full")
            .text("Share of the capacity for users other than root, in percent. The rest is for root.");

    public static final VolumeOption<Boolean> ENCRYPTED = VOLUME.option(
                    "--encrypt", "volume/encrypted", "encrypted", FLAG)
            .mayBeAbsent(false)
            .inPlugin("sar-encrypt", "false")
            .text("Encrypt everything that the volume stores. Other options say where the passphrase or key comes "
                    + "from. Whoever loses it loses the volume.");

    public static final VolumeOption<Integer> FILE_MODE = VOLUME.option(
                    "--permissions-file", "permissions/default-file", "fileMode", MODE)
            .byDefault(0644)
            .from(0)
            .to(07777)
            .text("Octal mode of files. Stored for compatibility with SDFS, not used: a program sets the mode of "
                    + "each file that it makes.");

    public static final VolumeOption<Integer> FOLDER_MODE = VOLUME.option(
                    "--permissions-folder", "permissions/default-folder", "folderMode", MODE)
            .byDefault(0755)
            .from(0)
            .to(07777)
            .text("Octal mode of the volume's root folder.");

    public static final VolumeOption<Integer> OWNER = VOLUME.option(
                    "--permissions-owner", "permissions/default-owner", "owner", integer("UID"))
            .byDefaultAs("the user who runs mkfs.sdfs")
            .from(0)
            .text("User ID of the root folder's owner.");

    public static final VolumeOption<Integer> GROUP = VOLUME.option(
                    "--permissions-group", "permissions/default-group", "group", integer("GID"))
            .byDefaultAs("the group of the user who runs mkfs.sdfs")
            .from(0)
            .text("Group ID of the root folder.");

    public static final VolumeOption<String> COLLECTIONS = VOLUME.option(
                    "--io-claim-chunks-schedule",
                    "io/claim-hash-schedule",
                    "garbageCollectionSchedule",
                    text("CRON", Schedule::checked))
            .byDefault(Schedule.COLLECTIONS_DEFAULT)
            .changedBy("set --gc-schedule")
            .text("When the mounted volume collects garbage, in local time: a cron expression of Quartz (seconds, "
                    + "minutes, hours, day of month, month, day of week, year if wanted), or off. A time at "
                    + "which the volume is not mounted is made up for.");

    public static final VolumeOption<String> SCRUBS = VOLUME.option(
                    "--scrub-schedule", "io/scrub-schedule", "scrubSchedule", text("CRON", Schedule::checked))
            .byDefault(Schedule.SCRUBS_DEFAULT)
            .byDefaultAs(Schedule.SCRUBS_DEFAULT + ", the first Sunday of each month at 3:00")
            .added()
            .changedBy("set --scrub-schedule")
            .text("When the mounted volume scrubs, which reads and verifies everything that it stores: a cron "
                    + "expression as above, or off.");

    public static final VolumeOption<String> SNAPSHOTS = VOLUME.option(
                    "--snapshot-schedule", "io/snapshot-schedule", "snapshotSchedule", text("CRON", Schedule::checked))
            .byDefault(Schedule.OFF)
            .added()
            .changedBy("set --snapshot-schedule")
            .text("When the mounted volume makes a snapshot of itself: a cron expression as above, such as "
                    + "'0 0 * * * ?' for each hour; or off. A time at which the volume is not mounted is made up for.");

    public static final VolumeOption<KeepRules> SNAPSHOTS_KEPT = VOLUME.option(
                    "--snapshot-keep", "io/snapshot-keep", "snapshotKeep", text("RULES", KeepRules::parse))
            .byDefault(KeepRules.DEFAULT)
            .added()
            .changedBy("set --snapshot-keep")
            .text("Which snapshots of the schedule are kept: of each of the newest N hours, days, weeks, months and "
                    + "years that have snapshots (last: of the snapshots themselves), the newest one; or all.");

    public static final VolumeOption<String> BACKUP_INTERVAL = VOLUME.option(
                    "--metadata-backup-interval",
                    "metadata-backup/interval",
                    "metadataBackupInterval",
                    text("TIME", BackupSettings::checkedInterval))
            .byDefault(BackupSettings.DEFAULT_INTERVAL)
            .inPlugin("sar-metadata-backup-interval")
            .changedBy("set --backup-interval")
            .text("Time from one automatic backup of the mounted volume's metadata to the next, such as 6h or "
                    + "30m, or off.");

    public static final VolumeOption<Integer> BACKUPS_KEPT = VOLUME.option(
                    "--metadata-backup-keep", "metadata-backup/keep", "metadataBackupsKept", integer("N"))
            .byDefault(BackupSettings.DEFAULT_KEEP)
            .from(1)
            .to(BackupSettings.KEEP_MAX)
            .inPlugin("sar-metadata-backups-kept")
            .changedBy("set --backup-keep")
            .text("Number of automatic backups of the metadata that are kept.");

    private static final Section STORE =
            new Section("An object store (see docs/SCALE.md)", "object-store/", "objectStore.");

    public static final VolumeOption<String> OBJECT_STORE = STORE.option(
                    "--object-store", "address", "address", text("ADDRESS", StoreAddress::checked))
            .mayBeAbsent(null)
            .byDefaultAs("none: the volume lies in its folders")
            .ofMachine()
            .text("The volume lies in this object store, where no other volume is: s3://BUCKET/PREFIX, "
                    + "hdfs://HOST/FOLDER, or file:///FOLDER, which several machines mount. Its folders "
                    + "here have what is not there yet, and copies. Another machine opens it by the address: "
                    + "mount.sdfs ADDRESS MOUNTPOINT. Credentials are never part of the address.");

    public static final VolumeOption<Promise> DURABILITY = STORE.option(
                    "--durability",
                    "durability",
                    "durability",
                    choice("local|remote", OptionKind::spelling, Promise.values()))
            .mayBeAbsent(null)
            .byDefaultAs("local")
            .changedBy("set --durability")
            .atNextMount()
            .text("When an fsync returns. local: when the bytes are durable on the disk of this machine; the store has "
                    + "them some seconds later. remote: when the store has them.");

    public static final VolumeOption<StorePrices> STORE_PRICES = STORE.option(
                    "--store-prices", "prices", "prices", text("PRICES", StorePrices::parse))
            .mayBeAbsent(null)
            .byDefaultAs("none")
            .changedBy("set --store-prices")
            .atNextMount()
            .text("What the store charges. The status tells what the volume costs, and a garbage "
                    + "collection decides what "
                    + "is worth writing anew: "
                    + "none, s3-standard, s3-standard-ia, or five numbers with commas "
                    + "between them: a GB stored for a "
                    + "month, 1000 puts, 1000 reads, a GB read, the days for which an "
                    + "object is charged at least.");

    public static final VolumeOption<LocalCache> LOCAL_CACHE = STORE.option(
                    "--local-cache", "", "", text("[FOLDER:]SIZE", LocalCache::parse))
            .byDefaultAs("the data location, and a quarter of its disk, at most 100GB")
            .text("Folder on this machine through which the containers go to the store, and how much stays there of "
                    + "what the store has. Losing it loses what the store does not have yet.");

    public static final VolumeOption<Long> CACHE_SIZE = STORE.option("", "cache-size", "cacheBytes", SIZE)
            .mayBeAbsent(null)
            .from(LocalCache.LEAST_BYTES)
            .changedBy("set --local-cache")
            .atNextMount()
            .ofMachine()
            .text("How much of what the store has stays on this machine.");

    private static final Section INDEX_ON_SSD =
            new Section("A chunkstash index on an SSD (see docs/INDEXES.md)", "", "");

    public static final VolumeOption<Long> INDEX_SSD_CAPACITY = INDEX_ON_SSD
            .option("--index-ssd-capacity", "local-chunkstore/index-ssd-capacity", "indexSsdCapacityBytes", SIZE)
            .mayBeAbsent(0L)
            .byDefaultAs("as much as the device has")
            // The least table, and segments of a MiB.
            .from(16L << 20)
            .inPlugin("sar-index-ssd-capacity")
            .ofMachine()
            .text("Largest total size of a chunkstash index in the hashdb location. When it is full, or its "
                    + "device is, its oldest part moves to an index beside the containers, which is asked last. At "
                    + "least 16MB; 40 to 60 bytes a chunk are enough for all.");

    private static final Section SAR =
            new Section("Promotion to an SSD (sdfscli VOLUME sar set changes all but the location)", "sar/", "sar.");

    public static final VolumeOption<Boolean> SAR_ENABLED = SAR.option("--sar-enabled", "enabled", "enabled", BOOLEAN)
            .byDefault(false)
            .byDefaultAs("true if an SSD location is given")
            .changedBy("sar set --enabled")
            .inPlugin("sar-enabled")
            .ofMachine()
            .text("Promote chunks. With false, copies on the SSD are still read.");

    public static final VolumeOption<Path> SSD_LOCATION = SAR.option(
                    "--sar-ssd-location", "ssd-location", "ssdLocation", FOLDER)
            .mayBeAbsent("")
            .changedBy("sar attach")
            .inPlugin("sar-ssd-location")
            .ofMachine()
            .text("Folder on the SSD for copies of chunks. Losing it loses no data.");

    public static final VolumeOption<Long> SSD_CAPACITY = SAR.option(
                    "--sar-ssd-capacity", "ssd-capacity", "capacityBytes", SIZE)
            .mayBeAbsent(0L)
            // A smaller one holds no chunk, as the log and the Map table's database need room.
            .from(SsdSize.leastCapacity())
            .changedBy("sar resize")
            .inPlugin("sar-ssd-capacity")
            .ofMachine()
            .text("Largest space to use on the SSD, including the database of the Map table and space that is not yet "
                    + "reclaimed. If a chunkstash index is on the same device, for both together. Required "
                    + "with a location.");

    public static final VolumeOption<Integer> SAR_THRESHOLD = SAR.option(
                    "--sar-reference-count-threshold",
                    "reference-count-threshold",
                    "referenceCountThreshold",
                    integer("N"))
            .byDefault(5)
            .from(HotSettings.THRESHOLD_MIN)
            .to(Integer.MAX_VALUE)
            .changedBy("sar set --threshold")
            .inPlugin("sar-reference-count-threshold")
            .ofMachine()
            .text("Number of references from which the policy reference-count promotes a chunk that is written again. "
                    + "No effect with the other policies.");

    public static final VolumeOption<Long> SAR_MAX_RUN = SAR.option("--sar-max-run", "max-run", "maxRunBytes", SIZE)
            .byDefault(128L << 10)
            .from((long) HotSettings.RUN_BYTES_MIN)
            .to((long) HotSettings.RUN_BYTES_MAX)
            .changedBy("sar set --max-run")
            .inPlugin("sar-max-run")
            .ofMachine()
            .text("Length from which runs of neighbouring chunks stay on the disk, which reads them well. With "
                    + "the policy cost, for written chunks: of what is read, it promotes up to 2 MB, the "
                    + "transfer time of a seek.");

    public static final VolumeOption<Boolean> SAR_PROMOTE_ON_READ = SAR.option(
                    "--sar-promote-on-read", "promote-on-read", "promoteOnRead", BOOLEAN)
            .byDefault(true)
            .changedBy("sar set --promote-on-read")
            .inPlugin("sar-promote-on-read")
            .ofMachine()
            .text("Promote chunks when they are read, too: a second time, or with the policy open a first time.");

    public static final VolumeOption<Integer> SAR_LRU_ENTRIES = SAR.option(
                    "--sar-lru-entries", "lru-entries", "lruEntries", integer("N"))
            .byDefault(1_000_000)
            .from(0)
            .to(HotSettings.LRU_ENTRIES_MAX)
            .changedBy("sar set --lru-entries")
            .inPlugin("sar-lru-entries")
            .ofMachine()
            .text("Number of entries in the list of recent reads, which detects second reads; 12 bytes of "
                    + "memory each. A change takes effect when the SSD is attached or the volume is mounted.");

    public static final VolumeOption<HotSettings.Policy> SAR_POLICY = SAR.option(
                    "--sar-policy",
                    "policy",
                    "policy",
                    choice("POLICY", OptionKind::spelling, HotSettings.Policy.values()))
            .byDefault(HotSettings.Policy.COST)
            .byDefaultAs("cost, and open with --tier-mode=tddfs")
            .changedBy("sar set --policy")
            .inPlugin("sar-policy", "cost")
            .ofMachine()
            .text("Which chunks get copies on the SSD, and their ranking: reference-count (number of references, as "
                    + "in the SAR paper), cost (disk time that a copy saves for each byte it uses), or open "
                    + "(whatever is read, with the first read, as in the TDDFS paper).");

    private static final Section TIER =
            new Section("A fast tier for new files (see docs/operations/ssd.md)", "fast-tier/", "fastTier.");

    public static final VolumeOption<Placement> TIER_MODE = TIER.option(
                    "--tier-mode",
                    "mode",
                    "mode",
                    choice("sar|tddfs", OptionKind::spelling, Placement.SAR, Placement.TDDFS))
            .byDefault(Placement.SAR)
            .text("Where new files are stored first. sar: in chunks, deduplicated. tddfs: whole on the SSD, as "
                    + "raw files; they are deduplicated when they are migrated. "
                    + "tddfs needs --sar-ssd-location and --sar-ssd-capacity. Folders may differ: setfattr -n "
                    + "user.sdfs.tier -v sar|tddfs|pin FOLDER.");

    public static final VolumeOption<Integer> TIER_SHARE = TIER.option("--tddfs-share", "", "", integer("PERCENT"))
            .byDefaultAs("75 in the mode tddfs")
            .from(1)
            .to(99)
            .text("Share of the SSD capacity for raw files, in percent; the rest is for copies of chunks. "
                    + "In the mode sar there is no share unless this option is given; "
                    + "with it, folders may have raw files.");

    public static final VolumeOption<Long> TIER_CAPACITY = TIER.option("", "capacity", "rawCapacityBytes", SIZE)
            .byDefault(0L)
            .text("Bytes of the SSD for raw files, by --tddfs-share.");

    public static final VolumeOption<Integer> TIER_HIGH = TIER.option(
                    "--tddfs-high", "high", "highPercent", integer("PERCENT"))
            .byDefault(RawSettings.HIGH_PERCENT)
            .from(1)
            .to(100)
            .text("Use of the share from which files are migrated, in percent.");

    public static final VolumeOption<Integer> TIER_LOW = TIER.option(
                    "--tddfs-low", "low", "lowPercent", integer("PERCENT"))
            .byDefault(RawSettings.LOW_PERCENT)
            .from(1)
            .to(100)
            .text("Use of the share at which migration ends, in percent.");

    public static final VolumeOption<Integer> TIER_JOURNAL = TIER.option(
                    "--tddfs-journal",
                    "journal",
                    "journalSeconds",
                    number("SECONDS|off", OptionKind::seconds, OptionKind::seconds))
            .byDefault(0)
            .text("Also store a raw file in chunks when it was not used for this long. Then a lost SSD loses "
                    + "only what was written since, and files that stay open. They stay on the SSD as well.");

    public static final VolumeOption<Boolean> TIER_UNPROTECTED = TIER.option("--tddfs-unprotected", "", "", FLAG)
            .byDefault(false)
            .text("Do without --tddfs-journal, because the SSD is mirrored, or because losing raw files is "
                    + "acceptable. One of the two options is required for raw files.");

    public static final VolumeOption<MigrationRule> TIER_POLICY = TIER.option(
                    "--tddfs-policy",
                    "policy",
                    "migrationPolicy",
                    choice("lru|mixed", OptionKind::spelling, MigrationRule.values()))
            .byDefault(MigrationRule.LRU)
            .added()
            .text("Which raw files are migrated first. lru: the least recently used. mixed: those that are worth "
                    + "least for each byte, by size, time since the last use, and number of openings since the "
                    + "mount; large files go sooner than small ones.");

    private static final Section RESTORE =
            new Section("Sequential reads (see docs/RESTORE.md)", "restore/", "restore.");

    public static final VolumeOption<CacheChoice> RESTORE_CACHE = RESTORE.option(
                    "--restore-cache", "cache", "cache", text("POLICY", CacheChoice::parse))
            .byDefault(CacheChoice.DEFAULT)
            .inPlugin("sar-restore-cache")
            .changedBy("set --restore-cache")
            .atNextMount()
            .text("Chunks of read containers that stay in memory for a sequential reader: default (those that its "
                    + "file refers to next), lookahead-base, lookahead-log, assembly, opt or lru. The two of the "
                    + "lookahead paper take its parameters: lookahead-log:hot=5%,references=bloom drops victims "
                    + "with references to more than 5 % of their chunks, and counts references with a Bloom "
                    + "filter; by default none is dropped so, and counts are exact. lookahead-base takes references.");

    public static final VolumeOption<Long> RESTORE_CACHE_SIZE = RESTORE.option(
                    "--restore-cache-size", "cache-size", "cacheBytes", SIZE)
            .mayBeAbsent(null)
            .byDefaultAs("their part of the memory budget")
            .from(StreamBudget.MIN_SHARE_BYTES)
            .inPlugin("sar-restore-cache-size")
            .changedBy("set --restore-cache-size")
            .atNextMount()
            .ofMachine()
            .text("Memory limit of all sequential readers together.");

    public static final VolumeOption<Long> RESTORE_WINDOW = RESTORE.option(
                    "--restore-window", "window", "windowBytes", SIZE)
            .mayBeAbsent(null)
            .byDefaultAs("16 times the cache size with default, half the cache size with lookahead-*")
            .from(1L)
            .inPlugin("sar-restore-window")
            .changedBy("set --restore-window")
            .atNextMount()
            .ofMachine()
            .text("Lookahead window: bytes of a reader's file that default and lookahead-* examine ahead.");

    public static final VolumeOption<Double> RESTORE_LOG_SHARE = RESTORE.option(
                    "--restore-log-share", "log-share", "logShare", SHARE)
            .byDefault(CacheParameters.DEFAULT_LOG_SHARE)
            .from(0.0)
            .to(CacheParameters.MAX_LOG_SHARE)
            .inPlugin("sar-restore-log-share")
            .changedBy("set --restore-log-share")
            .atNextMount()
            .text("Share of the memory, 0 to 0.9, in which lookahead-log keeps chunks of evicted containers.");

    public static final VolumeOption<DiskOption> RESTORE_DISK = RESTORE.option(
                    "--restore-disk", "disk", "disk", text("DISK", DiskOption::parse))
            .byDefault(DiskOption.AUTO)
            .added()
            .inPlugin("sar-restore-disk")
            .changedBy("set --restore-disk")
            .atNextMount()
            .ofMachine()
            .text("Disk of the containers: auto (measured during reads), hdd, ssd, or "
                    + "SEEK_MS,MB_PER_S[,CONCURRENCY] (time to skip to the next request, rate, number of requests at "
                    + "once).");

    public static final List<Section> SECTIONS = List.of(VOLUME, STORE, INDEX_ON_SSD, SAR, TIER, RESTORE);

    public static final List<VolumeOption<?>> ALL = SECTIONS.stream()
            .<VolumeOption<?>>flatMap(section -> section.options().stream())
            .toList();

    /** Options of one section of the help, in its order; that of the volume itself has no heading. */
    public static final class Section {
        private final String heading;
        private final String element;
        private final String part;
        private final List<VolumeOption<?>> options = new ArrayList<>();

        /**
         * @param element begins the options' places in the volume file
         * @param part begins their names in reports
         */
        private Section(String heading, String element, String part) {
            this.heading = heading;
            this.element = element;
            this.part = part;
        }

        private <T> VolumeOption<T> option(String name, String xml, String key, OptionKind<T> kind) {
            var option =
                    new VolumeOption<>(name, xml.isEmpty() ? "" : element + xml, key.isEmpty() ? "" : part + key, kind);
            options.add(option);
            return option;
        }

        public String heading() {
            return heading;
        }

        public List<VolumeOption<?>> options() {
            return List.copyOf(options);
        }
    }

    private VolumeOptions() {}

    /** Returns the base path of a volume if none was given. */
    public static Path defaultFolder(String volume) {
        return Path.of("/opt/sdfs/volumes", volume);
    }

    private static long power(String text) {
        long bytes = ByteSize.parse(text);
        if (Long.bitCount(bytes) != 1) {
            throw new IllegalArgumentException("'" + text + "' is not a power of two");
        }
        return bytes;
    }
}
