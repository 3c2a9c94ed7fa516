package org.opendedup.sar.sdfs.fuse;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.volume.posix.RenameMode;

class SeenNamesTest {
    private static final long ROOT = 1;
    private static final long FOLDER = 2;
    private static final long FILE = 3;

    private final SeenNames names = new SeenNames(10);

    private static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    private void seeFile() {
        names.saw(ROOT, bytes("folder"), FOLDER);
        names.saw(FOLDER, bytes("file"), FILE);
    }

    @Test
    void aPathIsPutTogetherFromTheRoot() {
        seeFile();
        assertEquals("/folder/file (inode 3)", names.of(FILE));
        assertEquals("/folder/new (in inode 2)", names.of(FOLDER, bytes("new")));
        assertEquals("/", names.of(ROOT));
        assertEquals("/new", names.of(ROOT, bytes("new")));
    }

    @Test
    void whatIsNotKnownIsNotInvented() {
        names.saw(FOLDER, bytes("file"), FILE);
        assertEquals(".../file (inode 3)", names.of(FILE));
        assertEquals("inode 4", names.of(4));
        assertEquals(".../new (in inode 4)", names.of(4, bytes("new")));
    }

    @Test
    void renamesAreFollowed() {
        seeFile();
        names.renamed(FOLDER, bytes("file"), ROOT, bytes("moved"), RenameMode.REPLACE);
        assertEquals("/moved (inode 3)", names.of(FILE));
        names.saw(ROOT, bytes("other"), 4);
        names.renamed(ROOT, bytes("moved"), ROOT, bytes("other"), RenameMode.EXCHANGE);
        assertEquals("/other (inode 3)", names.of(FILE));
        assertEquals("/moved (inode 4)", names.of(4));
        names.renamed(ROOT, bytes("moved"), ROOT, bytes("other"), RenameMode.REPLACE);
        assertEquals("inode 3", names.of(FILE));
        assertEquals("/other (inode 4)", names.of(4));
        names.renamed(ROOT, bytes("folder"), ROOT, bytes("renamed"), RenameMode.REPLACE);
        names.saw(FOLDER, bytes("file"), 5);
        assertEquals("/renamed/file (inode 5)", names.of(5));
    }

    @Test
    void aRemovedNameIsForgotten() {
        seeFile();
        names.opened(FILE);
        names.removed(FOLDER, bytes("file"));
        assertEquals("inode 3", names.of(FILE));
        names.closed(FILE);
        names.saw(FOLDER, bytes("file"), 4);
        assertEquals("/folder/file (inode 4)", names.of(4));
    }

    @Test
    void aLargeFolderPushesOutNeitherOpenFilesNorTheFoldersAbove() {
        seeFile();
        names.opened(FILE);
        names.opened(FILE);
        names.closed(FILE);
        names.saw(FOLDER, bytes("closed"), 4);
        for (int i = 100; i < 200; i++) {
            names.saw(FOLDER, bytes("x" + i), i);
        }
        assertEquals("/folder/file (inode 3)", names.of(FILE));
        assertEquals("/folder/x199 (inode 199)", names.of(199));
        // The control: the table is bounded, and what is not open goes.
        assertEquals("inode 4", names.of(4));
        assertEquals("inode 150", names.of(150));
        names.closed(FILE);
        for (int i = 200; i < 300; i++) {
            names.saw(FOLDER, bytes("x" + i), i);
        }
        assertEquals("inode 3", names.of(FILE));
    }
}
