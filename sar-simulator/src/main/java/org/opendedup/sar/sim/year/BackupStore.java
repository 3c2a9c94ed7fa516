package org.opendedup.sar.sim.year;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.sim.trace.BackupVersion;
import org.opendedup.sar.volume.OpenFile;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;
import org.opendedup.sar.volume.VolumeStatistics;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.posix.Owner;

/** Backups in a real volume, each as one file. For one thread. */
final class BackupStore implements Closeable {
    private static final int PIECE_BYTES = 1 << 20;
    private static final long CAPACITY_BYTES = 1L << 40;
    private static final int PAGE_BYTES = 256 << 10;
    private static final int WRITE_THREADS = 2;
    private static final int FILE_MODE = 0100644;
    private static final int FOLDER_MODE = 0755;
    /** Longest time for which a removed file may wait until its references are gone. */
    private static final long REAPING_SECONDS = 60;

    private final VolumeConfig config;
    private final ChunkContents contents;
    private Volume volume;

    private BackupStore(VolumeConfig config, ChunkContents contents, Volume volume) {
        this.config = config;
        this.contents = contents;
        this.volume = volume;
    }

    /** Makes a volume in a folder that is empty or does not exist, with the settings that mkfs.sdfs would use. */
    static BackupStore create(Path folder, Chunking chunking, Compression compression, ChunkContents contents)
            throws IOException {
        VolumeConfig config = new VolumeConfig(
                "year",
                CAPACITY_BYTES,
                100,
                new VolumeConfig.Locations(
                        folder.resolve("data"), folder.resolve("metadata"), folder.resolve("hashdb")),
                chunking,
                compression,
                PAGE_BYTES,
                MemoryPlan.MIN_BUDGET_BYTES,
                WRITE_THREADS,
                new VolumeConfig.RootDirectory(FOLDER_MODE, 0, 0));
        Volume.create(config);
        return new BackupStore(config, contents, Volume.open(config));
    }

