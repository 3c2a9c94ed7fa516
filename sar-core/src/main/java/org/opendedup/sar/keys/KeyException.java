package org.opendedup.sar.keys;

import java.io.IOException;

/** Thrown when a volume's master key cannot be had. The message is for people, and has no secret. */
public final class KeyException extends IOException {
    private static final long serialVersionUID = 1;

    private final Reason reason;

    /** Why there is no key. */
    public enum Reason {
        /** No slot opens with this secret, or there is no secret. */
        WRONG_SECRET,
        /** There is no key header. */
        MISSING,
        /** No copy of the header has a right checksum. */
        DAMAGED,
        /** The header belongs to another volume. */
        OTHER_VOLUME,
        /** Somebody without the master key changed the header: its checksum is right, its keyed hash is wrong. */
        FORGED
    }

    public KeyException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
