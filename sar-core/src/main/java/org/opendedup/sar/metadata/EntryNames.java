package org.opendedup.sar.metadata;

import java.nio.charset.StandardCharsets;
import org.opendedup.sar.common.Printable;

/**
 * What a directory entry may be called. A name that breaks these rules leads out of its directory, or to nothing, where it is used as
 * part of a path; so none is stored, and one that is found stored is damage.
 */
public final class EntryNames {
    public static final int MAX_BYTES = 255;

    private EntryNames() {}

    /** Whether it has 1 to {@value #MAX_BYTES} bytes, no slash and no zero among them, and is neither {@code .} nor {@code ..}. */
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

    /** A name as part of one line of a message. */
    public static String text(byte[] name) {
        return Printable.line(new String(name, StandardCharsets.UTF_8));
    }
}
