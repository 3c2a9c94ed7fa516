package org.opendedup.sar.volume.posix;

/** How {@link org.opendedup.sar.volume.Volume#rename} treats an existing target. */
public enum RenameMode {
    REPLACE,
    NO_REPLACE,
    EXCHANGE
}
