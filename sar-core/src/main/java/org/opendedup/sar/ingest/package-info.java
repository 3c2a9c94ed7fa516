/**
 * The write path. {@link org.opendedup.sar.ingest.IngestPipeline} turns a run of a file's bytes into chunk references:
 * it cuts and fingerprints, looks up, stores new chunks, changes recipe and counts together, and updates the index. The
 * pipeline calls each step in turn; no store calls another.
 */
@NullMarked
package org.opendedup.sar.ingest;

import org.jspecify.annotations.NullMarked;
