/**
 * The garbage collector: gives the space of chunks that no file refers to back to the file system.
 *
 * <p>{@link org.opendedup.sar.collect.Collector} does a collection: it chooses containers by the container table,
 * tombstones what is garbage in them, has them written anew without it or removed, and returns their old places once
 * the new ones are committed and no reader uses the old ones.
 */
@NullMarked
package org.opendedup.sar.collect;

import org.jspecify.annotations.NullMarked;
