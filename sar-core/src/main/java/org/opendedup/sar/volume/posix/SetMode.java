package org.opendedup.sar.volume.posix;

/** How {@link org.opendedup.sar.volume.Volume#setExtendedAttribute} treats an existing value. */
public enum SetMode {
    CREATE_OR_REPLACE,
    CREATE,
    REPLACE,
    /** Both flags of setxattr(2) together: always refused, whether the attribute exists or not. */
    CREATE_AND_REPLACE
}
