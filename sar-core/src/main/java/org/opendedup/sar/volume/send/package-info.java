/**
 * Sends a snapshot, or what differs from an earlier one, as a stream.
 * {@link org.opendedup.sar.volume.send.SnapshotSend} finds out what the receiver has;
 * {@link org.opendedup.sar.volume.send.DifferenceWalk} goes through what differs, in the order of the inodes, and
 * {@link org.opendedup.sar.volume.send.StreamBuilder} divides it into windows, whose chunks are read in the order of
 * the disk and written by {@link org.opendedup.sar.volume.send.WindowSender}.
 */
@NullMarked
package org.opendedup.sar.volume.send;

import org.jspecify.annotations.NullMarked;
