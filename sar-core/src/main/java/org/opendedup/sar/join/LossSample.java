package org.opendedup.sar.join;

import com.carrotsearch.hppc.LongLongHashMap;
import com.carrotsearch.hppc.cursors.LongLongCursor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.opendedup.sar.common.ChunkId;

/**
 * Estimates how many bytes of chunks are stored more than once, from a sample: of the fingerprints whose lowest bits
 * are zero it knows how many copies exist. When it has too many, it takes one bit more. Memory: at most 1 MiB. Safe for
 * use by many threads.
 */
public final class LossSample {
    /** Most fingerprints. Half of the places of the table may be empty, of 16 bytes each. */
    private static final int MAX_FINGERPRINTS = 32_768;

    private static final VarHandle LONG_LE =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final int maxFingerprints;
    /** From the first 8 bytes of a fingerprint to the length of its chunk, shifted by 32, and its further copies. */
    private LongLongHashMap copies = new LongLongHashMap();

    private volatile int bits;
    /** Bytes of all second and further copies in the sample. */
    private long furtherBytes;
    /** Copies in containers with lower ids come from their directories, and not from writers. */
    private long writtenFrom;

    private boolean isWhole;
    private long sinceMs;

    /**
     * What is estimated.
     *
     * @param bytes bytes of second and further copies that are stored, before compression
     * @param isWhole whether all sealed containers were compared at {@code sinceMs}, and what was written since counts
     *     as well; else only content counts of which two copies were written since then
     * @param sinceMs in milliseconds since 1970
     */
    public record Estimate(long bytes, boolean isWhole, long sinceMs) {}

    /** @param nowMs present time, in milliseconds since 1970 */
    public LossSample(long nowMs) {
        this(nowMs, MAX_FINGERPRINTS);
    }

    LossSample(long nowMs, int maxFingerprints) {
        sinceMs = nowMs;
        this.maxFingerprints = maxFingerprints;
    }

    /** Returns the present estimate. Its relative error is about the root of 1 / (further copies in the sample). */
    public synchronized Estimate estimate() {
        long most = Long.MAX_VALUE >>> bits;
        return new Estimate(furtherBytes > most ? Long.MAX_VALUE : furtherBytes << bits, isWhole, sinceMs);
    }

    /**
     * Forgets everything, because all containers are about to be compared.
     *
     * @param firstFree containers with lower ids will be compared
     */
    public synchronized void restart(long firstFree, long nowMs) {
        copies = new LongLongHashMap();
        bits = 0;
        furtherBytes = 0;
        writtenFrom = firstFree;
        isWhole = false;
        sinceMs = nowMs;
    }

    /** All containers were compared. */
    public synchronized void compared() {
        isWhole = true;
    }

    /** Notes a copy that a writer has stored. */
    void written(byte[] fingerprints, int at, int length, long chunkId) {
        // Writers do not wait for each other because of the many that are not in the sample.
        if (isSampled((long) LONG_LE.get(fingerprints, at))) {
            addWritten(fingerprints, at, length, chunkId);
        }
    }

    private synchronized void addWritten(byte[] fingerprints, int at, int length, long chunkId) {
        if (ChunkId.container(chunkId) >= writtenFrom) {
            add(fingerprints, at, length);
        }
    }

    /**
     * Notes a copy that exists.
     *
     * @param length bytes of the chunk
     */
    public synchronized void add(byte[] fingerprints, int at, int length) {
        long key = (long) LONG_LE.get(fingerprints, at);
        if (!isSampled(key)) {
            return;
        }
        int slot = copies.indexOf(key);
        if (copies.indexExists(slot)) {
            long entry = copies.indexGet(slot);
            copies.indexReplace(slot, entry + 1);
            furtherBytes += entry >>> Integer.SIZE;
            return;
        }
        copies.indexInsert(slot, key, (long) length << Integer.SIZE);
        while (copies.size() > maxFingerprints) {
            thin();
        }
    }

    /** Notes that a copy was removed. */
    synchronized void remove(byte[] fingerprints, int at) {
        long key = (long) LONG_LE.get(fingerprints, at);
        if (!isSampled(key)) {
            return;
        }
        int slot = copies.indexOf(key);
        if (!copies.indexExists(slot)) {
            return;
        }
        long entry = copies.indexGet(slot);
        if ((int) entry == 0) {
            copies.indexRemove(slot);
        } else {
            copies.indexReplace(slot, entry - 1);
            furtherBytes -= entry >>> Integer.SIZE;
        }
    }

    private boolean isSampled(long key) {
        return (key & (1L << bits) - 1) == 0;
    }

    /** Takes half as many fingerprints. */
    private synchronized void thin() {
        bits++;
        LongLongHashMap before = copies;
        copies = new LongLongHashMap();
        furtherBytes = 0;
        for (LongLongCursor each : before) {
            if (isSampled(each.key)) {
                copies.put(each.key, each.value);
                furtherBytes += (each.value >>> Integer.SIZE) * (int) each.value;
            }
        }
    }
}
