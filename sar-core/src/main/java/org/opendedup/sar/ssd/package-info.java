/**
 * One SSD with copies of chunks: an append-only log of segment files, the {@link org.opendedup.sar.ssd.MapTable} that says where in it
 * each copy lies, and the database that brings the table back. What lies there may vanish at any moment; every record is checked when it
 * is read. What is copied there and what leaves is decided by {@code org.opendedup.sar.tier}.
 *
 * <p>{@link org.opendedup.sar.ssd.SsdStore} is the entry. A chunk is offered to a bounded queue; one thread compresses it, appends it to
 * the log, enters it in the table. The files are specified in docs/FORMAT.md, "SSD location".
 */
@NullMarked
package org.opendedup.sar.ssd;

import org.jspecify.annotations.NullMarked;
