/**
 * The read path. {@link org.opendedup.sar.restore.RestoreEngine} follows a file's recipe: what is in memory is copied, the
 * rest is read from the containers in disk order, and ahead of a sequential reader. {@link
 * org.opendedup.sar.restore.TieredReads} does the same with an SSD beside the disk; {@link
 * org.opendedup.sar.restore.FrameLoader} brings frames into memory for both.
 */
@NullMarked
package org.opendedup.sar.restore;

import org.jspecify.annotations.NullMarked;
