package org.opendedup.sar.sdfs.health;

import java.util.Locale;

/** How a volume is; a later value is worse. */
public enum Health {
    WELL,
    /** It works with a restriction, or an administrator must act soon. No stored byte is known to be lost. */
    DEGRADED,
    /** Bytes of its files are lost or unreadable. */
    DAMAGED;

    /** Returns the exit code of {@code sdfscli VOLUME status}. */
    public int exitCode() {
        return ordinal();
    }

    /** Returns the name that commands and JMX show. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
