/**
 * Receives snapshots of another volume: applies the stream of a snapshot to the records of this one, which has the
 * sender's inode numbers, and then makes the snapshot (docs/adr/0123).
 */
@NullMarked
package org.opendedup.sar.volume.receive;

import org.jspecify.annotations.NullMarked;
