package org.opendedup.sar.metadata.record;

/**
 * Totals of the stored copies of chunks that exist: from their first reference until they are tombstoned. Bytes are
 * those of the chunks before compression.
 *
 * @param bytes bytes of all copies
 * @param chunks number of all copies
 * @param garbageBytes bytes of the copies that no recipe refers to
 * @param garbageChunks number of the copies that no recipe refers to
 * @param damagedChunks number of the copies that a recipe refers to and that are known to be damaged: what files have
 *     lost
 */
public record StoredCopies(long bytes, long chunks, long garbageBytes, long garbageChunks, long damagedChunks) {
    public static final StoredCopies NONE = new StoredCopies(0, 0, 0, 0, 0);

    /** Returns the totals of one container. */
    public static StoredCopies of(ContainerCounts counts) {
        long bytes = 0;
        long chunks = 0;
        long garbageBytes = 0;
        long garbageChunks = 0;
        long damagedChunks = 0;
        for (int slot = 0; slot < counts.slots(); slot++) {
            if (counts.isAlive(slot)) {
                bytes += counts.length(slot);
                chunks++;
            }
            if (counts.isGarbage(slot)) {
                garbageBytes += counts.length(slot);
                garbageChunks++;
            }
            if (counts.isLost(slot)) {
                damagedChunks++;
            }
        }
        return new StoredCopies(bytes, chunks, garbageBytes, garbageChunks, damagedChunks);
    }

    public StoredCopies plus(StoredCopies more) {
        return new StoredCopies(
                bytes + more.bytes,
                chunks + more.chunks,
                garbageBytes + more.garbageBytes,
                garbageChunks + more.garbageChunks,
                damagedChunks + more.damagedChunks);
    }
}
