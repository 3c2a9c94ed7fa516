/** What {@code sdfscli cluster} adds to the engine's clusters: which folders are theirs here, and trees of files. */
@NullMarked
package org.opendedup.sar.sdfs.cluster;

import org.jspecify.annotations.NullMarked;
