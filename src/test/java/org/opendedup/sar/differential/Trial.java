package org.opendedup.sar.differential;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.opendedup.sar.mounted.TwoMounts;

/**
 * Runs ops in a new folder of both mounts, and compares the results; then compares everything, also after a remount.
 */
final class Trial {
    /** Stands for the op in a comparison with the state before a remount. */
    static final String REMOUNT = "a remount";

    private static final String EVERYTHING = "0 0 all";

    private final TwoMounts mounts;
    private final String folder;
    private Answer before = new Answer(new TreeMap<>());

    Trial(TwoMounts mounts, String folder) {
        this.mounts = mounts;
        this.folder = folder;
    }

    /** A difference: at which op, and what differs. */
    record Difference(int index, String what) {
        boolean isLike(Difference other) {
            return what.equals(other.what);
        }

        @Override
        public String toString() {
            return "op " + index + ", " + what;
        }
    }

    String folder() {
        return folder;
    }

    /** Removes everything that it made. */
    void remove() throws IOException {
        mounts.remove(folder);
    }

    /** The first difference, after which nothing else was run. */
    Optional<Difference> run(List<String> ops) throws IOException {
        try (Hands hands = new Hands(mounts, folder)) {
            for (int i = 0; i < ops.size(); i++) {
                int index = i;
                Optional<String> difference = hands.call(ops.get(i)).difference();
                if (difference.isPresent()) {
                    return difference.map(what -> new Difference(index, what));
                }
            }
            Call all = hands.call(EVERYTHING);
            // Open files without a name no longer exist after a remount.
            before = all.volume().only(key -> !key.subject().startsWith("fd"));
            return all.withoutTimes().difference().map(what -> new Difference(ops.size(), what));
        }
    }

    /** To be called after a remount, if {@link #run} found nothing. Returns whether everything is unchanged. */
    Optional<Difference> lookAgain() throws IOException {
        try (Hands hands = new Hands(mounts, folder)) {
            Call all = hands.call(EVERYTHING);
            return all.withoutTimes()
                    .difference()
                    .or(() -> new Call(REMOUNT, before, all.volume()).difference())
                    .map(what -> new Difference(0, "after a remount: " + what));
        }
    }
}
