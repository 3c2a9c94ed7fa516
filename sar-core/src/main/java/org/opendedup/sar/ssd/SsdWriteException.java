package org.opendedup.sar.ssd;

import java.io.IOException;

/** Thrown when the SSD fails a write; its contents may still be readable. */
public final class SsdWriteException extends IOException {
    private static final long serialVersionUID = 1;

    public SsdWriteException(IOException cause) {
        super(cause.getMessage(), cause);
    }
}
