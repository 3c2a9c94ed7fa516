package org.opendedup.sar.keys;

import java.io.IOException;

/** Thrown when a volume's master key cannot be had. The message is for people, and has no secret. */
public final class KeyException extends IOException {
    private static final long serialVersionUID = 1;

    private final Reason reason;

    /** Why there is no key. If two copies of the header have different faults, the later of these counts. */
    public enum Reason {
        /** No slot opens with this secret, or there is no secret. */
        WRONG_SECRET,
        /** There is no key header. */
        MISSING,
        /** It is no header, or its checksum is wrong. */
        DAMAGED,
        /** Somebody without the master key changed the header: its checksum is right, its keyed hash is wrong. */
        FORGED,
        /** The header belongs to another volume. */
        OTHER_VOLUME,
        /** The disk gives an error: what it has may be good. */
        UNREADABLE,
        /** The header has a version that this program does not know, with a right checksum. */
        LATER_VERSION
    }

    public KeyException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
