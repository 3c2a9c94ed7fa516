package org.opendedup.sar.sim.estimate;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.parts.VolumeStatistics;
import org.opendedup.sar.volume.posix.Owner;

/**
 * What a volume really makes of files.
 *
 * @param statistics after all was stored and the volume closed
 * @param fragmentation of each file, when all were stored
 */
record RealVolume(VolumeStatistics statistics, List<FileFragmentation> fragmentation) {
    private static final int PIECE_BYTES = 1 << 20;

    /** Stores files in a new volume. */
    static RealVolume of(Path folder, Chunking chunking, List<Path> files) throws IOException {
        VolumeConfig config = VolumeConfigs.in(folder, 1L << 30, chunking);
        Volume.create(config);
        List<Long> inodes = new ArrayList<>();
        try (Volume volume = Volume.open(config)) {
            for (Path file : files) {
                inodes.add(store(volume, file));
            }
        }
        try (Volume volume = Volume.open(config)) {
            List<FileFragmentation> fragmentation = new ArrayList<>();
            for (long inode : inodes) {
                fragmentation.add(volume.maintenance().fragmentation(inode, DiskModel.HDD));
            }
            return new RealVolume(volume.statistics(), fragmentation);
        }
    }

    private static long store(Volume volume, Path file) throws IOException {
        byte[] name = file.getFileName().toString().getBytes(UTF_8);
        long inode =
                volume.makeNode(Inode.ROOT, name, 0100644, 0, new Owner(0, 0)).inode();
        OpenFile open = volume.open(inode, true);
        byte[] piece = new byte[PIECE_BYTES];
        try (InputStream in = Files.newInputStream(file)) {
            long offset = 0;
            for (int got = in.readNBytes(piece, 0, PIECE_BYTES); got > 0; got = in.readNBytes(piece, 0, PIECE_BYTES)) {
                volume.write(open, offset, ByteBuffer.wrap(piece, 0, got));
                offset += got;
            }
        }
        // Files that are stored at the same time may both store a chunk that they share.
        volume.sync();
        volume.close(open);
        return inode;
    }
}
