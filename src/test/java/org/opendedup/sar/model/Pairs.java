package org.opendedup.sar.model;

import java.util.List;

/** Ops that write the same bytes to two files, with a sync in between, so that chunks are promoted to an SSD. */
public final class Pairs {
    private static final int SHARED_BYTES = 800_000;
    /** Number of pairs, after which their bytes are replaced. */
    private static final int PAIRS = 3;

    private Pairs() {}

    /** Writes the next pair, or overwrites one of an earlier round. */
    public static List<Op> write(int round) {
        Content content = new Content(1 + round % 5, (long) round << 20, SHARED_BYTES);
        String one = "one of a pair " + round % PAIRS;
        String other = "other of a pair " + round % PAIRS;
        return List.of(
                new Op.Create(one, 0600),
                new Op.Create(other, 0600),
                new Op.Write(one, 0, content),
                new Op.SyncFile(one, false),
                new Op.Write(other, 0, content),
                new Op.SyncFile(other, false));
    }
}
