package org.opendedup.sar.restore.tree;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.Modes;

/** Trees in which following a reader could cost more than it gains. */
class TreeTrailTest {
    private static final long TOP = 10;
    private static final long FILE = 1_000_000;
    private static final long LAST = 2_000_000;

    @AutoClose
    private final MetadataStore metadata;

    private final Namespace names;

    TreeTrailTest() throws IOException {
        metadata = MetadataStore.format(
                new HeapKeyValueStore(),
                new MetadataHeader(new UUID(1, 1), 16 << 10, 0, MetadataHeader.FORMAT_VERSION));
        names = metadata.namespace();
    }

    private void add(long parent, long inode, int type) {
        names.putEntry(parent, Long.toString(inode).getBytes(UTF_8), inode, type);
    }

    private void addFolder(long parent, long folder) {
        add(parent, folder, Modes.DIRECTORY);
        names.put(new Inode(
                folder,
                0,
                Modes.DIRECTORY | 0755,
                2,
                0,
                0,
                0,
                0,
                0,
                0,
                parent,
                Inode.Times.ofCreation(0),
                new byte[0]));
    }

    @Test
    void aWalkEndsAtManyFoldersWithoutFiles() throws IOException {
        add(TOP, 11, Modes.REGULAR);
        for (int i = 0; i < TreeWalk.MOST_WITHOUT_FILES; i++) {
            addFolder(TOP, 100 + i);
        }
        add(TOP, LAST, Modes.REGULAR);
        assertEquals(LAST, new TreeWalk(names, TreeOrder.STORED, TOP, TOP, 11).next());
        addFolder(TOP, 99);
        TreeWalk walk = new TreeWalk(names, TreeOrder.STORED, TOP, TOP, 11);
        assertEquals(0, walk.next());
        assertEquals(0, walk.next());
        assertEquals(0, walk.heapBytes());
    }

    @Test
    void aFolderOfTooManyEntriesIsNotFollowed() throws IOException {
        for (int i = 0; i < FolderEntries.MAX_ENTRIES; i++) {
            add(TOP, FILE + i, Modes.REGULAR);
        }
        assertTrue(new TreeTrail(names, TOP, FILE, Long.MAX_VALUE).isFollowed());
        add(TOP, LAST, Modes.REGULAR);
        TreeTrail trail = new TreeTrail(names, TOP, FILE, Long.MAX_VALUE);
        assertFalse(trail.isFollowed());
        assertFalse(trail.goTo(TOP, FILE + 1, true));
    }

    /** The folders above are read once, whatever others read meanwhile; then a file made later is not seen. */
    @Test
    void whatFollowsAboveTheTopFolderIsReadOnceForAllFilesOfOthers() throws IOException {
        addFolder(Inode.ROOT, TOP);
        addFolder(TOP, 100);
        add(100, FILE, Modes.REGULAR);
        add(100, FILE + 1, Modes.REGULAR);
        add(TOP, LAST, Modes.REGULAR);
        TreeTrail trail = new TreeTrail(names, 100, FILE, Long.MAX_VALUE);
        assertTrue(trail.goTo(100, FILE + 1, true));
        assertFalse(trail.goTo(500, 501, true), "a file of another reader");
        add(TOP, LAST + 1, Modes.REGULAR);
        assertFalse(trail.goTo(TOP, LAST + 1, true));
        assertTrue(trail.goTo(TOP, LAST, true));
        assertEquals(TOP, trail.top());
    }

    /** The last files of folders within folders: in each of them above, many follow. */
    @Test
    void whatIsLookedAtAboveTheTopFolderIsBounded() throws IOException {
        int levels = 10;
        int files = 1000;
        for (int level = 1; level <= levels; level++) {
            addFolder(level == 1 ? Inode.ROOT : TOP + level - 1, TOP + level);
            for (int i = 0; i < files; i++) {
                add(TOP + level, FILE + level * files + i, Modes.REGULAR);
            }
        }
        long innermost = TOP + levels;
        long last = FILE + levels * files + files - 1;
        TreeTrail unbounded = new TreeTrail(names, innermost, last - 1, Long.MAX_VALUE);
        TreeTrail bounded = new TreeTrail(names, innermost, last - 1, 0);
        assertFalse(unbounded.goTo(500, 501, true), "a file of another reader");
        assertFalse(bounded.goTo(500, 501, true), "a file of another reader");
        assertTrue(bounded.heapBytes() < unbounded.heapBytes(), () -> bounded + " bytes");
    }
}
