/**
 * The read path. {@link org.opendedup.sar.restore.RestoreEngine} follows a file's recipe: it copies chunks that are in
 * memory, and reads the others from the containers in disk order, ahead of a sequential reader.
 * {@link org.opendedup.sar.restore.frame.SplitReads} does the same for a volume with an SSD.
 * {@link org.opendedup.sar.restore.frame.FrameLoader} brings frames into memory for both.
 */
@NullMarked
package org.opendedup.sar.restore;

import org.jspecify.annotations.NullMarked;
