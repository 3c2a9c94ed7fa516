/**
 * The fingerprint index: from a chunk's fingerprint to a stored copy of it. It is never the truth: it can be deleted at
 * any moment and is rebuilt from the containers' directories, and what it answers is a hint that the reference counts
 * confirm or refuse.
 */
@NullMarked
package org.opendedup.sar.index;

import org.jspecify.annotations.NullMarked;
