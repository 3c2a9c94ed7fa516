package org.opendedup.sar.common;

import java.io.IOException;

/**
 * A file or record has a format version that this program does not know, or is encrypted and there is no key. The
 * program does not change it.
 */
public final class UnsupportedFormatException extends IOException {
    private static final long serialVersionUID = 1;

    /** @param known the only version that this program reads */
    public UnsupportedFormatException(String place, int version, int known) {
        super(place + ": format version " + version + " is not known to this program, which reads version " + known
                + "; use the program that wrote it, and copy the files into a new volume if that is an older one");
    }

    private UnsupportedFormatException(String message) {
        super(message);
    }

    /** Returns the error for who reads something encrypted in a volume that was opened without its key. */
    public static UnsupportedFormatException encrypted(String place) {
        return new UnsupportedFormatException(place + " is encrypted, and the volume was opened without its key");
    }
}
