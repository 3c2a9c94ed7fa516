/**
 * A volume as a whole: {@link org.opendedup.sar.volume.Volume} is the one entry point for front ends. It keeps open
 * inodes and their dirty bytes, calls the ingest pipeline and the restore engine, and commits.
 */
@NullMarked
package org.opendedup.sar.volume;

import org.jspecify.annotations.NullMarked;
