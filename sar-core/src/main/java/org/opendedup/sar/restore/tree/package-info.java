/**
 * The order of files: which files a reader that goes through a tree of folders wants next.
 * {@link org.opendedup.sar.restore.tree.TreeTrail} finds the order that a reader follows,
 * {@link org.opendedup.sar.restore.tree.TreeWalk} goes on in it, and {@link org.opendedup.sar.restore.tree.TreeRecipe}
 * shows the files ahead as one recipe.
 */
@NullMarked
package org.opendedup.sar.restore.tree;

import org.jspecify.annotations.NullMarked;
