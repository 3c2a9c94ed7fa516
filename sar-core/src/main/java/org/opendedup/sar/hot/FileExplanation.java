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
 * @param fromSsd work of the SSD in that second case
 * @param withSsdSeconds time of that second case, in seconds: disk and SSD serve a request at the same time, and
 *     requests follow one another
 */
public record FileExplanation(
        long chunks,
        long bytes,
        Map<Verdict, Share> verdicts,
        DiskWork fromDisk,
        DiskWork withSsd,
        SsdWork fromSsd,
        double withSsdSeconds) {
    /** Predicts the time that the SSD saves, in seconds; negative where the SSD costs more. */
    public double savedSeconds() {
        return fromDisk.seconds() - withSsdSeconds;
    }

    /** Why a chunk is on the SSD or not. */
    public enum Verdict {
        ON_SSD("the SSD has a copy"),
        LONG_RUN("in a run of neighbours so long that the disk reads it well; only small reads of it promote it"),
        NOT_WANTED_AGAIN("qualifies, but was not written again, or read twice, since it qualified"),
        NOT_READ("was not read since it was stored or demoted; its next read promotes it"),
        NEVER_READ_TWICE("too few references; a second read promotes it"),
        TOO_FEW_REFERENCES("too few references, and reading does not promote"),
        NOTHING_PROMOTES("promotion is disabled, or the policy promotes what is read, and reading does not promote");

        private final String meaning;

        Verdict(String meaning) {
            this.meaning = meaning;
        }

        /** Returns the reason in words, as an administrator sees it. */
        public String meaning() {
            return meaning;
        }
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

    /**
     * Work of an SSD.
     *
     * @param chunks references to chunks that are read from it
     * @param requests reads; neighbours in its log are one
     * @param bytes bytes of these reads, as they are stored
     */
    public record SsdWork(long chunks, long requests, long bytes) {
        /** Predicts the time, in seconds, by {@link DiskModel#SSD}, one read at a time. */
        public double seconds() {
            return DiskModel.SSD.seconds(requests, bytes);
        }
    }
}
