/**
 * Work that replaces references of recipes: defragmentation, arrangements and exact passes.
 * {@link org.opendedup.sar.volume.rewrite.ReferencePass} is the pass over all recipes that they share.
 */
@NullMarked
package org.opendedup.sar.volume.rewrite;

import org.jspecify.annotations.NullMarked;
