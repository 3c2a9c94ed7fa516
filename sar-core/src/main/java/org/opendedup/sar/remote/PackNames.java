package org.opendedup.sar.remote;

import java.util.HexFormat;
import java.util.regex.Pattern;
import org.opendedup.sar.container.format.PackFormat;

/** The names of objects in the store of a volume. */
final class PackNames {
    /** What the objects of complete packs begin with; the name of the pack's file follows. */
    static final String PACKS = "packs/";

    /** What tails begin with; the name of the pack's file, a slash and the offset follow. */
    static final String TAILS = "tails/";

    private static final Pattern OFFSET = Pattern.compile("[0-7][0-9a-f]{15}");

    private PackNames() {}

    static String pack(String name) {
        return PACKS + name;
    }

    /** Returns whether it is the name of an object of a complete pack; other programs may put others there. */
    static boolean isPack(String object) {
        return PackFormat.isPack(object.substring(PACKS.length()));
    }

    /** Returns whether it is the name of a tail of a pack; other programs may put others there. */
    static boolean isTail(String object) {
        return PackFormat.isPack(packOf(object)) && offsetOf(object) >= 0;
    }

    /** Returns what the names of a pack's tails begin with. */
    static String tails(String name) {
        return TAILS + name + "/";
    }

    /** Returns the name of the tail that begins at an offset of the pack. Tails sort by their offsets. */
    static String tail(String name, long offset) {
        return tails(name) + HexFormat.of().toHexDigits(offset);
    }

    /**
     * Returns the name of the file of the pack that a tail belongs to; empty if it is no name of a tail, because
     * somebody else put the object.
     */
    static String packOf(String tail) {
        int slash = tail.lastIndexOf('/');
        return slash < TAILS.length() ? "" : tail.substring(TAILS.length(), slash);
    }

    /** Returns the offset in the pack at which a tail begins; -1 if it is no name of a tail. */
    static long offsetOf(String tail) {
        String digits = tail.substring(tail.lastIndexOf('/') + 1);
        return OFFSET.matcher(digits).matches() ? HexFormat.fromHexDigitsToLong(digits) : -1;
    }
}
