package org.opendedup.sar.io;

import java.io.IOException;

/**
 * A store that is reached over a network did not answer, or said that it cannot now. Worth another try later. Says
 * nothing about what is stored ({@link NoAnswer}): a change that ended so may have been made, or may still be made.
 */
public final class UnavailableException extends IOException {
    private static final long serialVersionUID = 1;

    public UnavailableException(String message) {
        super(message);
    }

    public UnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
