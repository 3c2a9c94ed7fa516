package org.opendedup.sar.volume.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexSettings;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.restore.RestoreSettings;

/**
 * The settings that are fixed when a volume is created or mounted. The front ends read and write them (the volume XML);
 * the engine only uses them.
 *
 * @param name name of the volume: letters, digits, {@code .}, {@code _}, {@code -}
 * @param capacityBytes maximum logical bytes of the volume: those of its files without holes
 * @param maximumFullPercentage share of the capacity, 1 to 100 percent, that users other than root can use; ENOSPC
 *     beyond it
 * @param locations places of the volume's parts
 * @param chunking how streams are divided into chunks
 * @param compression how frames are compressed
 * @param pageBytes bytes of a file that one recipe record covers, a power of two, 64 KiB to 4 MiB (SDFS: io-chunk-size)
 * @param memoryBudgetBytes all memory of the volume's process in bytes, native memory included, except 150 MB of the
 *     JVM's own
 * @param writeThreads number of threads that fingerprint and compress
 * @param root attributes of the root directory of a new volume
 * @param hot how the SSD is used; null without one
 * @param restore how sequential reads are cached
 * @param raw how the fast tier is used for raw files
 * @param index kind of the fingerprint index
 * @param indexSettings sizes of the index
 * @param requests share of the memory budget that the front end uses; not kept with the volume
 * @param hash how fingerprints follow from the bytes of chunks; SHA-256 for volumes of files
 * @param keys what an encrypted volume is sealed with; null: it is not encrypted. Not kept with the volume
 */
