package org.opendedup.sar.index.silo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.index.TestSegments;

class BlockRoutingTest {
    private static final int BLOCKS = 2000;

    /** Representatives of blocks of 100 chunks: not evenly distributed in their first bytes. */
    private static byte[][] representatives(long seed) {
        byte[][] representatives = new byte[BLOCKS][];
        for (int block = 0; block < BLOCKS; block++) {
            Segment chunks = TestSegments.of(seed + 100L * block, 100);
            int at = 32 * Representative.of(chunks);
            representatives[block] = Arrays.copyOfRange(chunks.fingerprints(), at, at + 32);
        }
        return representatives;
    }

    @Test
    void theNodeIsTheRemainderOfTheFingerprint() {
        byte[] fingerprint = new byte[33];
        Arrays.fill(fingerprint, (byte) 0xff);
        fingerprint[32] = (byte) 0xfe;
        // 2^64 - 2 = 4 (mod 6), and 2^64 - 1 is a multiple of 5.
        assertEquals(2, BlockRouting.node(fingerprint, 1, 6));
        assertEquals(4, BlockRouting.node(fingerprint, 1, 5));
        assertEquals(0, BlockRouting.node(fingerprint, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> BlockRouting.node(fingerprint, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> BlockRouting.splitNode(fingerprint, 1, 0));
    }

    @Test
    void nodesReceiveEqualShares() {
        long seed = TestSeed.next();
        byte[][] representatives = representatives(seed);
        for (int nodes : new int[] {2, 3, 4, 7, 8}) {
            int[] received = new int[nodes];
            int[] receivedSplit = new int[nodes];
            for (byte[] representative : representatives) {
                received[BlockRouting.node(representative, 0, nodes)]++;
                receivedSplit[BlockRouting.splitNode(representative, 0, nodes)]++;
            }
            for (int node = 0; node < nodes; node++) {
                assertShare(1.0 / nodes, received[node], seed);
                // Nodes that this round has not split yet have twice as much.
                int round = Integer.highestOneBit(nodes);
                boolean split = node < BlockRouting.splitBy(nodes) || node >= round;
                assertShare(split ? 0.5 / round : 1.0 / round, receivedSplit[node], seed);
            }
        }
    }

    private static void assertShare(double share, int received, long seed) {
        double deviation = Math.sqrt(BLOCKS * share * (1 - share));
        assertEquals(BLOCKS * share, received, 5 * deviation + 1, "seed " + seed);
    }

    @Test
    void oneMoreNodeTakesHalfOfOneNodeAndNothingElseMoves() {
        long seed = TestSeed.next();
        byte[][] representatives = representatives(seed);
        for (int nodes = 1; nodes <= 9; nodes++) {
            int before = 0;
            int moved = 0;
            for (byte[] representative : representatives) {
                int old = BlockRouting.splitNode(representative, 0, nodes);
                int now = BlockRouting.splitNode(representative, 0, nodes + 1);
                before += old == BlockRouting.splitBy(nodes) ? 1 : 0;
                if (old != now) {
                    assertEquals(BlockRouting.splitBy(nodes), old, "seed " + seed);
                    assertEquals(nodes, now, "seed " + seed);
                    moved++;
                }
            }
            assertEquals(before / 2.0, moved, 2.5 * Math.sqrt(before), "seed " + seed);
        }
    }

    /** The control: by the remainder alone, nearly all blocks move. */
    @Test
    void controlTheRemainderAloneMovesBlocksOfAllNodes() {
        int moved = 0;
        for (byte[] representative : representatives(1)) {
            moved += BlockRouting.node(representative, 0, 4) == BlockRouting.node(representative, 0, 5) ? 0 : 1;
        }
        assertEquals(0.8 * BLOCKS, moved, 0.05 * BLOCKS);
    }
}
