package org.opendedup.sar.sdfs.restore;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The first entries of a list in a report, as many as fit into it. */
public final class BoundedWords {
    private static final int MAX = 50;
    /**
     * Limit of all entries in bytes. In the JSON of a report a byte may become six; a line of JSON has 64 KiB at most,
     * and a report has two such lists.
     */
    private static final int MAX_BYTES = 5 << 10;

    private final List<String> words = new ArrayList<>();
    private int bytes;

    /** Adds an entry; returns false if there is no room. */
    public boolean add(String more) {
        int moreBytes = more.getBytes(StandardCharsets.UTF_8).length;
        if (words.size() == MAX || bytes + moreBytes > MAX_BYTES) {
            return false;
        }
        bytes += moreBytes;
        return words.add(more);
    }

    public List<String> copy() {
        return List.copyOf(words);
    }
}
