package org.opendedup.sar.volume.diff;

/**
 * How many paths differ.
 *
 * @param added number of paths that only the second state has
 * @param deleted number of paths that only the first state has
 * @param modified number of paths that show something else
 * @param renamed number of files and folders that have another path; what is in a renamed folder does not count
 * @param sorted whether the changes were told in the order of their paths; if not, in the order in which files were
 *     made
 */
public record DiffReport(long added, long deleted, long modified, long renamed, boolean sorted) {}
