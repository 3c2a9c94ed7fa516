package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateFolderTest {
    @TempDir
    Path temporary;

    private Path above;
    private Path kept;

    @BeforeEach
    void make() throws IOException {
        set(temporary, "rwxr-xr-x");
        above = Files.createDirectory(temporary.resolve("above"));
        kept = Files.createDirectory(above.resolve("kept"));
        set(above, "rwxr-xr-x");
        set(kept, "rwx------");
    }

    @Test
    void aFolderThatOthersCannotWriteIsSafe() throws IOException {
        PrivateFolder.at(kept).requireSafe();
        set(kept, "rwxr-xr-x");
        PrivateFolder.at(kept).requireSafe();
        PrivateFolder.at(kept.resolve("missing/too")).requireSafe();
    }

    @Test
    void aFolderWhereOthersMayWriteIsNotSafe() throws IOException {
        for (String mode : new String[] {"rwx----w-", "rwx-w----", "rwxrwxrwx"}) {
            set(kept, mode);
            assertNotSafe(kept, kept);
        }
        Files.setAttribute(kept, "unix:mode", 01777);
        assertNotSafe(kept, kept);
    }

    @Test
    void aFolderThatOthersCanReplaceIsNotSafe() throws IOException {
        set(above, "rwxrwxrwx");
        assertNotSafe(kept, above);
        assertNotSafe(kept.resolve("missing"), above);
        Files.setAttribute(above, "unix:mode", 01777);
        PrivateFolder.at(kept).requireSafe();
    }

    @Test
    void whereNobodyComesNobodyWrites() throws IOException {
        set(kept, "rwxrwxrwx");
        set(above, "rwx------");
        PrivateFolder.at(kept).requireSafe();
    }

    @Test
    void aLinkIsAsSafeAsItsPlaceAndWhereItLeads() throws IOException {
        Path open = Files.createDirectory(temporary.resolve("open"));
        Path link = Files.createSymbolicLink(open.resolve("link"), kept);
        PrivateFolder.at(link).requireSafe();
        set(open, "rwxrwxrwx");
        assertNotSafe(link, open);
        set(open, "rwxr-xr-x");
        set(above, "rwxrwxrwx");
        assertNotSafe(link, above);
    }

    @Test
    void narrowingTakesOthersPermissionsFromAllThatIsThere() throws IOException {
        Path inner = Files.createDirectory(kept.resolve("inner"));
        Path file = Files.createFile(inner.resolve("file"));
        Path link = Files.createSymbolicLink(inner.resolve("link"), temporary);
        set(file, "rw-r--r--");
        set(inner, "rwxr-xr-x");
        set(kept, "rwxr-xr-x");
        PrivateFolder folder = PrivateFolder.at(kept);
        assertTrue(folder.isWide());
        assertEquals(3, folder.narrowAll());
        assertEquals("rw-------", mode(file));
        assertEquals("rwx------", mode(inner));
        assertEquals("rwxr-xr-x", mode(link), "what a link leads to is not the folder's");
        assertFalse(folder.isWide());
        assertEquals(0, folder.narrowAll());
    }

    @Test
    void newFoldersAreTheOwnersOnlyAndThoseAboveAreAsThatWhereTheyAreMade() throws IOException {
        PrivateFiles.createFolders(above.resolve("a/b"));
        assertEquals("rwxr-xr-x", mode(above.resolve("a")));
        assertEquals("rwx------", mode(above.resolve("a/b")));
        PrivateFiles.createFolders(kept.resolve("a/b"));
        assertEquals("rwx------", mode(kept.resolve("a")));
    }

    private static void assertNotSafe(Path folder, Path named) {
        AccessDeniedException e = assertThrows(
                AccessDeniedException.class, () -> PrivateFolder.at(folder).requireSafe());
        assertTrue(e.getMessage().contains("chmod go-w " + named), e.getMessage());
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    private static void set(Path path, String mode) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    }
}
