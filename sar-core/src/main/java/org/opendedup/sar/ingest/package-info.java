/**
 * The write path. {@link org.opendedup.sar.ingest.IngestPipeline} turns a run of a file's bytes into chunk references:
 * cut and fingerprint, look up, store what is new, change recipe and counts together, tell the index. Each step is called
 * in turn by the pipeline; no store calls another.
 */
@NullMarked
package org.opendedup.sar.ingest;

import org.jspecify.annotations.NullMarked;
