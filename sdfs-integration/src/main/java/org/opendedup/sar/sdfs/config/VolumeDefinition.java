package org.opendedup.sar.sdfs.config;

import static org.opendedup.sar.sdfs.config.Checks.check;
import static org.opendedup.sar.sdfs.config.Checks.checkRange;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexPlacement;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * The definition of a volume, as in its XML file: settings of the engine, and settings that only the front ends use.
 * The constructor checks it, whatever its source.
 *
 * @param config settings of the engine
 * @param basePath folder of everything that has no location of its own; also holds {@code log} and {@code run}
 * @param indexName kind of the fingerprint index: a label of {@link IndexClass}
 * @param garbageCollectionSchedule when garbage is collected; see {@link Schedule}
 * @param recompress how hard collections compress containers anew
 * @param fileMode SDFS's default mode of new files; only stored, because every program that makes a file sets its mode
 * @param sar selective promotion to an SSD
 * @param restore settings of the restore cache, for sequential reads
 * @param backups automatic backups of the metadata
 * @param scrubSchedule when a scrub starts; see {@link Schedule}
 * @param raw raw files on the fast tier, whose folder is the SSD location
 */
public record VolumeDefinition(
        VolumeConfig config,
        Path basePath,
        String indexName,
        String garbageCollectionSchedule,
        RecompressLevel recompress,
        int fileMode,
        SarSettings sar,
        RestoreSettings restore,
        BackupSettings backups,
        String scrubSchedule,
        RawSettings raw) {

    /** Smallest memory budget, in bytes: below it, the index and the caches have no room to work. */
    public static final long MEMORY_BUDGET_BYTES_MIN = MemoryPlan.MIN_BUDGET_BYTES;

    /** Smallest capacity, in bytes. A smaller value is most likely a size without its unit. */
    private static final long CAPACITY_BYTES_MIN = 1 << 20;

    /** Smallest bound of the index on an SSD, in bytes: the least table, and segments of a MiB. */
    private static final long INDEX_SSD_BYTES_MIN = 16 << 20;

    private static final int PAGE_BYTES_MIN = 64 << 10;
    private static final int PAGE_BYTES_MAX = 4 << 20;
    private static final int FRAME_BYTES_MIN = 4 << 10;
    private static final int FRAME_BYTES_MAX = 1 << 20;
    private static final int ZSTD_LEVEL_MAX = 19;
    private static final int WRITE_THREADS_MAX = 256;
    private static final int NAME_LENGTH_MAX = 100;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]*");

    /** @throws IllegalArgumentException if a value is not allowed; the message names what is allowed */
    public VolumeDefinition {
        checkName(config.name());
        check(
                config.capacityBytes() >= CAPACITY_BYTES_MIN,
                "the capacity is " + ByteSize.exact(config.capacityBytes()) + "; it must be at least "
                        + ByteSize.exact(CAPACITY_BYTES_MIN) + " (1TB is a terabyte)");
        checkRange("the maximum full percentage", config.maximumFullPercentage(), 1, 100);
        checkPageBytes(config.pageBytes());
        check(
                config.memoryBudgetBytes() >= MEMORY_BUDGET_BYTES_MIN,
                "the memory budget is " + ByteSize.exact(config.memoryBudgetBytes()) + "; it must be at least "
                        + ByteSize.exact(MEMORY_BUDGET_BYTES_MIN));
        checkRange("the number of write threads", config.writeThreads(), 1, WRITE_THREADS_MAX);
        checkMode("folders", config.root().mode());
        checkMode("files", fileMode);
        check(config.root().uid() >= 0 && config.root().gid() >= 0, "owner and group are numbers from 0");
        checkCompression(config.compression());
        checkPaths(basePath, stores(config, sar.ssdLocation()));
        check(
                IndexClass.of(indexName).isPresent(),
                "the index '" + indexName + "' is not known; this release has " + IndexClass.labels());
        checkPlacement(config.indexPlacement());
        Schedule.check(garbageCollectionSchedule);
        Schedule.check(scrubSchedule);
        recompress.checkAgainst(config.compression());
        checkRaw(raw, sar.ssdLocation());
    }

    /** Makes a definition without raw files, with the default settings for backups of the metadata and for scrubs. */
    public VolumeDefinition(
            VolumeConfig config,
            Path basePath,
            String indexName,
            String garbageCollectionSchedule,
            RecompressLevel recompress,
            int fileMode,
            SarSettings sar,
            RestoreSettings restore) {
        this(
                config,
                basePath,
                indexName,
                garbageCollectionSchedule,
                recompress,
                fileMode,
                sar,
                restore,
                BackupSettings.DEFAULT,
                Schedule.SCRUBS_DEFAULT,
                RawSettings.NONE);
    }

    /** Returns the settings with which the engine makes, opens and serves the volume. */
    public VolumeConfig engineConfig() {
        VolumeConfig engine =
                config.withRestore(restore).withIndex(IndexClass.of(indexName).orElseThrow());
        // The location before the raw files, which need it.
        return sar.ssdLocation() == null
                ? engine
                : engine.withSsd(sar.ssdLocation(), sar.tier()).withRaw(raw);
    }

    /** Returns the folders that hold only the volume's own files, by their names in messages. */
    public Map<String, Path> stores() {
        return stores(config, sar.ssdLocation());
    }

    public VolumeDefinition withSar(SarSettings changed) {
        return new VolumeDefinition(
                config,
                basePath,
                indexName,
                garbageCollectionSchedule,
                recompress,
                fileMode,
                changed,
                restore,
                backups,
                scrubSchedule,
                raw);
    }

    public VolumeDefinition withIndex(IndexClass changed) {
        return new VolumeDefinition(
                config,
                basePath,
                changed.label(),
                garbageCollectionSchedule,
                recompress,
                fileMode,
                sar,
                restore,
                backups,
                scrubSchedule,
                raw);
    }

    public VolumeDefinition withRecompress(RecompressLevel changed) {
        return new VolumeDefinition(
                config,
                basePath,
                indexName,
                garbageCollectionSchedule,
                changed,
                fileMode,
                sar,
                restore,
                backups,
                scrubSchedule,
                raw);
    }

    public VolumeDefinition withRaw(RawSettings changed) {
        return new VolumeDefinition(
                config,
                basePath,
                indexName,
                garbageCollectionSchedule,
                recompress,
                fileMode,
                sar,
                restore,
                backups,
                scrubSchedule,
                changed);
    }

    public VolumeDefinition withMemoryBudget(long bytes) {
        return new VolumeDefinition(
                config.withMemoryBudget(bytes),
                basePath,
                indexName,
                garbageCollectionSchedule,
                recompress,
                fileMode,
                sar,
                restore,
                backups,
                scrubSchedule,
                raw);
    }

    /**
     * Returns this definition with other folders.
     *
     * @param moved returns the place of a folder
     */
    public VolumeDefinition withPlaces(UnaryOperator<Path> moved) {
        VolumeConfig.Locations locations = config.locations();
        Path ssd = sar.ssdLocation();
        VolumeConfig changed = config.withLocations(new VolumeConfig.Locations(
                moved.apply(locations.data()), moved.apply(locations.metadata()), moved.apply(locations.hashDb())));
        return new VolumeDefinition(
                changed,
                moved.apply(basePath),
                indexName,
                garbageCollectionSchedule,
                recompress,
                fileMode,
                ssd == null ? sar : sar.withLocation(moved.apply(ssd)),
                restore,
                backups,
                scrubSchedule,
                raw);
    }

    /**
     * Checks the name of a volume, before a file is named after it.
     *
     * @throws IllegalArgumentException if the name is not allowed
     */
    public static void checkName(String name) {
        check(
                NAME.matcher(name).matches() && name.length() <= NAME_LENGTH_MAX,
                "'" + name + "' is no volume name; use up to " + NAME_LENGTH_MAX
                        + " letters, digits, '.', '_' and '-', not starting with '.' or '-'");
    }

    private static void checkPageBytes(int pageBytes) {
        check(
                Integer.bitCount(pageBytes) == 1 && pageBytes >= PAGE_BYTES_MIN && pageBytes <= PAGE_BYTES_MAX,
                "the io chunk size is " + ByteSize.exact(pageBytes) + "; it must be a power of two from "
                        + ByteSize.exact(PAGE_BYTES_MIN) + " to " + ByteSize.exact(PAGE_BYTES_MAX));
    }

    private static void checkCompression(Compression compression) {
        if (compression.codec() == Compression.Codec.ZSTD) {
            checkRange("the zstd level", compression.level(), 1, ZSTD_LEVEL_MAX);
        }
        int frameBytes = compression.frameBytes();
        check(
                frameBytes >= FRAME_BYTES_MIN && frameBytes <= FRAME_BYTES_MAX,
                "the frame size is " + ByteSize.exact(frameBytes) + "; it must be from "
                        + ByteSize.exact(FRAME_BYTES_MIN) + " to " + ByteSize.exact(FRAME_BYTES_MAX));
    }

    /**
     * Checks the paths. If two locations were one folder, or one lay inside the other, each would treat the other's
     * files as its own.
     */
    private static void checkPaths(Path basePath, Map<String, Path> places) {
        checkPath("base path", basePath);
        places.forEach(VolumeDefinition::checkPath);
        places.forEach((name, place) -> {
            check(
                    !basePath.startsWith(place),
                    "the " + name + " " + place + " must not hold the base path " + basePath);
            places.forEach((otherName, other) -> check(
                    place == other || !place.startsWith(other),
                    "the " + name + " " + place + " must not lie in the " + otherName + " " + other));
        });
    }

    private static Map<String, Path> stores(VolumeConfig config, @Nullable Path ssd) {
        VolumeConfig.Locations locations = config.locations();
        var places = new LinkedHashMap<String, Path>();
        places.put("data location", locations.data());
        places.put("metadata location", locations.metadata());
        places.put("hash db location", locations.hashDb());
        if (ssd != null) {
            places.put("SSD location", ssd);
        }
        return places;
    }

    private static void checkPath(String name, Path path) {
        check(
                path.isAbsolute() && path.toString().chars().noneMatch(VolumeDefinition::isNoText),
                "the " + name + " '" + path + "' must be an absolute path, in UTF-8 and without control characters");
    }

    /**
     * Returns whether a character is not allowed in a path. Java replaces bytes that are not text with U+FFFD, and the
     * resulting name is that of another folder.
     */
    private static boolean isNoText(int character) {
        return Character.isISOControl(character) || character == '\uFFFD';
    }

    private static void checkRaw(RawSettings raw, @Nullable Path ssd) {
        check(
                raw.placement() != Placement.PIN,
                "a volume cannot pin all its new files; the mode of the fast tier must be sar or tddfs");
        check(
                raw.isEnabled() || raw.placement() == Placement.SAR,
                "the mode tddfs needs a capacity of the fast tier above 0");
        check(!raw.isEnabled() || ssd != null, "a fast tier for new files needs an SSD location");
    }

    private static void checkPlacement(IndexPlacement placement) {
        check(
                !placement.isBounded() || placement.ssdCapacityBytes() >= INDEX_SSD_BYTES_MIN,
                "the capacity of the index on the SSD is " + ByteSize.exact(placement.ssdCapacityBytes())
                        + "; it must be at least " + ByteSize.exact(INDEX_SSD_BYTES_MIN));
    }

    private static void checkMode(String what, int mode) {
        check(mode >= 0 && mode <= 07777, "the mode of new " + what + " must be octal, 0000 to 7777");
    }
}
