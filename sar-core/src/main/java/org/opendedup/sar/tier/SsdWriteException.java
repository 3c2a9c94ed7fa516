package org.opendedup.sar.tier;

import java.io.IOException;

/** The SSD did not take a write; what is on it may still be read. */
final class SsdWriteException extends IOException {
    private static final long serialVersionUID = 1;

    SsdWriteException(IOException cause) {
        super(cause.getMessage(), cause);
    }
}
