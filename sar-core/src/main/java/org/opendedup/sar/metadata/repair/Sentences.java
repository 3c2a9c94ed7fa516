package org.opendedup.sar.metadata.repair;

import java.util.ArrayList;
import java.util.List;

/** Sentences for people, in bounded memory: the first {@value #MOST}, and how many more there are. */
final class Sentences {
    static final int MOST = 10_000;

    private final List<String> first = new ArrayList<>();
    private long more;

    void add(String sentence) {
        if (first.size() < MOST) {
            first.add(sentence);
        } else {
            more++;
        }
    }

    /** Returns the sentences; the last one says how many are left out, if any are. */
    List<String> list() {
        List<String> all = new ArrayList<>(first);
        if (more > 0) {
            all.add("and " + more + " more like these, which are not listed");
        }
        return all;
    }
}
