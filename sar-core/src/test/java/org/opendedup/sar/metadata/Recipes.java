package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.Random;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.pending.StepLimit;
import org.opendedup.sar.metadata.recipes.HeldRecipe;
import org.opendedup.sar.metadata.record.RecipePage;

/** Recipe pages for tests. */
public final class Recipes {
    private Recipes() {}

    /** A page of at most {@code maxEntries} references to containers 1 to 8, mostly sequential; sometimes empty. */
    static RecipePage random(Random random, int pageBytes, int maxEntries) {
        RecipePage.Builder page = new RecipePage.Builder();
        long chunk = ChunkId.of(1 + random.nextInt(8), random.nextInt(40));
        for (int entry = random.nextInt(maxEntries + 1); entry > 0; entry--) {
            int length = 1 + random.nextInt(pageBytes / maxEntries);
            switch (random.nextInt(8)) {
                case 0 -> page.add(ChunkId.NONE, 0, length, 0);
                case 1 -> {
                    chunk = ChunkId.of(1 + random.nextInt(8), random.nextInt(40));
                    page.add(chunk, random.nextInt(3) * 1000, length, random.nextInt());
                }
                case 2 -> {
                    chunk = ChunkId.of(ChunkId.container(chunk), random.nextInt(40));
                    page.add(chunk, 0, length, random.nextInt());
                }
                default -> page.add(++chunk, 0, length, random.nextInt());
            }
        }
        return page.build();
    }

    /**
     * Removes at most {@code max} pages, beginning at page {@code from}, like the reaper. Returns the number removed.
     */
    public static int removePages(MetadataStore store, long inode, long from, int max) throws IOException {
        try (HeldRecipe held = store.recipes().hold(inode, from, Long.MAX_VALUE, max)) {
            return store.recipes().removePages(held, step(max));
        }
    }

    /** All contents of a page, for comparison. */
    static String describe(RecipePage page) {
        StringBuilder text = new StringBuilder();
        for (int entry = 0; entry < page.count(); entry++) {
            text.append(ChunkId.toString(page.chunkId(entry)))
                    .append('+')
                    .append(page.chunkOffset(entry))
                    .append('*')
                    .append(page.length(entry))
                    .append('#')
                    .append(Integer.toHexString(page.fingerprintPrefix(entry)))
                    .append(' ');
        }
        return text.toString();
    }

    /** A step of this number of pages, whose time never ends. */
    static StepLimit step(int pages) {
        return new StepLimit(pages, 1, () -> 0);
    }
}
