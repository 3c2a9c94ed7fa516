/**
 * The check of a volume that is not mounted: its containers against the container table, its references against the
 * counts; and the container table made anew from the packs (docs/adr/0033). Reads; only
 * {@link org.opendedup.sar.check.TableRebuild} changes something.
 */
@NullMarked
package org.opendedup.sar.check;

import org.jspecify.annotations.NullMarked;
