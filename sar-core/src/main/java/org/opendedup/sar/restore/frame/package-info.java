/**
 * Frames that are brought into memory, from other readers, the SSD or the containers, and the chunks that are held
 * there. {@link org.opendedup.sar.restore.frame.FrameLoader} reads and decodes frames,
 * {@link org.opendedup.sar.restore.frame.PinnedChunks} holds chunks.
 */
@NullMarked
package org.opendedup.sar.restore.frame;

import org.jspecify.annotations.NullMarked;
