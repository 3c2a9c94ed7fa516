package org.opendedup.sar.common;

import java.io.IOException;

/** A file or record of a format version this program does not know. It is left alone. */
public final class UnsupportedFormatException extends IOException {
    private static final long serialVersionUID = 1;

    public UnsupportedFormatException(String place, int version, int newestKnown) {
        super(place + ": format version " + version + " is not known to this program (it reads versions 1 to "
                + newestKnown + "); use the program that wrote it, or a newer one");
    }
}
