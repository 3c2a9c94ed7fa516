/** The key-value store below the metadata: RocksDB, its log and its manifest. */
@NullMarked
package org.opendedup.sar.metadata.db;

import org.jspecify.annotations.NullMarked;
