package org.opendedup.sar.sdfs.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.opendedup.sar.sdfs.restore.RestoredVolume.bytes;
import static org.opendedup.sar.sdfs.restore.TreeRestoreTest.fail;
import static org.opendedup.sar.sdfs.restore.TreeRestoreTest.name;
import static org.opendedup.sar.sdfs.restore.TreeRestoreTest.with;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.sdfs.restore.TreeRestoreTest.Instead;

/** Somebody who owns the folder above the destination does the worst at the worst moment. With openat2, and where it is missing. */
@Timeout(120)
class RestoreAttackTest {
    private static final int OTHER = 4711;

    @TempDir
    Path folder;

    private RestoredVolume volume;
    private Path target;
    private Path victim;
    private String victimBefore = "";

    @BeforeEach
    void makeVolume() throws IOException {
        volume = new RestoredVolume(folder.resolve("base"));
        long sub = volume.makeFolder(Inode.ROOT, "sub", 0777);
        volume.makeFile(sub, "inside", bytes("stored"));
        volume.makeFile(Inode.ROOT, "file", bytes("stored"));
        Path parent = Files.createDirectory(folder.resolve("parent"));
        Files.setAttribute(parent, "unix:mode", 01777);
        target = parent.resolve("out");
        victim = Files.createDirectory(folder.resolve("victim"));
        Files.createDirectory(victim.resolve("sub"));
        Files.writeString(victim.resolve("file"), "secret");
        victimBefore = state(victim);
    }

    @AfterEach
    void closeVolume() throws IOException {
        volume.close();
        assertEquals(victimBefore, state(victim));
    }

