package org.opendedup.sar.raw;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Where new files of a volume or of a folder are stored first. The attribute {@link #ATTRIBUTE} has its name. */
public enum Placement {
    /** In chunks, deduplicated when they are written; hot chunks also have copies on the SSD (SAR). */
    SAR,
    /** Whole on the fast tier, and deduplicated when they are migrated (TDDFS). */
    TDDFS,
    /** Whole on the fast tier, and not migrated. */
    PIN;

    /** Name of the extended attribute that sets the placement of a folder's new files, or of a file. */
    public static final String ATTRIBUTE = "user.sdfs.tier";

    /** Returns whether new files begin whole on the fast tier. */
    public boolean isRaw() {
        return this != SAR;
    }

    /** Returns the placement that an attribute's value names; null if it names none. */
    public static @Nullable Placement of(byte[] value) {
        return of(new String(value, US_ASCII));
    }

    /** Returns the placement with a name, in lower or upper case; null if there is none. */
    public static @Nullable Placement of(String name) {
        for (Placement placement : values()) {
            if (placement.name().equalsIgnoreCase(name.strip())) {
                return placement;
            }
        }
        return null;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
