/**
 * The fingerprint index: it maps a chunk's fingerprint to a stored copy of the chunk. It is never authoritative: it can
 * be deleted at any time and is rebuilt from the containers' directories. Its answers are hints, which the reference
 * counts confirm or reject.
 */
@NullMarked
package org.opendedup.sar.index;

import org.jspecify.annotations.NullMarked;
