package org.opendedup.sar.hot;

import java.util.Map;
import org.opendedup.sar.common.HashChunk;
import org.opendedup.sar.disk.DiskModel;

/**
 * Which chunks of a file are on the SSD, why, and what that saves a sequential read from cold caches.
 *
 * @param chunks references to chunks, repeated ones included; a chunk in two recipe pages counts once; zero runs and
 *     holes do not count
 * @param bytes bytes of these references
 * @param verdicts references and bytes of each verdict; every verdict is present
 * @param fromDisk disk work if there were no SSD
 * @param withSsd disk work with the current contents of the SSD
 * @param ssdChunks chunks read from the SSD in that second case
 * @param ssdBytes bytes of these chunks
 */
public record FileExplanation(
        long chunks,
        long bytes,
        Map<Verdict, Share> verdicts,
        DiskWork fromDisk,
        DiskWork withSsd,
        long ssdChunks,
        long ssdBytes) {
    /**
     * Access time of an SSD, in microseconds, and (next) bytes that it transfers per microsecond: a usual SATA SSD with
     * one read at a time.
     */
    private static final int SSD_SEEK_MICROS = 100;

    private static final int SSD_BYTES_PER_MICRO = 500;

    /**
     * Predicts the time of the SSD, in seconds, if it reads chunk by chunk. Joined neighbours and parallel reads
     * shorten it.
     */
    public double ssdSeconds() {
        return (ssdChunks * (double) SSD_SEEK_MICROS + (double) ssdBytes / SSD_BYTES_PER_MICRO) / 1e6;
    }

    /**
     * Predicts the time that the SSD saves, in seconds; negative where the SSD costs more. Assumes that reads of the
     * SSD and of the disk follow one another.
     */
    public double savedSeconds() {
        return fromDisk.seconds() - withSsd.seconds() - ssdSeconds();
    }

    /** Why a chunk is on the SSD or not. */
    public enum Verdict {
        /** The chunk is on the SSD. */
        ON_SSD,
        /** The chunk is in a run so long that the disk reads it efficiently. */
        LONG_RUN,
        /**
         * The policy would promote it, but since it qualified it was neither written again nor read from the disk
         * twice.
         */
        NOT_WANTED_AGAIN,
        /** Too few references; a second read from the disk would promote it. */
        NEVER_READ_TWICE,
        /** Too few references, and reading does not promote. */
        TOO_FEW_REFERENCES
    }

    /** Part of the file: references to chunks, and their bytes. */
    public record Share(long chunks, long bytes) {}

    /**
     * One reference to a chunk.
     *
     * @param chunk the chunk; its length is the number of bytes that this reference uses
     */
    public record Chunk(long fileOffset, HashChunk chunk, long runBytes, Verdict verdict) {}

    /** Receives the chunks of a file in order. */
    @FunctionalInterface
    public interface ChunkVisitor {
        /** @return whether the visitor wants more */
        boolean accept(Chunk chunk);
    }

    /**
     * Work of a hard disk.
     *
     * @param requests reads, each after a seek
     * @param bytes bytes of these reads, with the gaps that are read along
     */
    public record DiskWork(long requests, long bytes) {
        /** Predicts the time, in seconds, by {@link DiskModel#HDD}. */
        public double seconds() {
            return DiskModel.HDD.seconds(requests, bytes);
        }
    }
}
