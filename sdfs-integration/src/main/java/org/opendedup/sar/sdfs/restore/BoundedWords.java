package org.opendedup.sar.sdfs.restore;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The first of what a report names, so many that they fit into it. */
final class BoundedWords {
    private static final int MAX = 50;
    /** A byte may become six in the JSON of a report, whose line has 64 KiB at most; and there are two such lists. */
    private static final int MAX_BYTES = 5 << 10;

    private final List<String> words = new ArrayList<>();
    private int bytes;

    /** False: there was no room for it. */
    boolean add(String more) {
        int moreBytes = more.getBytes(StandardCharsets.UTF_8).length;
        if (words.size() == MAX || bytes + moreBytes > MAX_BYTES) {
            return false;
        }
        bytes += moreBytes;
        return words.add(more);
    }

    List<String> copy() {
        return List.copyOf(words);
    }
}
