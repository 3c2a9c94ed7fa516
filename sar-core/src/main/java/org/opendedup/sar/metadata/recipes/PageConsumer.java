package org.opendedup.sar.metadata.recipes;

import java.io.IOException;
import org.opendedup.sar.metadata.record.RecipePage;

/** Receives a file's recipe pages one by one; see {@link RecipeStore#forEachPage}. */
@FunctionalInterface
public interface PageConsumer {
    /** @param page page number: offset in the file divided by the page's span */
    void accept(long page, RecipePage recipe) throws IOException;
}
