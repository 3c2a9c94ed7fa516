package org.opendedup.sar.sdfs.restore;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files.setAttribute takes the number of a mode, with all its bits. */
class SafeParentsTest {
    private static final int OTHER = 4711;

    @TempDir
    Path folder;

    private Path parent;
    private SafeParents parents;

    @BeforeEach
    void makeParent() throws IOException {
        parent = Files.createDirectory(folder.resolve("parent"));
        parents = new SafeParents((int) Files.getAttribute(parent, "unix:uid"));
    }

    @Test
    void foldersOfTheUserAndRootWillDo() throws IOException {
        parents.check(parent.resolve("new"));
        parents.check(Files.createDirectory(parent.resolve("empty")));
    }

    @Test
    void aFolderThatOthersMayWriteToIsRefusedUnlessItIsSticky() throws IOException {
        Files.setAttribute(parent, "unix:mode", 0777);
        assertIsRefused(parent.resolve("new"));
        assertIsRefused(Files.createDirectories(parent.resolve("sub")).resolve("new"));
        Files.setAttribute(parent, "unix:mode", 01777);
        parents.check(parent.resolve("new"));
    }

    @Test
    void aFolderOfSomebodyElseIsRefused() throws IOException {
        assumeTrue(System.getProperty("user.name").equals("root"), "needs root, to give folders away");
        Path empty = Files.createDirectory(parent.resolve("empty"));
        Files.setAttribute(empty, "unix:uid", OTHER);
        var e = assertThrows(IOException.class, () -> parents.check(empty));
        assertTrue(e.getMessage().contains("is not of user"), e.getMessage());
        Files.setAttribute(parent, "unix:uid", OTHER);
        assertIsRefused(parent.resolve("new"));
    }

    @Test
    void aLinkOnTheWayIsRefused() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), parent);
        var e = assertThrows(IOException.class, () -> parents.check(link.resolve("new")));
        assertTrue(e.getMessage().endsWith("name it " + parent.resolve("new")), e.getMessage());
    }

    private void assertIsRefused(Path target) {
        var e = assertThrows(IOException.class, () -> parents.check(target));
        assertTrue(e.getMessage().contains("can replace what is in"), e.getMessage());
    }
}