    /** Stores a backup as a new file, durably. */
    void store(String name, BackupVersion backup) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, bytes(name), FILE_MODE, 0, new Owner(0, 0))
                .inode();
        OpenFile file = volume.open(inode, true);
        try {
            long offset = 0;
            BackupBytes data = new BackupBytes(backup);
            for (ByteBuffer piece = data.next(); piece.hasRemaining(); piece = data.next()) {
                int length = piece.remaining();
                volume.write(file, offset, piece);
                offset += length;
            }
            volume.sync(file);
        } finally {
            volume.close(file);
            volume.forget(inode, 1);
        }
    }

    /** Overwrites bytes of a backup: for tests of {@link #verify}. */
    void overwrite(String name, long offset, byte[] bytes) throws IOException {
        long inode = volume.lookup(Inode.ROOT, bytes(name)).inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, offset, ByteBuffer.wrap(bytes));
        volume.sync(file);
        volume.close(file);
        volume.forget(inode, 1);
    }

    /** Removes a backup; returns when no reference of it is counted any more. */
    void remove(String name) throws IOException {
        long files = volume.statistics().files();
        volume.unlink(Inode.ROOT, bytes(name));
        volume.sync();
        long start = System.nanoTime();
        while (volume.statistics().files() >= files) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(REAPING_SECONDS)) {
                throw new IOException(name + " was removed, but its space is still in use");
            }
            pause();
            volume.sync();
        }
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /**
     * Reads a backup from its beginning to its end.
     *
     * @throws IOException if a byte is not the one that was stored, naming the backup and the first wrong piece
     */
    void verify(String name, BackupVersion backup) throws IOException {
        long inode = volume.lookup(Inode.ROOT, bytes(name)).inode();
        OpenFile file = volume.open(inode, false);
        try {
            byte[] found = new byte[PIECE_BYTES];
            long offset = 0;
            BackupBytes data = new BackupBytes(backup);
            for (ByteBuffer piece = data.next(); piece.hasRemaining(); piece = data.next()) {
                int length = piece.remaining();
                ByteBuffer target = ByteBuffer.wrap(found, 0, length);
                while (target.hasRemaining() && volume.read(file, offset + target.position(), target) > 0) {}
                int wrong = Arrays.mismatch(piece.array(), 0, length, found, 0, target.position());
                if (wrong >= 0) {
                    throw new IOException("the volume returned another byte than was stored: " + name + ", offset "
                            + (offset + wrong));
                }
                offset += length;
            }
            if (volume.read(file, offset, ByteBuffer.wrap(found)) > 0) {
                throw new IOException(name + " is longer than what was stored: " + offset + " bytes");
            }
        } finally {
            volume.close(file);
            volume.forget(inode, 1);
        }
    }

    /** Predicts a cold sequential read of a backup from a hard disk. */
    FileFragmentation fragmentation(String name) throws IOException {
        long inode = volume.lookup(Inode.ROOT, bytes(name)).inode();
        try {
            return volume.maintenance().fragmentation(inode, DiskModel.HDD);
        } finally {
            volume.forget(inode, 1);
        }
    }

    /** Collects garbage until the given share of the stored bytes is left. */
    CollectionReport collect(double garbageShare) throws IOException {
        return volume.collector().collect(new CollectionLimits(garbageShare, false), (done, of, returned) -> true);
    }

    /** Arranges chunks as the newest backups want them, for a hard disk. */
    ArrangementReport arrange(double gain) throws IOException {
        return volume.maintenance()
                .arrange(
                        new ArrangementLimits(ArrangementLimits.DEFAULT.movedShare(), gain),
                        DiskModel.HDD,
                        (done, of) -> true);
    }

    /** Closes and opens the volume, so that reads come from the disk and each container is sealed. */
    void reopen() throws IOException {
        volume.close();
        volume = Volume.open(config);
    }

    /** Checks that counts, containers and packs agree; IOException if not. */
    void check() throws IOException {
        List<String> problems = VolumeChecker.check(volume);
        if (!problems.isEmpty()) {
            throw new IOException("the volume is damaged: " + problems.get(0));
        }
    }

    VolumeStatistics statistics() throws IOException {
        return volume.statistics();
    }

    /** Returns the bytes that the packs take on the disk. */
    long allocatedBytes() throws IOException {
        FileDirectory data = FileDirectory.open(config.locations().data());
        long bytes = 0;
        for (String name : data.list()) {
            bytes += name.endsWith(".pack") ? data.allocatedBytes(name) : 0;
        }
        return bytes;
    }

    @Override
    public void close() throws IOException {
        volume.close();
    }

    private static byte[] bytes(String name) {
        return name.getBytes(UTF_8);
    }

    /** The bytes of a backup, in pieces of 1 MiB. */
    private final class BackupBytes {
        private final BackupVersion backup;
        private final byte[] piece = new byte[PIECE_BYTES];
        private byte[] chunk = new byte[1 << 16];
        private int nextChunk;
        /** Bytes of the present chunk that are in no piece yet. */
        private int chunkFrom;

        private int chunkTo;

        BackupBytes(BackupVersion backup) {
            this.backup = backup;
        }

        /** Returns the next piece, from the array's beginning; without bytes at the end. Valid until the next call. */
        ByteBuffer next() {
            int filled = 0;
            while (filled < PIECE_BYTES && hasChunk()) {
                int count = Math.min(PIECE_BYTES - filled, chunkTo - chunkFrom);
                System.arraycopy(chunk, chunkFrom, piece, filled, count);
                chunkFrom += count;
                filled += count;
            }
            return ByteBuffer.wrap(piece, 0, filled);
        }

        private boolean hasChunk() {
            if (chunkFrom == chunkTo && nextChunk < backup.chunks()) {
                chunkFrom = 0;
                chunkTo = backup.length(nextChunk);
                if (chunkTo > chunk.length) {
                    chunk = new byte[chunkTo];
                }
                contents.write(backup.fingerprint(nextChunk++), chunkTo, chunk, 0);
            }
            return chunkFrom < chunkTo;
        }
    }
}
