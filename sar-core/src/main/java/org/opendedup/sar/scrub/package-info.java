/**
 * The scrub: reads everything that a volume stores, in the order of the disk, and compares it with its checksums and
 * with what the metadata say about it, so that damage is found while there may still be a way to heal it.
 *
 * <p>{@link org.opendedup.sar.scrub.Scrubber} does a scrub; {@link org.opendedup.sar.scrub.DiskOrder} chooses the
 * order.
 */
@NullMarked
package org.opendedup.sar.scrub;

import org.jspecify.annotations.NullMarked;
