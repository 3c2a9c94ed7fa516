/** Recipes of files, in pages, and logs of streams. */
@NullMarked
package org.opendedup.sar.metadata.recipes;

import org.jspecify.annotations.NullMarked;
