package org.opendedup.sar.container;

import org.jspecify.annotations.Nullable;

/** Bytes for chunks of one container that are damaged in it. */
@FunctionalInterface
public interface Replacements {
    /** Has nothing. */
    Replacements NONE = slot -> null;

    /** Returns the bytes of the chunk in a slot, of which the receiver verifies the fingerprint; null if unknown. */
    byte @Nullable [] chunk(int slot);
}
