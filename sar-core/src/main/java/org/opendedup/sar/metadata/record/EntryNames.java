package org.opendedup.sar.metadata.record;

import java.nio.charset.StandardCharsets;
import org.opendedup.sar.common.Printable;

/**
 * The rules for names of directory entries. A name that violates them leads out of its directory, or to nothing, where
 * it is used as part of a path. So no such name is stored, and one that is found in the database is damage.
 */
public final class EntryNames {
    public static final int MAX_BYTES = 255;

    private EntryNames() {}

    /**
     * Returns whether the name has 1 to {@value #MAX_BYTES} bytes, contains no slash and no zero byte, and is neither
     * {@code .} nor {@code ..}.
     */
    public static boolean isValid(byte[] name) {
        if (name.length == 0 || name.length > MAX_BYTES || isSelf(name) || isParent(name)) {
            return false;
        }
        for (byte b : name) {
            if (b == '/' || b == 0) {
                return false;
            }
        }
        return true;
    }

    public static boolean isSelf(byte[] name) {
        return name.length == 1 && name[0] == '.';
    }

    public static boolean isParent(byte[] name) {
        return name.length == 2 && name[0] == '.' && name[1] == '.';
    }

    /** Returns a name as text for one line of a message. */
    public static String text(byte[] name) {
        return Printable.line(new String(name, StandardCharsets.UTF_8));
    }
}
