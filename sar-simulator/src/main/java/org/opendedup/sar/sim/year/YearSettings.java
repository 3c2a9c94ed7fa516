package org.opendedup.sar.sim.year;

import java.nio.file.Path;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;

/**
 * What all runs of a year have in common.
 *
 * @param work folder in which volumes are made, one at a time, and removed
 * @param keep number of newest backups that are kept
 * @param drift share of the trace's changes that a day has
 */
record YearSettings(
        Path work, int days, int keep, double drift, long seed, Chunking chunking, Compression compression) {}
