package org.opendedup.sar.volume.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.Modes;

class NodeTableTest {
    private static final int MANY_NODES = 10;
    private static final int INODES = 200;
    private static final int FIRST = 2;

    private final List<Node> unused = new ArrayList<>();
    private MetadataStore metadata;
    private NodeTable nodes;

    @BeforeEach
    void makeInodes() throws IOException {
        metadata = MetadataStore.format(
                new HeapKeyValueStore(),
                new MetadataHeader(UUID.randomUUID(), 256 << 10, 0, MetadataHeader.FORMAT_VERSION));
        for (int id = FIRST; id < FIRST + INODES; id++) {
            metadata.namespace()
                    .put(Inode.of(id, Modes.REGULAR | 0644, Inode.Times.ofCreation(0))
                            .withBytes(id, 0));
        }
        nodes = new NodeTable(
                metadata, new RawTable(), new Capacity(1L << 40, 100, 0, metadata.quotas()), MANY_NODES, unused::add);
    }

    @AfterEach
    void close() throws IOException {
        metadata.close();
    }

    @Test
    void nodesThatOnlyTheKernelRefersToLeaveATableOfMany() throws IOException {
        lookUpAll();
        assertTrue(nodes.size() <= MANY_NODES + 1, () -> nodes.size() + " nodes");
        assertEquals(INODES, nodes.size() + nodes.withoutNode());
        forgetAll();
        assertEquals(0, nodes.size() + nodes.withoutNode());
    }

    /** As those of a folder that changes and is listed again and again. */
    @Test
    void nodesThatTheKernelHasLookedUpOftenLeaveTheTableToo() throws IOException {
        int times = 1000;
        for (int i = 0; i < times; i++) {
            lookUpAll();
        }
        assertTrue(nodes.size() <= MANY_NODES + 1, () -> nodes.size() + " nodes");
        assertEquals(INODES, nodes.size() + nodes.withoutNode());
        assertEquals(INODES, nodes.inUse());
        for (int id = FIRST; id < FIRST + INODES; id++) {
            nodes.forget(id, times - 1);
        }
        assertEquals(INODES, nodes.inUse());
        forgetAll();
        assertEquals(0, nodes.size() + nodes.withoutNode());
        assertEquals(0, nodes.inUse());
    }

    /** A node has no space for it: many links would use up the heap. */
    @Test
    void theTargetOfALinkCountsAsPendingAndStays() throws IOException {
        byte[] target = new byte[4000];
        Arrays.fill(target, (byte) 'x');
        int id = FIRST + INODES;
        long before = metadata.pendingBytes();
        Inode made = Inode.of(id, Modes.SYMBOLIC_LINK | 0777, Inode.Times.ofCreation(0))
                .withTarget(target);
        Node link = nodes.add(made, metadata.account(made));
        assertTrue(metadata.pendingBytes() >= before + target.length, () -> metadata.pendingBytes() + " bytes pending");
        assertArrayEquals(target, nodes.target(link));
        metadata.commit(metadata.freeze());
        nodes.charge(link, metadata.quotas().account(7, 0, 0), true);
        nodes.encodeDirty();
        assertArrayEquals(target, metadata.namespace().inode(id).target());
        assertEquals(7, metadata.namespace().inode(id).uid());
        nodes.unpin(link);
    }

    @Test
    void aNodeThatIsHeldStaysTheOnlyOne() throws IOException {
        Node held = nodes.pin(FIRST);
        lookUpAll();
        lookUpAll();
        Node again = nodes.pin(FIRST);
        assertEquals(held, again);
        nodes.unpin(again);
        nodes.unpin(held);
    }

    @Test
    void anInodeWithoutNodeKeepsTheKernelsReferencesWhenItsNameGoes() throws IOException {
        lookUpAll();
        lookUpAll();
        int id = FIRST + 1;
        Node node = nodes.pin(id);
        synchronized (node) {
            node.links = 0;
        }
        nodes.unpin(node);
        nodes.forget(id, 1);
        assertEquals(List.of(), unused);
        nodes.forget(id, 1);
        assertEquals(List.of(node), unused);
        assertNull(nodes.pinIfPresent(id));
    }

    @Test
    void aChangedNodeStaysUntilItIsEncoded() throws IOException {
        Node changed = nodes.pin(FIRST);
        nodes.markDirty(changed);
        nodes.handOut(changed);
        lookUpAll();
        Node again = nodes.pin(FIRST);
        assertEquals(changed, again);
        nodes.handOut(again);
        nodes.encodeDirty();
        lookUpAll();
        lookUpAll();
        assertTrue(nodes.size() <= MANY_NODES + 1, () -> nodes.size() + " nodes");
    }

    @Test
    void countsBalanceWithManyThreads() throws Exception {
        long seed = TestSeed.next();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<int[]>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Random random = new Random(seed + i);
                Callable<int[]> work = () -> lookUpAndForget(random);
                all.add(threads.submit(work));
            }
            int[] left = new int[INODES];
            int known = 0;
            for (Future<int[]> one : all) {
                int[] lookups = one.get();
                for (int i = 0; i < INODES; i++) {
                    left[i] += lookups[i];
                }
            }
            for (int i = 0; i < INODES; i++) {
                known += left[i] > 0 ? 1 : 0;
            }
            assertEquals(known, nodes.size() + nodes.withoutNode());
            for (int i = 0; i < INODES; i++) {
                nodes.forget(FIRST + i, left[i]);
            }
            assertEquals(0, nodes.size() + nodes.withoutNode());
        } finally {
            threads.shutdown();
        }
    }

    /** Returns the lookups of each inode that were not forgotten. */
    private int[] lookUpAndForget(Random random) throws IOException {
        int[] lookups = new int[INODES];
        for (int i = 0; i < 20_000; i++) {
            int at = random.nextInt(INODES);
            if (lookups[at] > 0 && random.nextBoolean()) {
                int forgotten = 1 + random.nextInt(lookups[at]);
                nodes.forget(FIRST + at, forgotten);
                lookups[at] -= forgotten;
                continue;
            }
            Node node = nodes.pin(FIRST + at);
            assertEquals(FIRST + at, node.size);
            if (random.nextInt(3) == 0) {
                nodes.unpin(node);
            } else {
                nodes.handOut(node);
                lookups[at]++;
            }
        }
        return lookups;
    }

    private void lookUpAll() throws IOException {
        for (int id = FIRST; id < FIRST + INODES; id++) {
            nodes.handOut(nodes.pin(id));
        }
    }

    private void forgetAll() {
        for (int id = FIRST; id < FIRST + INODES; id++) {
            nodes.forget(id, 1);
        }
    }
}
