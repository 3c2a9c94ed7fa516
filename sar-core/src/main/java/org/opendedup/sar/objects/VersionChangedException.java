package org.opendedup.sar.objects;

import java.io.IOException;

/** An object is not in the version that was to be replaced: another has replaced, made or deleted it. */
public final class VersionChangedException extends IOException {
    private static final long serialVersionUID = 1;

    /** @param place the object and its store */
    public VersionChangedException(String place) {
        super(place + " was changed by another meanwhile");
    }
}
