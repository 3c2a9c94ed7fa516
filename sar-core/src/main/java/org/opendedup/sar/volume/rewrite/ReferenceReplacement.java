package org.opendedup.sar.volume.rewrite;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.locks.Lock;
import java.util.function.LongUnaryOperator;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.recipes.HeldRecipe;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.parts.VolumeContext;

/**
 * Makes recipes refer to other copies of the same chunks. It does not matter which copy a reader sees, or what a writer
 * changed in the file meanwhile: only references that still lead to an old copy are replaced, page and counts together.
 */
final class ReferenceReplacement {
    /** Pages that are held in memory while some of them change: all of one step of a caller. */
    private static final int MAX_HELD = 64;

    private final VolumeContext context;
    private final MetadataStore metadata;

    ReferenceReplacement(VolumeContext context) {
        this.context = context;
        metadata = context.metadata();
    }

    /**
     * Replaces references in some pages of a file whose contents are in use, under its storing lock and the change
     * lock. Pages after the file's end stay as they are: they are being removed.
     *
     * @param copyOf returns the id that replaces another; {@link ChunkId#NONE} if it stays
     * @return number of references replaced
     */
    long replace(Node node, long[] pages, LongUnaryOperator copyOf) throws IOException {
        Lock storing = node.contents().storing;
        Lock changes = context.committer().changes();
        try (HeldRecipe held = metadata.recipes().hold(node.id, pages[0], pages[pages.length - 1] + 1, MAX_HELD)) {
            holdCounts(held, node, pages, copyOf);
            storing.lock();
            try {
                node.awaitNotCutting();
                changes.lock();
                try {
                    return replaceLocked(node, pages, copyOf);
                } finally {
                    changes.unlock();
                }
            } finally {
                storing.unlock();
            }
        }
    }

    private void holdCounts(HeldRecipe held, Node node, long[] pages, LongUnaryOperator copyOf) throws IOException {
        for (long number : pages) {
            RecipePage page = metadata.recipes().page(node.id, number);
            for (int entry = 0; entry < page.count(); entry++) {
                held.holdCount(page.chunkId(entry));
                held.holdCount(copyOf.applyAsLong(page.chunkId(entry)));
            }
        }
    }

    private long replaceLocked(Node node, long[] pages, LongUnaryOperator copyOf) throws IOException {
        long stored;
        synchronized (node) {
            stored = node.storedBytes;
        }
        long ofFile = (stored + metadata.recipes().pageBytes() - 1)
                / metadata.recipes().pageBytes();
        long replaced = 0;
        for (long number : Arrays.stream(pages).filter(page -> page < ofFile).toArray()) {
            replaced += replace(node, number, copyOf);
        }
        if (replaced > 0) {
            context.nodes().markDirty(node);
        }
        return replaced;
    }

    private long replace(Node node, long number, LongUnaryOperator copyOf) throws IOException {
        RecipePage page = metadata.recipes().page(node.id, number);
        RecipePage.Builder now = new RecipePage.Builder();
        long replaced = 0;
        for (int entry = 0; entry < page.count(); entry++) {
            long copy = page.isZero(entry) ? ChunkId.NONE : copyOf.applyAsLong(page.chunkId(entry));
            if (copy != ChunkId.NONE && !metadata.counts().isReferable(copy)) {
                // It turned out to be damaged since it was made: the old one stays in use.
                copy = ChunkId.NONE;
            }
            long chunkId = copy == ChunkId.NONE ? page.chunkId(entry) : copy;
            now.add(chunkId, page.chunkOffset(entry), page.length(entry), page.fingerprintPrefix(entry));
            replaced += copy == ChunkId.NONE ? 0 : 1;
        }
        if (replaced > 0) {
            metadata.recipes().replace(node.id, number, now.build());
        }
        return replaced;
    }
}
