/**
 * One SSD with copies of chunks: an append-only log of segment files, the {@link org.opendedup.sar.ssd.MapTable} with
 * the position of each copy in the log, and the database from which the table is loaded. A copy may be lost at any
 * moment; every record is checked when it is read. The package {@code org.opendedup.sar.hot} decides what is copied
 * there and what is removed.
 *
 * <p>{@code hot} sees a store as {@link org.opendedup.sar.ssd.AttachedSsd}: {@link org.opendedup.sar.ssd.CopyStore}
 * reads copies, {@link org.opendedup.sar.ssd.PromotionTarget} accepts new ones,
 * {@link org.opendedup.sar.ssd.HotContents} lists and removes them.
 *
 * <p>{@link org.opendedup.sar.ssd.SsdStore} is that store. A chunk is offered to a bounded queue; one thread compresses
 * it, appends it to the log, and enters it in the table. docs/FORMAT.md, "SSD location", specifies the files.
 */
@NullMarked
package org.opendedup.sar.ssd;

import org.jspecify.annotations.NullMarked;
