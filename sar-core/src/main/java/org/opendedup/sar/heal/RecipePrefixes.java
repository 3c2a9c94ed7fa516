package org.opendedup.sar.heal;

import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.RecipePage;

/**
 * What recipes say about the chunks of containers whose directories are gone: the first four bytes of each fingerprint.
 * Reads all recipes once for some containers together; memory: about four bytes for each of their slots. For use by one
 * thread.
 */
final class RecipePrefixes {
    /** Most slots that are read about at once: 16 MB. */
    private static final int MAX_SLOTS = 4 << 20;

    /** Number of inodes that are visited with one cursor of the database. */
    private static final int INODES_AT_ONCE = 1000;

    private final MetadataStore metadata;
    /** Containers that are asked about later. */
    private final Set<Long> expected = new TreeSet<>();

    private final Map<Long, Slots> containers = new HashMap<>();

    private static final class Slots {
        final int[] prefixes;
        final BitSet known = new BitSet();

        Slots(int slots) {
            prefixes = new int[slots];
        }
    }

    RecipePrefixes(MetadataStore metadata) {
        this.metadata = metadata;
    }

    /** Sets the containers that {@link #contradict} is asked about from now on, in ascending order. */
    void expect(Set<Long> later) {
        expected.clear();
        expected.addAll(later);
        containers.clear();
    }

    /** Returns whether a recipe refers to a chunk with another fingerprint than one that begins with {@code prefix}. */
    boolean contradict(long container, int slot, int prefix) throws IOException {
        if (!containers.containsKey(container)) {
            read(container);
        }
        Slots slots = containers.get(container);
        return slots != null && slots.known.get(slot) && slots.prefixes[slot] != prefix;
    }

    /** Reads what recipes say about a container, and about those that are asked about next. */
    private void read(long container) throws IOException {
        containers.clear();
        expected.add(container);
        long sum = 0;
        for (long each : new TreeSet<>(expected).tailSet(container)) {
            int slots = metadata.counts().slots(each);
            sum += slots;
            if (sum > MAX_SLOTS && !containers.isEmpty()) {
                break;
            }
            containers.put(each, new Slots(slots));
        }
        long next = 1;
        do {
            next = metadata.namespace()
                    .someInodes(
                            next,
                            INODES_AT_ONCE,
                            inode -> metadata.recipes()
                                    .forEachPage(inode.id(), 0, Long.MAX_VALUE, (number, page) -> add(page)));
        } while (next != 0);
    }

    private void add(RecipePage page) {
        for (int entry = 0; entry < page.count(); entry++) {
            long chunk = page.isZero(entry) ? ChunkId.NONE : page.chunkId(entry);
            Slots slots = chunk == ChunkId.NONE ? null : containers.get(ChunkId.container(chunk));
            if (slots != null && ChunkId.slot(chunk) < slots.prefixes.length) {
                slots.prefixes[ChunkId.slot(chunk)] = page.fingerprintPrefix(entry);
                slots.known.set(ChunkId.slot(chunk));
            }
        }
    }
}
