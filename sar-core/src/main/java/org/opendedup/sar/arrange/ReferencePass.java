package org.opendedup.sar.arrange;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.recipes.RecipeStore.Position;

/** Makes all recipes of a volume refer to other copies of some chunks. For one thread. */
public final class ReferencePass {
    /** Pages read at a time, so that no database cursor stays open for a time that others notice. */
    private static final int PAGES = 64;

    private final MetadataStore metadata;
    private final ArrangedFiles files;
    private final Pace pace;
    private long replaced;

    public ReferencePass(MetadataStore metadata, ArrangedFiles files, Pace pace) {
        this.metadata = metadata;
        this.files = files;
        this.pace = pace;
    }

    /**
     * Reads every recipe, and replaces each reference to an old copy. One that is made meanwhile, in a file that was
     * passed, may stay.
     *
     * @param goesOn asked before each step
     * @param passed receives the bytes of the pages that were read
     * @return whether all recipes were read
     */
    public boolean run(NewCopies copies, BooleanSupplier goesOn, LongConsumer passed) throws IOException {
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
                replaced += files.replace(file.getKey(), pages, copies::copyOf);
            }
            concerned.clear();
            pace.await(0, goesOn::getAsBoolean);
        }
        return next == null;
    }

    /** Returns the number of references that were replaced so far. */
    public long replaced() {
        return replaced;
    }
}
