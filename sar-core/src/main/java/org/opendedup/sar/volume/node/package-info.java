/**
 * Inodes in memory, with what each file has in it: dirty bytes, attributes, its raw file, and the memory that all of
 * them share.
 */
@NullMarked
package org.opendedup.sar.volume.node;

import org.jspecify.annotations.NullMarked;