public record VolumeConfig(
        String name,
        long capacityBytes,
        int maximumFullPercentage,
        Locations locations,
        Chunking chunking,
        Compression compression,
        int pageBytes,
        long memoryBudgetBytes,
        int writeThreads,
        RootDirectory root,
        @Nullable HotSettings hot,
        RestoreSettings restore,
        RawSettings raw,
        IndexClass index,
        IndexSettings indexSettings,
        RequestBuffers requests,
        ContentHash hash,
        @Nullable VolumeKeys keys) {
    /**
     * Checks the settings.
     *
     * @throws IllegalArgumentException if there is an SSD location but no SSD settings, or settings but no location
     */
    public VolumeConfig {
        if ((locations.ssd() == null) != (hot == null)) {
            throw new IllegalArgumentException(
                    "an SSD needs a location and settings; given: location " + locations.ssd() + ", settings " + hot);
        }
        if (raw.isEnabled() && locations.ssd() == null) {
            throw new IllegalArgumentException("raw files need the location of a fast tier");
        }
    }

    /** Makes the settings of a volume without an SSD, with the default restore settings. */
    public VolumeConfig(
            String name,
            long capacityBytes,
            int maximumFullPercentage,
            Locations locations,
            Chunking chunking,
            Compression compression,
            int pageBytes,
            long memoryBudgetBytes,
            int writeThreads,
            RootDirectory root) {
        this(
                name,
                capacityBytes,
                maximumFullPercentage,
                locations,
                chunking,
                compression,
                pageBytes,
                memoryBudgetBytes,
                writeThreads,
                root,
                null,
                RestoreSettings.DEFAULT,
                RawSettings.NONE,
                IndexClass.ROCKSDB,
                IndexSettings.DEFAULT,
                RequestBuffers.NONE,
                ContentHash.SHA_256,
                null);
    }

    /** Returns these settings with an SSD. */
    public VolumeConfig withSsd(Path location, HotSettings settings) {
        Locations withSsd = new Locations(
                locations.data(),
                locations.metadata(),
                locations.hashDb(),
                location,
                locations.furtherData(),
                locations.remote());
        return with(withSsd, memoryBudgetBytes, settings, restore, raw, index, indexSettings, requests, hash, keys);
    }

    /** Returns these settings of a volume in an object store. */
    public VolumeConfig in(RemoteSettings store) {
        Locations there = locations.in(store);
        return with(there, memoryBudgetBytes, hot, restore, raw, index, indexSettings, requests, hash, keys);
    }

    /** Returns these settings with further locations of containers. */
    public VolumeConfig withFurtherData(List<Path> further) {
        Locations more = new Locations(
                locations.data(),
                locations.metadata(),
                locations.hashDb(),
                locations.ssd(),
                further,
                locations.remote());
        return with(more, memoryBudgetBytes, hot, restore, raw, index, indexSettings, requests, hash, keys);
    }

    /** Returns these settings with another memory budget, in bytes. */
    public VolumeConfig withMemoryBudget(long bytes) {
        return with(locations, bytes, hot, restore, raw, index, indexSettings, requests, hash, keys);
    }

    /** Returns these settings with other restore settings. */
    public VolumeConfig withRestore(RestoreSettings settings) {
        return with(locations, memoryBudgetBytes, hot, settings, raw, index, indexSettings, requests, hash, keys);
    }

    /** Returns these settings with other settings for raw files. */
    public VolumeConfig withRaw(RawSettings settings) {
        return with(locations, memoryBudgetBytes, hot, restore, settings, index, indexSettings, requests, hash, keys);
    }

    /** Returns these settings with an index of another kind. */
    public VolumeConfig withIndex(IndexClass kind) {
        return with(locations, memoryBudgetBytes, hot, restore, raw, kind, indexSettings, requests, hash, keys);
    }

    /** Returns these settings with other sizes of the index. */
    public VolumeConfig withIndexSettings(IndexSettings settings) {
        return with(locations, memoryBudgetBytes, hot, restore, raw, index, settings, requests, hash, keys);
    }

    /** Returns these settings for another front end. */
    public VolumeConfig withRequests(RequestBuffers buffers) {
        return with(locations, memoryBudgetBytes, hot, restore, raw, index, indexSettings, buffers, hash, keys);
    }

    /** Returns these settings of a volume of chunks whose client makes fingerprints in another way. */
    public VolumeConfig withHash(ContentHash made) {
        return with(locations, memoryBudgetBytes, hot, restore, raw, index, indexSettings, requests, made, keys);
    }

    /** Returns these settings of a volume that these keys encrypt. */
    public VolumeConfig withKeys(@Nullable VolumeKeys sealing) {
        return with(locations, memoryBudgetBytes, hot, restore, raw, index, indexSettings, requests, hash, sealing);
    }

    /** Returns these settings with other values for what may be changed after the volume was created. */
    private VolumeConfig with(
            Locations locations,
            long memoryBudgetBytes,
            @Nullable HotSettings hot,
            RestoreSettings restore,
            RawSettings raw,
            IndexClass index,
            IndexSettings indexSettings,
            RequestBuffers requests,
            ContentHash hash,
            @Nullable VolumeKeys keys) {
        return new VolumeConfig(
                name,
                capacityBytes,
                maximumFullPercentage,
                locations,
                chunking,
                compression,
                pageBytes,
                memoryBudgetBytes,
                writeThreads,
                root,
                hot,
                restore,
                raw,
                index,
                indexSettings,
                requests,
                hash,
                keys);
    }

    /**
     * The places of a volume's parts.
     *
     * @param data containers, and marks of the volume; authoritative
     * @param metadata namespace, recipes, counts; authoritative
     * @param hashDb fingerprint index and frame tables; rebuilt when lost
     * @param ssd copies of chunks that make reading slow; may disappear at any moment; null: none
     * @param furtherData more folders of containers; authoritative
     * @param remote the object store that has data and metadata, of which the folders have the newest; null: there is
     *     none, and the folders have everything
     */
    public record Locations(
            Path data,
            Path metadata,
            Path hashDb,
            @Nullable Path ssd,
            List<Path> furtherData,
            @Nullable RemoteSettings remote) {
        public Locations {
            furtherData = List.copyOf(furtherData);
            if (remote != null && !furtherData.isEmpty()) {
                throw new IllegalArgumentException("a volume in an object store has one data location");
            }
        }

        /** Makes the locations of a volume on local disks. */
        public Locations(Path data, Path metadata, Path hashDb, @Nullable Path ssd, List<Path> furtherData) {
            this(data, metadata, hashDb, ssd, furtherData, null);
        }

        /** Returns these locations with those of the packs and metadata in an object store. */
        public Locations in(RemoteSettings store) {
            return new Locations(data, metadata, hashDb, ssd, furtherData, store);
        }

        /** Makes the locations of a volume without an SSD. */
        public Locations(Path data, Path metadata, Path hashDb) {
            this(data, metadata, hashDb, null, List.of());
        }

        /** Returns where the containers are, for messages: the address of an object store, or the folders. */
        public String containers() {
            RemoteSettings there = remote;
            return there != null
                    ? there.store()
                    : allData().stream().map(Path::toString).collect(Collectors.joining(":"));
        }

        /** Returns all folders of containers; the first is {@link #data}. */
        public List<Path> allData() {
            List<Path> all = new ArrayList<>();
            all.add(data);
            all.addAll(furtherData);
            return all;
        }
    }

    /**
     * Attributes of the root directory.
     *
     * @param mode permissions, e.g. 0755
     * @param uid owner
     * @param gid group
     */
    public record RootDirectory(int mode, int uid, int gid) {}
}
