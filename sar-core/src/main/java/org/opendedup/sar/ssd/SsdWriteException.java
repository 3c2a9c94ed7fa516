package org.opendedup.sar.ssd;

import java.io.IOException;

/** The SSD did not take a write; what is on it may still be read. */
public final class SsdWriteException extends IOException {
    private static final long serialVersionUID = 1;

    public SsdWriteException(IOException cause) {
        super(cause.getMessage(), cause);
    }
}
