package org.opendedup.sar.sdfs.cli.files;

import java.util.ArrayList;
import java.util.List;

/**
 * The path of an entry during a walk, for messages. A path may have any length; of a long one this shows the first
 * names and the last one.
 */
final class ShownPath {
    /** Characters of the first names, at most: no program can use a longer path in one call. */
    private static final int MAX_LENGTH = 4096;

    private final String root;
    /** The names from the root's entry on, as many as are shown. */
    private final List<String> names = new ArrayList<>();

    private int length;
    private String last = "";
    private long depth;

    ShownPath(String root) {
        this.root = root;
    }

    /**
     * Goes to an entry; the walk was at its folder before, or at an entry in or below that.
     *
     * @param newDepth number of names from the root to it
     */
    void at(long newDepth, String name) {
        while (names.size() >= Math.max(1, newDepth)) {
            length -= names.remove(names.size() - 1).length() + 1;
        }
        depth = newDepth;
        last = name;
        if (newDepth == names.size() + 1 && length + name.length() < MAX_LENGTH) {
            names.add(name);
            length += name.length() + 1;
        }
    }

    @Override
    public String toString() {
        var text = new StringBuilder(root);
        names.forEach(name -> append(text, name));
        if (names.size() < depth) {
            append(text, "...");
            append(text, last);
        }
        return text.toString();
    }

    private static void append(StringBuilder text, String name) {
        text.append(text.isEmpty() ? "" : "/").append(name);
    }
}
