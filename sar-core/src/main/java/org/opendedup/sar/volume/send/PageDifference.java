package org.opendedup.sar.volume.send;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.volume.stream.StreamPage;

/**
 * Says where the bytes of a file's pages come from: from the same file in the base where that has them, at the same
 * place or in a page beside it, else from chunks. For one thread.
 */
final class PageDifference {
    /** Bytes of a file of the base, as a reference to a chunk has them. */
    private record InBase(long fileOffset, int chunkOffset, int length, int fingerprintPrefix) {
        /** Returns where a part of the chunk is in the file; -1 if the reference does not have all of it. */
        long offsetOf(int from, int count) {
            return from >= chunkOffset && from + count <= chunkOffset + length ? fileOffset + from - chunkOffset : -1;
        }
    }

    /** Receives a reference to a chunk whose bytes the receiver needs. */
    @FunctionalInterface
    interface Needs {
        void chunk(long chunkId, int fingerprintPrefix) throws IOException;
    }

    private final @Nullable SnapshotView base;
    private final int pageBytes;
    private final StreamPage.Builder builder = new StreamPage.Builder();

    /** @param base null: the receiver has nothing of the file */
    PageDifference(@Nullable SnapshotView base, int pageBytes) {
        this.base = base;
        this.pageBytes = pageBytes;
    }

    /**
     * Returns a page of a file.
     *
     * @param recipe its page of the recipe
     * @param before the file in the base; null: it has none
     */
    StreamPage page(Inode file, @Nullable Inode before, long page, RecipePage recipe, Needs needs) throws IOException {
        int end = (int) Math.min(recipe.bytes(), file.size() - page * pageBytes);
        Map<Long, InBase> known = base == null || before == null ? Map.of() : known(base, before, page);
        RecipePage same = base == null || before == null ? RecipePage.EMPTY : base.page(file.id(), page);
        for (int entry = 0; entry < recipe.count() && recipe.start(entry) < end; entry++) {
            int length = Math.min(end, recipe.end(entry)) - recipe.start(entry);
            if (recipe.isZero(entry)) {
                builder.addZeros(length);
                continue;
            }
            long offset = inBase(recipe, entry, length, page, same, before, known);
            if (offset >= 0) {
                builder.addBase(offset, length);
            } else {
                needs.chunk(recipe.chunkId(entry), recipe.fingerprintPrefix(entry));
                builder.addChunk(recipe.chunkId(entry), recipe.chunkOffset(entry), length);
            }
        }
        return builder.build(page);
    }

    /** Returns where the base has the bytes of an entry; -1: it has not. */
    private long inBase(
            RecipePage recipe,
            int entry,
            int length,
            long page,
            RecipePage same,
            @Nullable Inode before,
            Map<Long, InBase> known) {
        if (before == null) {
            return -1;
        }
        int at = recipe.start(entry);
        int there = same.entryAt(at);
        long offset = page * pageBytes + at;
        if (there < same.count()
                && same.chunkId(there) == recipe.chunkId(entry)
                && same.chunkOffset(there) + at - same.start(there) == recipe.chunkOffset(entry)
                && same.fingerprintPrefix(there) == recipe.fingerprintPrefix(entry)
                && at + length <= same.end(there)
                && offset + length <= before.size()) {
            return offset;
        }
        InBase found = known.get(recipe.chunkId(entry));
        // A reference to other content than the base has is one that cannot be read.
        return found == null || found.fingerprintPrefix != recipe.fingerprintPrefix(entry)
                ? -1
                : found.offsetOf(recipe.chunkOffset(entry), length);
    }

    /** Returns the chunks that the base has in a page and in those beside it, as far as its file reaches. */
    private Map<Long, InBase> known(SnapshotView in, Inode before, long page) throws IOException {
        Map<Long, InBase> known = new HashMap<>();
        for (long at = Math.max(0, page - 1); at <= page + 1; at++) {
            long start = at * pageBytes;
            if (start >= before.size()) {
                break;
            }
            RecipePage recipe = in.page(before.id(), at);
            for (int entry = 0; entry < recipe.count(); entry++) {
                long offset = start + recipe.start(entry);
                int length = (int) Math.min(recipe.length(entry), before.size() - offset);
                if (length > 0 && !recipe.isZero(entry)) {
                    InBase found =
                            new InBase(offset, recipe.chunkOffset(entry), length, recipe.fingerprintPrefix(entry));
                    known.merge(recipe.chunkId(entry), found, (a, b) -> a.length() >= b.length() ? a : b);
                }
            }
        }
        return known;
    }
}
