package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.restore.lookahead.TreeReads;
import org.opendedup.sar.restore.tree.TreeOrder;
import org.opendedup.sar.restore.tree.TreeTrail;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;

/** Readers that go through a tree in an order get a window over the files that come next; others cost nothing. */
@Timeout(120)
class TreeReadAheadTest {
    private static final int FOLDERS = 24;
    private static final int FILES = 25;
    private static final int MAX_BYTES = 30_000;
    private static final int LONG_BYTES = 300_000;
    private static final Owner ROOT = new Owner(0, 0);

    @MemoryFolder
    Path folder;

    private final Random random = new Random(TestSeed.next());
    private final Map<Long, byte[]> contents = new HashMap<>();
    private VolumeConfig config;
    private Volume volume;

    /** A file or folder where a walk finds it. */
    private record Found(long folder, byte[] name, long inode, boolean isFolder) {}

    @BeforeEach
    void make() throws IOException {
        config = VolumeConfigs.in(folder, 1L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        volume = Volume.open(config);
        List<Long> folders = new ArrayList<>(List.of(Inode.ROOT));
        for (int i = 0; i < FOLDERS; i++) {
            long parent = folders.get(random.nextInt(folders.size()));
            long made =
                    volume.makeDirectory(parent, name("folder" + i), 0755, ROOT).inode();
            folders.add(made);
            for (int j = 0; j < FILES; j++) {
                // Of one that is longer than the window has of it, the rest is read without it.
                byte[] content = new byte[j == 0 ? LONG_BYTES : 1 + random.nextInt(MAX_BYTES)];
                random.nextBytes(content);
                write(made, "file" + random.nextInt() + "-" + j, content);
            }
        }
        reopen();
    }

    @AfterEach
    void checkAndClose() throws IOException {
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.close();
    }

    private static byte[] name(String name) {
        return name.getBytes(UTF_8);
    }

    private void write(long parent, String name, byte[] content) throws IOException {
        Attributes made = volume.makeNode(parent, name(name), Modes.REGULAR | 0644, 0, ROOT);
        OpenFile file = volume.open(made.inode(), true);
        volume.write(file, 0, ByteBuffer.wrap(content));
        volume.close(file);
        volume.forget(made.inode(), 1);
        contents.put(made.inode(), content);
    }

    /** Nothing is in memory afterwards. */
    private void reopen() throws IOException {
        volume.close();
        volume = Volume.open(config);
    }

    private TreeReads trees() {
        return Objects.requireNonNull(volume.context().restore().trees());
    }

    /** Returns the files below a folder as a program goes through them. */
    private List<Found> walk(long top, TreeOrder order) throws IOException {
        List<Found> entries = new ArrayList<>();
        volume.list(top, 0, false, (name, inode, type, cookie, attributes) -> {
            if (name[0] != '.') {
                entries.add(new Found(top, name, inode, Modes.isDirectory(type)));
            }
            return true;
        });
        Comparator<Found> byName = Comparator.comparing(Found::name, Arrays::compareUnsigned);
        switch (order) {
            case LISTED -> {}
            case STORED -> entries.sort(Comparator.comparing(Found::inode));
            case NAMED -> entries.sort(Comparator.comparing(Found::isFolder).thenComparing(byName));
        }
        List<Found> files = new ArrayList<>();
        for (Found entry : entries) {
            files.addAll(entry.isFolder ? walk(entry.inode, order) : List.of(entry));
        }
        return files;
    }

    /** Reads files whole, one after the other. */
    private void read(List<Found> files) throws IOException {
        for (Found found : files) {
            byte[] content = read(found);
            assertArrayEquals(contents.get(found.inode), content, () -> "inode " + found.inode);
            TestWait.until(trees()::isUpToDate);
        }
    }

    private byte[] read(Found found) throws IOException {
        long inode = volume.lookup(found.folder, found.name).inode();
        OpenFile file = volume.open(inode, false);
        try {
            ByteBuffer target = ByteBuffer.allocate(512 << 10);
            volume.read(file, 0, target);
            return Arrays.copyOf(target.array(), target.position());
        } finally {
            volume.close(file);
            volume.forget(inode, 1);
        }
    }

    @ParameterizedTest
    @EnumSource(TreeOrder.class)
    void aReaderThatFollowsAnOrderIsReadAheadAcrossFolders(TreeOrder order) throws IOException {
        List<Found> files = walk(Inode.ROOT, order);
        assertEquals(FOLDERS * FILES, files.size());
        read(files);
        long ahead = trees().requestsAhead();
        long reads = volume.statistics().diskReads();
        assertTrue(ahead > files.size() * 9 / 10, () -> ahead + " of " + files.size());

        // The control: the same files in no order.
        reopen();
        Collections.shuffle(files, random);
        read(files);
        assertEquals(0, trees().requestsAhead());
        long more = volume.statistics().diskReads();
        assertTrue(reads < more / 2, () -> reads + " reads of containers, in no order " + more);
    }

    @Test
    void aReaderThatLeavesOutSomeFilesIsFollowed() throws IOException {
        List<Found> files = walk(Inode.ROOT, TreeOrder.LISTED);
        files.removeIf(file -> random.nextInt(3) == 0);
        read(files);
        long ahead = trees().requestsAhead();
        assertTrue(ahead > files.size() * 4 / 5, () -> ahead + " of " + files.size());
    }

    @Test
    void twoReadersAreFollowedEachInItsOrder() throws IOException {
        List<Found> listed = walk(Inode.ROOT, TreeOrder.LISTED);
        List<Found> stored = walk(Inode.ROOT, TreeOrder.STORED);
        // In turns of some files: each of them is found by two files of one folder.
        for (int at = 0; at < listed.size(); at += FILES / 2) {
            int end = Math.min(at + FILES / 2, listed.size());
            read(listed.subList(at, end));
            read(stored.subList(at, end));
        }
        long ahead = trees().requestsAhead();
        assertTrue(ahead > listed.size() * 3 / 2, () -> ahead + " of 2 times " + listed.size());
    }

    @Test
    void nothingAboveTheTreeThatIsReadIsReadAhead() throws IOException {
        Namespace names = volume.context().metadata().namespace();
        List<Found> files = walk(Inode.ROOT, TreeOrder.STORED);
        long first = files.get(0).folder;
        List<Found> inFirst =
                files.stream().filter(file -> file.folder == first).toList();
        TreeTrail trail = new TreeTrail(names, first, inFirst.get(0).inode, Long.MAX_VALUE);
        for (Found file : inFirst.subList(1, inFirst.size() - 1)) {
            assertTrue(trail.goTo(first, file.inode, true));
        }
        assertTrue(trail.isProven());
        assertEquals(first, trail.top());
        assertFalse(trail.goTo(first, inFirst.get(0).inode, true), "it does not go back");
        assertFalse(trail.goTo(Inode.ROOT, 1 << 20, true), "it is no file of the tree");
        assertEquals(inFirst.get(inFirst.size() - 1).inode, trail.walk().next());
        assertTrue(trail.goTo(first, inFirst.get(inFirst.size() - 1).inode, true));
    }

    /** Each file has words of one version, and only whole versions are read. */
    @Test
    void whatIsReadAheadIsNeverOlderThanWhatWasWritten() throws Exception {
        List<Found> files = walk(Inode.ROOT, TreeOrder.LISTED);
        for (Found file : files) {
            rewrite(file, 1);
        }
        reopen();
        AtomicBoolean isDone = new AtomicBoolean();
        FutureTask<Void> writer = new FutureTask<>(() -> {
            Random chance = new Random(random.nextLong());
            for (long version = 2; !isDone.get(); version++) {
                rewrite(files.get(chance.nextInt(files.size())), version);
            }
            return null;
        });
        Thread thread = new Thread(writer);
        thread.start();
        for (int round = 0; round < TestSeed.rounds(2); round++) {
            for (Found file : files) {
                long least = versions.get(file.inode);
                long version = version(read(file));
                assertTrue(version >= least, () -> version + " was read after " + least + " was written");
            }
        }
        isDone.set(true);
        writer.get();
        assertTrue(trees().requestsAhead() > 0);
    }

    private final Map<Long, Long> versions = Collections.synchronizedMap(new HashMap<>());

    private void rewrite(Found found, long version) throws IOException {
        ByteBuffer words = ByteBuffer.allocate(8 * 1024);
        while (words.hasRemaining()) {
            words.putLong(version);
        }
        OpenFile file = volume.open(found.inode, true);
        if (version == 1) {
            volume.zero(file, 0, contents.get(found.inode).length, true);
        }
        volume.write(file, 0, words.flip());
        volume.close(file);
        versions.put(found.inode, version);
    }

    private static long version(byte[] content) {
        ByteBuffer words = ByteBuffer.wrap(content, 0, 8 * 1024);
        long version = words.getLong();
        while (words.hasRemaining()) {
            assertEquals(version, words.getLong(), "bytes of two versions");
        }
        return version;
    }
}
