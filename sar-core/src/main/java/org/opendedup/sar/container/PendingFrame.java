package org.opendedup.sar.container;

import org.jspecify.annotations.Nullable;

/** A frame on its way to the file of an {@link OpenContainer}, under whose lock its fields change. */
final class PendingFrame {
    final RawFrame raw;
    final long admittedBytes;
    boolean ready;
    /** Set once ready, unless the encoding failed. */
    @Nullable
    Bytes encoded;

    PendingFrame(RawFrame raw, long admittedBytes) {
        this.raw = raw;
        this.admittedBytes = admittedBytes;
    }
}
