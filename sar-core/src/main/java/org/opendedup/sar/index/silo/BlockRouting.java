package org.opendedup.sar.index.silo;

import java.nio.ByteBuffer;
import org.opendedup.sar.common.Fingerprints;

/**
 * Routes blocks to nodes by their representative fingerprint alone (SiLo, section 3.4): pure functions, without state.
 * The number {@code F} of a fingerprint is its last 8 bytes, unsigned and big-endian: the first bytes of a lowest
 * fingerprint are mostly zero. Nodes are numbered from 0.
 */
public final class BlockRouting {
    private BlockRouting() {}

    /**
     * Returns the node of a block among {@code nodes}, as published: {@code F mod N}. A block whose node has to be
     * relieved moves to {@code node(.., N + 1)}.
     *
     * @param fingerprints the representative begins at {@code fingerprints[offset]}
     * @param nodes number of nodes; 1 or more
     */
    public static int node(byte[] fingerprints, int offset, int nodes) {
        requireNodes(nodes);
        return (int) Long.remainderUnsigned(number(fingerprints, offset), nodes);
    }

    /**
     * Returns the node of a block among {@code nodes} so that one more node splits one of them: of its blocks, about
     * half move to the new node, and no other block moves (Litwin, Linear Hashing, VLDB 1980). {@code F mod (N + 1)},
     * applied to all nodes, would move {@code N / (N + 1)} of all blocks.
     *
     * @param fingerprints the representative begins at {@code fingerprints[offset]}
     * @param nodes number of nodes; 1 or more
     */
    public static int splitNode(byte[] fingerprints, int offset, int nodes) {
        requireNodes(nodes);
        int round = Integer.highestOneBit(nodes);
        long number = number(fingerprints, offset);
        int node = (int) (number & (2L * round - 1));
        return node < nodes ? node : (int) (number & (round - 1));
    }

    /** Returns the node that {@link #splitNode} splits when {@code nodes} become one more. */
    public static int splitBy(int nodes) {
        requireNodes(nodes);
        return nodes - Integer.highestOneBit(nodes);
    }

    private static void requireNodes(int nodes) {
        if (nodes < 1) {
            throw new IllegalArgumentException("there is 1 node or more, not " + nodes);
        }
    }

    private static long number(byte[] fingerprints, int offset) {
        return ByteBuffer.wrap(fingerprints).getLong(offset + Fingerprints.BYTES - Long.BYTES);
    }
}
