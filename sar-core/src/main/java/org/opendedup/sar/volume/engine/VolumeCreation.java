package org.opendedup.sar.volume.engine;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.UUID;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.raw.FileRawFolder;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.opendedup.sar.volume.posix.TimeStamps;
import org.opendedup.sar.volume.store.VolumeLocations;

/** Creates new, empty volumes: what is on disk before a volume is opened for the first time. */
public final class VolumeCreation {
    private VolumeCreation() {}

    /** See {@link Volume#create(VolumeConfig)}. */
    public static void create(VolumeConfig config) throws IOException {
        VolumeLocations.create(config.locations());
        UUID volume = newId(config);
        Path ssd = config.locations().ssd();
        if (ssd != null) {
            HotChunks.create(ssd, Timeline.beginning(volume, 0));
            if (config.raw().isEnabled()) {
                FileRawFolder.create(ssd, volume, null);
            }
        }
        createStores(
                config, volume, (data, database) -> create(config, volume, data, database, InstantSource.system()));
    }

    /** See {@link ChunkVolume#create(VolumeConfig)}. */
    public static void createForChunks(VolumeConfig config) throws IOException {
        VolumeLocations.create(config.locations());
        UUID volume = newId(config);
        Path ssd = config.locations().ssd();
        if (ssd != null) {
            HotChunks.create(ssd, Timeline.beginning(volume, 0));
        }
        createStores(
                config,
                volume,
                (data, database) -> createForChunks(config, volume, data, database, InstantSource.system()));
    }

    /** Returns the id of a new volume: that of its keys, which belong to one volume. */
    public static UUID newId(VolumeConfig config) {
        VolumeKeys keys = config.keys();
        return keys == null ? UUID.randomUUID() : keys.volume();
    }

    /** Makes a new volume's records and marks. */
    private interface Making {
        void make(Directory data, KeyValueStore database) throws IOException;
    }

    private static void createStores(VolumeConfig config, UUID volume, Making making) throws IOException {
        try (KeyValueStore database = VolumeLocations.createMetadata(config, volume)) {
            making.make(FileDirectory.open(config.locations().data()), database);
        }
        for (Path further : config.locations().furtherData()) {
            VolumeLocations.addFolder(config.locations().data(), further);
        }
    }

    /** Creates a volume of chunks with the id {@code volume} in an empty directory and an empty database. */
    public static void createForChunks(
            VolumeConfig config, UUID volume, Directory data, KeyValueStore database, InstantSource clock)
            throws IOException {
        MetadataHeader header = new MetadataHeader(
                volume,
                config.pageBytes(),
                TimeStamps.now(clock),
                MetadataHeader.FORMAT_VERSION,
                MetadataHeader.Contents.CHUNKS);
        MetadataStore metadata = MetadataStore.format(KeyValueStores.sealed(database, config.keys()), header);
        VolumeIdentity.write(data, metadata.epochs().current());
        metadata.commit(metadata.freeze());
    }

    /** Creates a volume with the id {@code volume} in an empty directory and an empty database. */
    public static void create(
            VolumeConfig config, UUID volume, Directory data, KeyValueStore database, InstantSource clock)
            throws IOException {
        long now = TimeStamps.now(clock);
        MetadataHeader header = new MetadataHeader(volume, config.pageBytes(), now, MetadataHeader.FORMAT_VERSION);
        MetadataStore metadata = MetadataStore.format(KeyValueStores.sealed(database, config.keys()), header);
        VolumeIdentity.write(data, metadata.epochs().current());
        Inode root = Inode.of(Inode.ROOT, Modes.DIRECTORY | config.root().mode(), Inode.Times.ofCreation(now))
                .withLinks(2)
                .withOwner(config.root().uid(), config.root().gid())
                .withParent(Inode.ROOT);
        metadata.namespace().put(root);
        metadata.countNew(metadata.account(root), true);
        metadata.commit(metadata.freeze());
    }
}
