package org.opendedup.sar.volume.config;

import java.io.IOException;

/** A collection of garbage is refused, because the metadata were restored and the replaced ones are not given up. */
public final class RestoredMetadataException extends IOException {
    private static final long serialVersionUID = 1L;

    RestoredMetadataException(String message) {
        super(message);
    }
}
