/**
 * Copies of folders and files within the volume, by their recipes. {@link org.opendedup.sar.volume.clone.TreeClone}
 * walks the source, and builds the copy in a directory without a name; a
 * {@link org.opendedup.sar.volume.clone.CloneStep} adds some entries in one change of the metadata, and a
 * {@link org.opendedup.sar.volume.clone.FileClone} follows a file that is long or in use.
 */
@NullMarked
package org.opendedup.sar.volume.clone;

import org.jspecify.annotations.NullMarked;
