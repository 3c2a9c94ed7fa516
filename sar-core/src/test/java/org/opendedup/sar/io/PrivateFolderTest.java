package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import jnr.ffi.LibraryLoader;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateFolderTest {
    private static final int OTHER = 12345;

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
    void aFolderIsSafeUnlessOthersMayWriteThere() throws IOException {
        PrivateFolder.at(kept).requireSafe();
        set(kept, "rwxr-xr-x");
        PrivateFolder.at(kept).requireSafe();
        PrivateFolder.at(kept.resolve("missing/too")).requireSafe();
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
        assertNotSafe(kept, kept);
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
    void everyLinkOnTheWayCountsAlsoWhereAnotherLeadsToIt() throws IOException {
        Path open = Files.createDirectory(temporary.resolve("open"));
        Path second = Files.createSymbolicLink(open.resolve("second"), kept);
        Path first = Files.createSymbolicLink(temporary.resolve("first"), Path.of("open/second"));
        PrivateFolder.at(first).requireSafe();
        PrivateFolder.at(first.resolve("missing")).requireSafe();
        set(open, "rwxrwxrwx");
        assertNotSafe(second, open);
        assertNotSafe(first, open);
        assertNotSafe(first.resolve("missing"), open);
    }

    @Test
    void aLinkThatAnotherUserMadeInAStickyFolderIsNotSafe() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")));
        Path shared = Files.createDirectory(temporary.resolve("shared"));
        Path link = Files.createSymbolicLink(shared.resolve("link"), kept);
        Files.setAttribute(shared, "unix:mode", 01777);
        PrivateFolder.at(link).requireSafe();
        Files.setAttribute(link, "unix:uid", OTHER, LinkOption.NOFOLLOW_LINKS);
        AccessDeniedException e = assertThrows(
                AccessDeniedException.class, () -> PrivateFolder.at(link).requireSafe());
        assertTrue(e.getMessage().contains("belongs to user " + OTHER), e.getMessage());
        set(shared, "rwxr-xr-x");
        PrivateFolder.at(link).requireSafe();
    }

    @Test
    void aLoopOfLinksIsRefused() throws IOException {
        Path loop = Files.createSymbolicLink(above.resolve("loop"), Path.of("loop"));
        assertThrows(FileSystemException.class, () -> PrivateFolder.at(loop).requireSafe());
        Path upAndDown = above.resolve("kept/../../above/./kept");
        PrivateFolder.at(upAndDown).requireSafe();
        set(above, "rwxrwxrwx");
        assertNotSafe(upAndDown, above);
    }

    @Test
    void nobodyComesIntoAFolderWhileWhatIsInItIsNarrowed() throws IOException {
        Path inner = Files.createDirectory(kept.resolve("inner"));
        Path file = Files.createFile(inner.resolve("file"));
        set(file, "rw-r--r--");
        set(inner, "rwxr-xr-x");
        set(kept, "rwxr-xr-x");
        List<String> modes = new ArrayList<>();
        PrivateFolder.at(kept).narrowAll(path -> modes.add(temporary.relativize(path) + " in " + mode(kept)));
        assertEquals(
                List.of(
                        "above/kept in rwxr-xr-x",
                        "above/kept/inner in rwx------",
                        "above/kept/inner/file in rwx------"),
                modes);
    }

    /** An interrupted narrowing is visible, though no other user has access. */
    @Test
    void narrowingThatWasCutShortIsDoneAnew() throws IOException {
        Path file = Files.createFile(kept.resolve("file"));
        set(file, "rw-r--r--");
        set(kept, "rwxr-xr-x");
        PrivateFolder folder = PrivateFolder.at(kept);
        assertThrows(
                IllegalStateException.class,
                () -> folder.narrowAll(path -> {
                    if (path.endsWith("file")) {
                        throw new IllegalStateException("the process ends");
                    }
                }));
        assertEquals("rwx------", mode(kept));
        assertTrue(folder.isWide());
        assertEquals(1, folder.narrowAll());
        assertFalse(folder.isWide());
        assertEquals(0700, (int) Files.getAttribute(kept, "unix:mode") & 07777);
    }

    @Test
    void whatBelongsToAnotherUserStaysBehindTheFolderOrIsNamed() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")));
        Path foreign = Files.createFile(kept.resolve("a foreign one"));
        Path file = Files.createFile(kept.resolve("file"));
        set(foreign, "rw-r--r--");
        set(file, "rw-r--r--");
        set(kept, "rwxr-xr-x");
        Files.setAttribute(file, "unix:uid", OTHER);
        Files.setAttribute(kept, "unix:uid", OTHER);
        assertEquals(2, narrowAsOther());
        assertEquals("rwx------ rw------- rw-r--r--", mode(kept) + " " + mode(file) + " " + mode(foreign));

        Files.setAttribute(kept, "unix:uid", 0);
        set(kept, "rwxr-xr-x");
        AccessDeniedException refused = assertThrows(AccessDeniedException.class, this::narrowAsOther);
        assertTrue(refused.getMessage().contains("belongs to user 0"), refused.getMessage());
        assertTrue(refused.getMessage().contains("chmod go-rwx " + kept), refused.getMessage());
    }

    /** With that user's rights, which the kernel gives to a single thread. */
    private int narrowAsOther() throws IOException {
        LibC process = LibraryLoader.create(LibC.class).load("c");
        process.setfsuid(OTHER);
        try {
            return new PrivateFolder(kept, OTHER).narrowAll();
        } finally {
            process.setfsuid(0);
        }
    }

    @Test
    void foldersAboveGetNoMoreThanTheUmaskAllows() throws IOException {
        LibC process = LibraryLoader.create(LibC.class).load("c");
        int before = process.umask(077);
        try {
            PrivateFiles.createFolders(above.resolve("narrow/b"));
            process.umask(027);
            PrivateFiles.createFolders(above.resolve("group/b"));
            process.umask(0);
            PrivateFiles.createFolders(above.resolve("wide/b"));
        } finally {
            process.umask(before);
        }
        assertEquals("rwx------", mode(above.resolve("narrow")));
        assertEquals("rwxr-x---", mode(above.resolve("group")));
        assertEquals("rwxr-xr-x", mode(above.resolve("wide")));
        assertEquals("rwx------", mode(above.resolve("wide/b")));
    }

    /** Numbers from the manual pages. */
    public interface LibC {
        int umask(int mask);

        int setfsuid(int user);
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
