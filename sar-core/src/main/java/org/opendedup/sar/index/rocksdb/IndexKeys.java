package org.opendedup.sar.index.rocksdb;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * The keys of the hash database (docs/FORMAT.md, "Hash database"):
 *
 * <pre>
 * 'C' container (8, big-endian)   the frame table of a covered container
 * 'D' container (8, big-endian)   the fingerprints of a covered container, see {@link ContainerFingerprints}
 * 'E'                             the epoch: volume (16), number (8), token (8), big-endian
 * 'F' fingerprint (32)            a chunk id (8, little-endian)
 * 'H'                             the highest container (8, big-endian)
 * 'L' container (8, big-endian)   fingerprints of the container that lead to other copies now, in the form of 'D'
 * 'V'                             the format version (1)
 * </pre>
 */
final class IndexKeys {
    static final int FINGERPRINT_KEY_BYTES = 1 + Fingerprints.BYTES;
    static final byte FINGERPRINT = 'F';

    static final byte[] FORMAT_VERSION = {'V'};
    static final byte[] EPOCH = {'E'};
    static final byte[] HIGHEST_CONTAINER = {'H'};

    /** Every key except the version's lies between {@link #FIRST_CONTENT} and {@link #END_CONTENT}. */
    static final byte[] FIRST_CONTENT = {0};

    static final byte[] END_CONTENT = {'V'};

    private static final byte FRAME_TABLE = 'C';
    private static final byte CONTAINER_FINGERPRINTS = 'D';

    private static final byte LEFT_FINGERPRINTS = 'L';

    private IndexKeys() {}

    static byte[] frameTable(long container) {
        return containerKey(FRAME_TABLE, container);
    }

    static byte[] containerFingerprints(long container) {
        return containerKey(CONTAINER_FINGERPRINTS, container);
    }

    static byte[] leftFingerprints(long container) {
        return containerKey(LEFT_FINGERPRINTS, container);
    }

    private static byte[] containerKey(byte kind, long container) {
        return ByteBuffer.allocate(1 + Long.BYTES).put(kind).putLong(container).array();
    }

    static boolean isFrameTable(byte[] key) {
        return key[0] == FRAME_TABLE;
    }

    static boolean isFingerprint(byte[] key) {
        return key[0] == FINGERPRINT && key.length == FINGERPRINT_KEY_BYTES;
    }

    /** Returns the fingerprint in an 'F' key. */
    static byte[] fingerprintOf(byte[] key) {
        return Arrays.copyOfRange(key, 1, key.length);
    }

    /** Returns the chunk id in the value of an 'F' record; {@link ChunkId#NONE} if it has another length. */
    static long chunkId(byte[] value) {
        return value.length == Long.BYTES
                ? ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getLong()
                : ChunkId.NONE;
    }

    static byte[] fingerprint(byte[] fingerprints, int offset) {
        return ByteBuffer.allocate(FINGERPRINT_KEY_BYTES)
                .put(FINGERPRINT)
                .put(fingerprints, offset, Fingerprints.BYTES)
                .array();
    }
}
