package org.opendedup.sar.tier;

import java.util.Map;
import org.opendedup.sar.common.HashChunk;

/**
 * Which of a file's chunks are on the SSD, why, and what that saves a sequential read from cold caches.
 *
 * @param chunks references to chunks, each as often as the file has it; zero runs and holes are none
 * @param bytes bytes of these
 * @param verdicts how many there are of each kind; every kind is there
 * @param fromDisk what the disk has to do if there were no SSD
 * @param withSsd what it has to do with what is on the SSD now
 * @param ssdChunks chunks that come from the SSD then
 * @param ssdBytes bytes of these
 */
public record FileExplanation(
        long chunks,
        long bytes,
        Map<Verdict, Share> verdicts,
        DiskWork fromDisk,
        DiskWork withSsd,
        long ssdChunks,
        long ssdBytes) {

    /** Why a chunk is on the SSD or not. */
    public enum Verdict {
        /** It is there. */
        ON_SSD,
        /** Wanted in a run so long that the disk reads it well. */
        LONG_RUN,
        /** The policy would take it, but it was neither written again nor read from the disk twice since it qualifies. */
        NOT_WANTED_AGAIN,
        /** Too few references; a second read from the disk would promote it. */
        NEVER_READ_TWICE,
        /** Too few references, and reading does not promote. */
        TOO_FEW_REFERENCES
    }

    /** A part of the file. */
    public record Share(long chunks, long bytes) {}

    /**
     * One reference to a chunk.
     *
     * @param chunk whose length is what this reference wants of it
     */
    public record Chunk(long fileOffset, HashChunk chunk, long runBytes, Verdict verdict) {}

    /** Takes the chunks of a file in their order. */
    @FunctionalInterface
    public interface ChunkVisitor {
        /** @return whether more are wanted */
        boolean accept(Chunk chunk);
    }

    /**
     * Work of a hard disk.
     *
     * @param requests reads, each after a seek
     * @param bytes bytes of these, gaps that are read along included
     */
    public record DiskWork(long requests, long bytes) {
        /** Predicted time, by {@link DiskCost}. */
        public double seconds() {
            return (requests * (double) DiskCost.SEEK_MICROS + (double) bytes / DiskCost.BYTES_PER_MICRO) / 1e6;
        }
    }
}
