/**
 * The exact chunk index in RocksDB, behind a cache in memory that follows the locality of backup streams (Zhu, Li and
 * Patterson, "Avoiding the Disk Bottleneck in the Data Domain Deduplication File System", FAST 2008, section 4.3): what one
 * stream wrote side by side, another one asks for side by side.
 */
@NullMarked
package org.opendedup.sar.index.rocksdb;

import org.jspecify.annotations.NullMarked;
