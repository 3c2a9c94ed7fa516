package org.opendedup.sar.container;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.RawFrame;

/** A frame on its way to the file of an {@link OpenContainer}. Its fields are guarded by that container's lock. */
final class PendingFrame {
    final RawFrame raw;
    final long admittedBytes;
    boolean ready;
    /** The encoded frame; set once ready, unless the encoding failed. */
    @Nullable
    Bytes encoded;

    PendingFrame(RawFrame raw, long admittedBytes) {
        this.raw = raw;
        this.admittedBytes = admittedBytes;
    }
}
