package org.opendedup.sar.volume.rewrite;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.recipes.HeldRecipe;
import org.opendedup.sar.metadata.recipes.RecipeStore.Position;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.parts.VolumeContext;

/**
 * Makes recipes of an open volume refer to other copies of the same chunks. It does not matter which copy a reader
 * sees, or what a writer changed in the file meanwhile: only references that still lead to an old copy are replaced,
 * page and counts together. For one thread.
 */
final class ReferencePass {
    /** Pages read at a time, so that no database cursor stays open for a time that others notice. */
    private static final int PAGES = 64;

    private final VolumeContext context;
    private final MetadataStore metadata;
    private long replaced;

    ReferencePass(VolumeContext context) {
        this.context = context;
        metadata = context.metadata();
    }

    /** Makes every change durable, and ends all containers that are being written: their chunks have places then. */
    void settle() throws IOException {
        context.containers().endAll();
        context.committer().commit();
    }

    /**
     * Admits bytes of new copies. Does not collect garbage if there is no room, because the caller relies on copies
     * without references.
     *
     * @throws org.opendedup.sar.common.NoSpaceException if a device has no room for them
     */
    void admit(long bytes) throws IOException {
        context.committer().checkWritable();
        context.devices().admitData(bytes, context.underWayBytes());
    }

    /**
     * Reads every recipe, and replaces each reference to an old copy. One that is made meanwhile, in a file that was
     * passed, may stay.
     *
     * @param goesOn asked before each step
     * @param passed receives the bytes of the pages that were read
     * @return whether all recipes were read
     */
    boolean run(NewCopies copies, BooleanSupplier goesOn, LongConsumer passed) throws IOException {
        Map<Long, List<Long>> concerned = new TreeMap<>();
        @Nullable Position next = Position.FIRST;
        while (next != null && goesOn.getAsBoolean()) {
            next = metadata.recipes().somePages(next, PAGES, (inode, page, recipe) -> {
                passed.accept(recipe.dataBytes());
                if (copies.concern(recipe)) {
                    concerned.computeIfAbsent(inode, id -> new ArrayList<>()).add(page);
                }
            });
            for (Map.Entry<Long, List<Long>> file : concerned.entrySet()) {
                long[] pages =
                        file.getValue().stream().mapToLong(Long::longValue).toArray();
                replaced += replace(file.getKey(), pages, copies::copyOf);
            }
            concerned.clear();
            context.collector().pace().await(0, goesOn::getAsBoolean);
        }
        return next == null && runVersions(copies, goesOn, passed);
    }

    /** Does the same with the pages that only snapshots have. */
    private boolean runVersions(NewCopies copies, BooleanSupplier goesOn, LongConsumer passed) throws IOException {
        List<byte[]> concerned = new ArrayList<>();
        byte[] next = null;
        do {
            next = metadata.recipes().someVersions(next, PAGES, (key, inode, page, recipe) -> {
                passed.accept(recipe.dataBytes());
                if (copies.concern(recipe)) {
                    concerned.add(key);
                }
            });
            for (byte[] key : concerned) {
                replaced += replaceVersion(key, copies::copyOf);
            }
            concerned.clear();
            context.collector().pace().await(0, goesOn::getAsBoolean);
        } while (next != null && goesOn.getAsBoolean());
        return next == null;
    }

    private long replaceVersion(byte[] key, LongUnaryOperator copyOf) throws IOException {
        context.committer().checkWritable();
        Lock versions = metadata.recipes().versionLock();
        Lock changes = context.committer().changes();
        versions.lock();
        try (HeldRecipe held = metadata.recipes().holdFew(0, 0, 0)) {
            RecipePage before = metadata.recipes().version(key);
            if (before == null) {
                return 0;
            }
            holdCounts(held, before, copyOf);
            changes.lock();
            try {
                RecipePage.Builder now = new RecipePage.Builder();
                long found = replaceIn(before, now, copyOf);
                if (found > 0) {
                    metadata.recipes().rewriteVersion(key, before, now.build());
                }
                return found;
            } finally {
                changes.unlock();
            }
        } finally {
            versions.unlock();
        }
    }

    /** Returns the number of references that {@link #run} has replaced so far. */
    long replaced() {
        return replaced;
    }

    /** Replaces references in some pages of a file. Does nothing if there is no such file any more. */
    private long replace(long inode, long[] pages, LongUnaryOperator copyOf) throws IOException {
        context.committer().checkWritable();
        Node node = context.nodes().pinIfPresent(inode);
        if (node == null) {
            return 0;
        }
        try {
            if (!node.isRegular()) {
                return 0;
            }
            node.use(context.dirtyBudget(), context.capacity());
            try {
                return replace(node, pages, copyOf);
            } finally {
                node.leave();
            }
        } finally {
            context.nodes().unpin(node);
        }
    }

    /**
     * Replaces references in some pages of a file whose contents are in use, under its storing lock and the change
     * lock. Pages after the file's end stay as they are: they are being removed.
     *
     * @param copyOf returns the id that replaces another; {@link ChunkId#NONE} if it stays
     * @return number of references replaced
     */
    long replace(Node node, long[] pages, LongUnaryOperator copyOf) throws IOException {
        Node.Contents contents = node.contents();
        Lock changes = context.committer().changes();
        try (HeldRecipe held = metadata.recipes().hold(node.id, pages[0], pages[pages.length - 1] + 1, PAGES)) {
            holdCounts(held, node, pages, copyOf);
            contents.lockUncut();
            try {
                changes.lock();
                try {
                    return replaceLocked(node, pages, copyOf);
                } finally {
                    changes.unlock();
                }
            } finally {
                contents.storing.unlock();
            }
        }
    }

    private void holdCounts(HeldRecipe held, Node node, long[] pages, LongUnaryOperator copyOf) throws IOException {
        for (long number : pages) {
            holdCounts(held, metadata.recipes().page(node.id, number), copyOf);
        }
    }

    private static void holdCounts(HeldRecipe held, RecipePage page, LongUnaryOperator copyOf) throws IOException {
        for (int entry = 0; entry < page.count(); entry++) {
            held.holdCount(page.chunkId(entry));
            held.holdCount(copyOf.applyAsLong(page.chunkId(entry)));
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
        RecipePage.Builder now = new RecipePage.Builder();
        long found = replaceIn(metadata.recipes().page(node.id, number), now, copyOf);
        if (found > 0) {
            metadata.recipes().rewrite(node.id, number, now.build());
        }
        return found;
    }

    /** Makes a page with the new copies; returns how many there are. */
    private long replaceIn(RecipePage page, RecipePage.Builder now, LongUnaryOperator copyOf) throws IOException {
        long found = 0;
        for (int entry = 0; entry < page.count(); entry++) {
            long copy = page.isZero(entry) ? ChunkId.NONE : copyOf.applyAsLong(page.chunkId(entry));
            if (copy != ChunkId.NONE && !metadata.counts().isReferable(copy)) {
                // It turned out to be damaged since it was made: the old one stays in use.
                copy = ChunkId.NONE;
            }
            long chunkId = copy == ChunkId.NONE ? page.chunkId(entry) : copy;
            now.add(chunkId, page.chunkOffset(entry), page.length(entry), page.fingerprintPrefix(entry));
            found += copy == ChunkId.NONE ? 0 : 1;
        }
        return found;
    }
}
