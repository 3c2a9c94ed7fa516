/**
 * The exact chunk index in RocksDB, with a cache in memory in front of it that follows the locality of backup streams
 * (Zhu, Li and Patterson, "Avoiding the Disk Bottleneck in the Data Domain Deduplication File System", FAST 2008,
 * section 4.3): chunks that one stream wrote next to each other, another stream looks up next to each other.
 */
@NullMarked
package org.opendedup.sar.index.rocksdb;

import org.jspecify.annotations.NullMarked;
