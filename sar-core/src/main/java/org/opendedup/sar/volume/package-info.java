/**
 * The volume: {@link org.opendedup.sar.volume.Volume} is the only entry point for front ends. The package manages open
 * inodes and their dirty bytes, calls the ingest pipeline and the restore engine, and commits.
 */
@NullMarked
package org.opendedup.sar.volume;

import org.jspecify.annotations.NullMarked;
