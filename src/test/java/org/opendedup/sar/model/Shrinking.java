package org.opendedup.sar.model;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Shortens a failing list (delta debugging, Zeller and Hildebrandt 2002, without its complements). */
public final class Shrinking {
    /** Whether a list still fails as the first one did. */
    @FunctionalInterface
    public interface Failure<T> {
        boolean isSeenIn(List<T> list) throws IOException;
    }

    private Shrinking() {}

    /**
     * Removes smaller and smaller parts of the list as long as it fails without them.
     *
     * @param runs how often it may be tried
     */
    public static <T> List<T> shrink(List<T> failing, int runs, Failure<T> failure) throws IOException {
        List<T> best = failing;
        int tried = 0;
        for (int part = Math.max(1, failing.size() / 2); ; part = Math.max(1, part / 2)) {
            int before = best.size();
            for (int from = 0; from < best.size() && tried < runs; tried++) {
                List<T> candidate = new ArrayList<>(best.subList(0, from));
                candidate.addAll(best.subList(Math.min(best.size(), from + part), best.size()));
                if (failure.isSeenIn(candidate)) {
                    best = candidate;
                } else {
                    from += part;
                }
            }
            if (tried >= runs || (part == 1 && best.size() == before)) {
                return best;
            }
        }
    }
}
