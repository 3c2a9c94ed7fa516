package org.opendedup.sar.sdfs.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.opendedup.sar.sdfs.restore.RestoredVolume.bytes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.io.handle.TrustedPath;
import org.opendedup.sar.metadata.record.Inode;

/**
 * Where something is mounted in a restore's way. Owner and mode of what lies in a FUSE file system are what its server
 * says.
 */
@Timeout(120)
class RestoreMountTest {
    private static final int ROOT = 0;
    private static final int OTHER = 4711;

    @TempDir
    Path folder;

    private RestoredVolume volume;
    private Path target;
    private Path work;

    @BeforeEach
    void makeVolume() throws IOException {
        volume = new RestoredVolume(folder.resolve("base"));
        volume.makeFile(Inode.ROOT, "file", bytes("stored"));
        target = folder.resolve("out");
        work = folder.resolve(".out.sdfs-restore");
    }

    @AfterEach
    void closeVolume() throws IOException {
        volume.close();
    }

    private static Path privateFolder(Path path) throws IOException {
        return Files.createDirectory(
                path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    @Test
    void aWorkFolderThatIsAMountOfAnotherUserIsNotTrusted() throws IOException {
        assumeTrue(ForeignFuse.isPossible(), "needs root and /dev/fuse");
        privateFolder(work);
        try (ForeignFuse fuse = new ForeignFuse(work, OTHER)) {
            assertEquals(0040700, Files.getAttribute(work, "unix:mode"), "it says so");
            assertEquals(ROOT, Files.getAttribute(work, "unix:uid"), "it says so");
            assertWorkIsRefused();
        }
        // The control: it was the mount.
        volume.restore(target);
        assertEquals("stored", Files.readString(target.resolve("file")));
    }

    @Test
    void aWorkFolderThatIsAnyMountIsNotTrusted() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "needs root, to mount");
        privateFolder(work);
        run("mount", "-t", "tmpfs", "-o", "mode=0700", "tmpfs", work.toString());
        try {
            assertWorkIsRefused();
        } finally {
            run("umount", work.toString());
        }
    }

    private static void run(String... command) throws Exception {
        assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor());
    }

    private void assertWorkIsRefused() {
        var e = assertThrows(IOException.class, () -> volume.restore(target));
        assertTrue(e.getMessage().startsWith(work + " is not a folder that a restore"), e.getMessage());
        assertFalse(Files.exists(target));
    }

    @Test
    void aPrivateFolderThatNoRestoreHasMadeKeepsItsFiles() throws IOException {
        // Who owns the folder above may have moved it there.
        Path precious = Files.writeString(privateFolder(work).resolve("precious"), "mine");
        assertWorkIsRefused();
        assertEquals("mine", Files.readString(precious));
        // The control: what a restore leaves that was ended while it wrote its first journal.
        Files.move(precious, work.resolve("journal.123.tmp"));
        volume.restore(target);
        assertFalse(Files.exists(work));
    }

    @Test
    void nothingIsRestoredToAFuseMountOfAnotherUser() throws IOException {
        assumeTrue(ForeignFuse.isPossible(), "needs root and /dev/fuse");
        Files.createDirectory(target);
        try (ForeignFuse fuse = new ForeignFuse(target, OTHER)) {
            for (Path into : new Path[] {target, target.resolve("inner"), target.resolve("link/inner")}) {
                var e = assertThrows(IOException.class, () -> volume.restore(into));
                assertTrue(
                        e.getMessage().contains("a file system that user " + OTHER + " has mounted"), e.getMessage());
            }
        }
        // A restore that was begun there continues after the unmount, in the folder below.
        volume.restore(target);
        assertEquals("stored", Files.readString(target.resolve("file")));
    }

    @Test
    void aFuseMountOfRootIsAFileSystemLikeAnyOther() throws IOException {
        // The control of the test above.
        assumeTrue(ForeignFuse.isPossible(), "needs root and /dev/fuse");
        Files.createDirectory(target);
        try (ForeignFuse fuse = new ForeignFuse(target, ROOT)) {
            var e = assertThrows(IOException.class, () -> volume.restore(target.resolve("inner")));
            assertTrue(e.getMessage().endsWith("Function not implemented"), e.getMessage());
            TrustedPath.open(new Libc(), target).close();
        }
    }

    @Test
    void anEmptyFileSystemOfRootsIsRestoredTo() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "needs root, to mount");
        Files.createDirectory(target);
        run("mount", "-t", "tmpfs", "tmpfs", target.toString());
        try {
            volume.restore(target);
            assertEquals("stored", Files.readString(target.resolve("file")));
        } finally {
            run("umount", target.toString());
        }
    }
}
