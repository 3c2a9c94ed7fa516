package org.opendedup.sar.collect;

import java.util.function.BooleanSupplier;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.metadata.record.ContainerEntry;

/**
 * Which containers a collection compresses anew, after it has collected the garbage.
 *
 * @param level zstd level; 0: none
 * @param youngFrom containers with this id or a higher one are too young: what was stored just now is deleted more
 *     often than what has stayed for a while
 * @param isUnwanted whether to end it now, with what was done until then
 */
public record Recompression(int level, long youngFrom, BooleanSupplier isUnwanted) {
    public static final Recompression NONE = new Recompression(0, 0, () -> false);

    /** Returns whether a container is to be compressed anew. It must be collectable. */
    boolean chooses(ContainerEntry entry) {
        StoredContainer stored = entry.stored();
        return stored.recompressed() < level && entry.container() < youngFrom && entry.liveBytes() > 0;
    }
}
