/**
 * The chunk index of an SSD: fingerprints in a log that is appended to, and a table of six bytes a chunk in memory that
 * leads there (Debnath, Sengupta and Li, "ChunkStash: Speeding up Inline Storage Deduplication using Flash Memory",
 * USENIX ATC 2010). Docs: docs/INDEXES.md, docs/adr/0053.
 */
@NullMarked
package org.opendedup.sar.index.chunkstash;

import org.jspecify.annotations.NullMarked;
