package org.opendedup.sar.raw;

/**
 * A raw file that may be migrated.
 *
 * @param size length in bytes
 * @param bytes bytes that it takes on the fast tier
 * @param accessedMs time of its last access, in milliseconds since 1970
 * @param openings how often it was opened since the mount
 */
public record MigrationCandidate(long inode, long size, long bytes, long accessedMs, int openings) {}
