package org.opendedup.sar.volume.rewrite;

/**
 * The state of a file that chunk references describe: its bytes at one moment.
 *
 * @param size length in bytes
 * @param isNewest false if the file may have newer bytes on the fast tier, which does not have them now
 */
public record FileState(long size, boolean isNewest) {}
