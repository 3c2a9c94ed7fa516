package org.opendedup.sar.common;

import java.io.IOException;

/** The disk, or the volume's capacity, is full. No part of the refused write is kept. */
public final class NoSpaceException extends IOException {
    private static final long serialVersionUID = 1;

    public NoSpaceException(String message) {
        super(message);
    }
}