    /** Modes, owners and contents of all that is in a folder. */
    private static String state(Path of) throws IOException {
        List<String> states = new ArrayList<>();
        try (Stream<Path> all = Files.walk(of)) {
            for (Path path : (Iterable<Path>) all.sorted()::iterator) {
                states.add(path + " " + Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS) + " "
                        + Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS) + " "
                        + (Files.isRegularFile(path) ? Files.readString(path) : ""));
            }
        }
        return String.join("\n", states);
    }

    private static PosixCalls calls(boolean hasOpenat2) {
        return hasOpenat2
                ? new PosixCalls()
                : with("syscall", (arguments, real) -> (long) (int) fail(PosixCalls.ENOSYS));
    }

    private PosixCalls replacing(boolean hasOpenat2, String call, String before, Attack attack) {
        return with(calls(hasOpenat2), call, once(before, attack));
    }

    /** What the attacker does. */
    @FunctionalInterface
    private interface Attack {
        void run() throws IOException;
    }

    private static Instead once(String before, Attack attack) {
        boolean[] done = {false};
        return (arguments, real) -> {
            boolean isIt = Stream.of(arguments)
                    .anyMatch(argument -> argument instanceof byte[] bytes
                            && bytes.length > 0
                            && name(bytes).equals(before));
            if (isIt && !done[0]) {
                done[0] = true;
                attack.run();
            }
            return real.call();
        };
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLinkThatIsPutInTheDestinationsPlaceBeforeItIsMadeLeadsNowhere(boolean hasOpenat2) throws IOException {
        PosixCalls posix = replacing(hasOpenat2, "mkdirat", "out", () -> Files.createSymbolicLink(target, victim));
        var e = assertThrows(IOException.class, () -> volume.restore(target, posix));
        assertTrue(
                e.getMessage().contains("somebody has put something else in the place of " + target), e.getMessage());
    }

    @Test
    void whatIsDoneByPathIsLedAway() throws IOException {
        // The control: this attack is seen by the test where it succeeds.
        Files.createSymbolicLink(target, victim);
        String modes = state(victim);
        Files.setAttribute(target, "unix:mode", 0700);
        assertFalse(state(victim).equals(modes));
        Files.setAttribute(victim, "unix:mode", 0755);
        assertEquals(victimBefore, state(victim));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aDestinationThatIsMovedAwayIsFilledWhereItIsAndTheLinkInItsPlaceLeftAlone(boolean hasOpenat2)
            throws IOException {
        Path moved = target.resolveSibling("moved");
        PosixCalls posix = replacing(hasOpenat2, "mkdirat", "sub", () -> {
            Files.move(target, moved);
            Files.createSymbolicLink(target, victim);
        });
        var e = assertThrows(IOException.class, () -> volume.restore(target, posix));
        assertTrue(
                e.getMessage().contains("somebody has put something else in the place of " + target), e.getMessage());
        assertEquals("stored", Files.readString(moved.resolve("sub/inside")));
        assertEquals(0040700, Files.getAttribute(moved, "unix:mode"), "nobody else gets in");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aFolderWithinThatBecomesALinkIsNotFollowed(boolean hasOpenat2) throws IOException {
        // Only the writing user could do that; but neither then.
        PosixCalls posix = replacing(hasOpenat2, "openat", "file", () -> {});
        PosixCalls swapping = with(posix, "mkdirat", (arguments, real) -> {
            Object made = real.call();
            if (name(arguments[1]).equals("sub")) {
                Files.delete(target.resolve("sub"));
                Files.createSymbolicLink(target.resolve("sub"), victim);
            }
            return made;
        });
        var e = assertThrows(IOException.class, () -> volume.restore(target, swapping));
        assertTrue(e.getMessage().startsWith("opening " + target.resolve("sub") + ": "), e.getMessage());
    }

    @Test
    void aWorkFolderThatIsMovedAwayTakesTheJournalAlong() throws IOException {
        Path work = target.resolveSibling(".out.sdfs-restore");
        PosixCalls posix = replacing(true, "mkdirat", "sub", () -> {
            Files.move(work, target.resolveSibling("moved"));
            Files.createSymbolicLink(work, victim);
        });
        volume.restore(target, posix);
        assertEquals("stored", Files.readString(target.resolve("sub/inside")));
        assertTrue(Files.isSymbolicLink(work), "not ours");
    }

    @Test
    void aFileThatIsPutInTheDestinationsPlaceIsNotWrittenTo() throws IOException {
        long file = volume.volume.lookup(Inode.ROOT, bytes("file")).inode();
        PosixCalls posix =
                replacing(true, "openat", "out", () -> Files.createSymbolicLink(target, victim.resolve("file")));
        var e = assertThrows(
                IOException.class,
                () -> new TreeRestore(volume.volume, "file", target, Long.MAX_VALUE, posix).run(file));
        assertTrue(e.getMessage().contains(target + " exists already"), e.getMessage());
    }

    @Test
    void whatOthersChangeAfterTheLastStepIsLeftAloneByARestoreThatGoesOn() throws IOException {
        PosixCalls killed = with("unlinkat", (arguments, real) -> fail(PosixCalls.EACCES));
        assertThrows(IOException.class, () -> volume.restore(target, killed));
        assertEquals(0040755, Files.getAttribute(target, "unix:mode"), "the last step is done");
        Files.delete(target.resolve("file"));
        Files.createSymbolicLink(target.resolve("file"), victim.resolve("file"));
        Files.move(target.resolve("sub"), folder.resolve("theirs"));
        Files.createSymbolicLink(target.resolve("sub"), victim);
        Files.setAttribute(target, "unix:mode", 0777);

        RestoreStatus status = volume.restore(target);

        assertEquals(RestoreStatus.Phase.DONE, status.phase());
        assertEquals(0040755, Files.getAttribute(target, "unix:mode"));
        assertTrue(Files.isSymbolicLink(target.resolve("sub")));
        assertFalse(Files.exists(target.resolveSibling(".out.sdfs-restore")));
    }

    @Test
    void theJournalOfAnotherDestinationIsNotBelieved() throws IOException {
        PosixCalls killed = with("syncfs", (arguments, real) -> fail(PosixCalls.EACCES));
        PosixCalls late = with("unlinkat", (arguments, real) -> fail(PosixCalls.EACCES));
        Path other = target.resolveSibling("other");
        assertThrows(IOException.class, () -> volume.restore(other, late));
        assertThrows(IOException.class, () -> volume.restore(target, killed));
        Path work = target.resolveSibling(".out.sdfs-restore");
        Files.move(work, target.resolveSibling("moved"));
        Files.move(target.resolveSibling(".other.sdfs-restore"), work);
        var e = assertThrows(IOException.class, () -> volume.restore(target));
        assertTrue(e.getMessage().contains("was changed since it was restored"), e.getMessage());
    }

    @Test
    void anEmptyFolderOfSomebodyElseIsTakenOver() throws IOException {
        assumeTrue(System.getProperty("user.name").equals("root"), "needs root, to give folders away");
        Files.createDirectory(target);
        Files.setAttribute(target, "unix:uid", OTHER);
        Files.setAttribute(target, "unix:mode", 0777);
        Files.setAttribute(target.getParent(), "unix:uid", OTHER);
        int[] meanwhile = {0};
        PosixCalls looking = with("ftruncate", (arguments, real) -> {
            meanwhile[0] = (int) Files.getAttribute(target, "unix:mode");
            assertEquals(0, Files.getAttribute(target, "unix:uid"), "root's alone");
            return real.call();
        });
        volume.restore(target, looking);
        assertEquals(0040700, meanwhile[0]);
        assertEquals("stored", Files.readString(target.resolve("file")));
        int owner = volume.volume.attributes(Inode.ROOT).uid();
        assertEquals(owner, Files.getAttribute(target, "unix:uid"));
        assertEquals(0040755, Files.getAttribute(target, "unix:mode"));
    }

    @Test
    void whatSomebodyPutsIntoAFolderThatIsTakenOverIsNotBuried() throws IOException {
        assumeTrue(System.getProperty("user.name").equals("root"), "needs root, to give folders away");
        Files.createDirectory(target);
        Files.setAttribute(target, "unix:uid", OTHER);
        PosixCalls posix = with("fchmod", (arguments, real) -> {
            if (Files.notExists(target.resolve("theirs"))) {
                Files.createFile(target.resolve("theirs"));
            }
            return real.call();
        });
        var e = assertThrows(IOException.class, () -> volume.restore(target, posix));
        assertTrue(e.getMessage().contains("exists already"), e.getMessage());
        assertEquals(OTHER, Files.getAttribute(target, "unix:uid"));
        assertEquals(0040755, Files.getAttribute(target, "unix:mode"));
    }

    @Test
    void linksOnTheWayAreFollowedIfTheyAreRootsOrTheUsers() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("parent"));
        volume.restore(link.resolve("out"));
        assertEquals("stored", Files.readString(target.resolve("file")));
        Files.createSymbolicLink(folder.resolve("absolute"), target);
        volume.restore(folder.resolve("absolute/second"));
        assertEquals("stored", Files.readString(target.resolve("second/file")));
        Files.createSymbolicLink(folder.resolve("circle"), Path.of("circle"));
        assertThrows(IOException.class, () -> volume.restore(folder.resolve("circle/out")));
        assertThrows(IOException.class, () -> volume.restore(target.resolve("file/out")));
    }

    @Test
    void aLinkOfSomebodyElseOnTheWayIsRefused() throws IOException {
        assumeTrue(System.getProperty("user.name").equals("root"), "needs root, to give links away");
        Path link = Files.createSymbolicLink(folder.resolve("link"), victim);
        Files.setAttribute(link, "unix:uid", OTHER, LinkOption.NOFOLLOW_LINKS);
        var e = assertThrows(IOException.class, () -> volume.restore(link.resolve("out")));
        assertTrue(e.getMessage().contains("a symbolic link of user " + OTHER), e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "../victim", "a/b", "/etc/passwd"})
    void aNameThatLeadsElsewhereIsRefusedAtTheLastMomentToo(String bad) {
        TreeEntry entry = new TreeEntry(0, bytes(bad), 7, 0100644, 1, 0, 0, 0, 0, 0, 0, 0, new byte[0], List.of());
        assertThrows(IOException.class, () -> NewEntry.name(entry));
    }
}
