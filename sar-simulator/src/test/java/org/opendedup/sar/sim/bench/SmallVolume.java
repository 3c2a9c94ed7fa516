package org.opendedup.sar.sim.bench;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * A new volume with an SSD, in a temporary folder, and calls of the engine as FUSE makes them. All of it lies on the
 * same disk. For one thread.
 */
final class SmallVolume implements Closeable {
    private static final Owner OWNER = new Owner(0, 0);
    private static final long SSD_BYTES = 8L << 30;

    private final Path folder;
    private final Volume volume;

    /** Makes it; new files lie whole on the SSD first. */
    SmallVolume() throws IOException {
        folder = Files.createTempDirectory("small-volume");
        VolumeConfig config = new VolumeConfig(
                        "bench",
                        1L << 40,
                        95,
                        new VolumeConfig.Locations(
                                folder.resolve("data"), folder.resolve("metadata"), folder.resolve("hashdb")),
                        Chunking.VARIABLE_SHA256,
                        new Compression(Compression.Codec.ZSTD, 1, 64 << 10),
                        256 << 10,
                        256 << 20,
                        2,
                        new VolumeConfig.RootDirectory(0755, 0, 0))
                .withSsd(
                        folder.resolve("ssd"),
                        new HotSettings(true, SSD_BYTES, 5, 128 << 10, true, 1000, HotSettings.Policy.OPEN))
                .withRaw(new RawSettings(
                        Placement.TDDFS, SSD_BYTES, RawSettings.HIGH_PERCENT, RawSettings.LOW_PERCENT, 0));
        Volume.create(config);
        volume = Volume.open(config);
    }

    /** Makes a folder whose new files are stored in chunks at once. */
    long folderOfChunks(String name) throws IOException {
        long folder = volume.makeDirectory(Inode.ROOT, bytes(name), 0755, OWNER).inode();
        volume.setExtendedAttribute(
                folder, bytes(Placement.ATTRIBUTE), bytes(Placement.SAR.toString()), SetMode.CREATE);
        return folder;
    }

    /** Makes a file and opens it for writing. */
    OpenFile create(long inFolder, String name) throws IOException {
        return volume.open(
                volume.makeNode(inFolder, bytes(name), 0100644, 0, OWNER).inode(), true);
    }

    void write(OpenFile file, long offset, byte[] data) throws IOException {
        volume.write(file, offset, ByteBuffer.wrap(data));
    }

    void sync(OpenFile file) throws IOException {
        volume.sync(file);
    }

    void close(OpenFile file) {
        volume.close(file);
    }

    void remove(long inFolder, String name) throws IOException {
        volume.unlink(inFolder, bytes(name));
    }

    /** Moves a closed file from the SSD to chunks; returns whether it lay there. */
    boolean migrate(long inode) throws IOException {
        return volume.fastTier().migrate(inode);
    }

    private static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        volume.close();
        List<Path> all;
        try (Stream<Path> found = Files.walk(folder)) {
            all = found.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : all) {
            Files.delete(path);
        }
    }
}
