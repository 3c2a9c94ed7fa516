package org.opendedup.sar.volume.diff;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Passes changes on in the order of their paths, folder by folder, if they are at most {@value #MOST} with at most
 * {@value #MOST_BYTES} bytes of paths; else in the order in which they come.
 */
final class ChangesByPath implements Change.Consumer {
    static final int MOST = 50_000;
    private static final int MOST_BYTES = 8 << 20;

    /** What is in a folder follows the folder, before names that begin with the same letters. */
    private static final Comparator<byte[]> BY_NAMES = (one, other) -> {
        int at = Arrays.mismatch(one, other);
        return at < 0 || at == Math.min(one.length, other.length)
                ? Integer.compare(one.length, other.length)
                : Integer.compare(rank(one[at]), rank(other[at]));
    };

    private final Change.Consumer next;
    private final List<Change> held = new ArrayList<>();
    private long bytes;
    private boolean isSorted = true;

    ChangesByPath(Change.Consumer next) {
        this.next = next;
    }

    private static int rank(byte letter) {
        return letter == '/' ? 0 : letter & 0xff;
    }

    @Override
    public void accept(Change change) throws IOException {
        if (!isSorted) {
            next.accept(change);
            return;
        }
        held.add(change);
        bytes += change.pathBytes();
        if (held.size() > MOST || bytes > MOST_BYTES) {
            isSorted = false;
            passOn();
        }
    }

    private void passOn() throws IOException {
        for (Change change : held) {
            next.accept(change);
        }
        held.clear();
    }

    /** Passes on what is held. Returns whether all was passed on in order. */
    boolean end() throws IOException {
        held.sort(Comparator.comparing(Change::path, BY_NAMES));
        passOn();
        return isSorted;
    }
}
