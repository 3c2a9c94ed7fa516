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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.io.handle.Handle;
import org.opendedup.sar.io.handle.TrustedPath;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.sdfs.restore.TreeRestoreTest.Instead;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;

/**
 * Somebody who owns the folder above the destination does the worst at the worst moment. With openat2, and where it is
 * missing.
 */
@Timeout(120)
class RestoreAttackTest {
    private static final int OTHER = 4711;
    /** Calls that may give the destination its name. */
    private static final List<String> MAKING = List.of("openat", "symlinkat", "mknodat", "linkat", "renameat2");

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

    private static Libc calls(boolean hasOpenat2) {
        return hasOpenat2 ? new Libc() : with("syscall", (arguments, real) -> (long) (int) fail(Errno.ENOSYS));
    }

    private Libc replacing(boolean hasOpenat2, String call, String before, Attack attack) {
        return replacing(calls(hasOpenat2), call, before, attack);
    }

    private static Libc replacing(Libc calls, String call, String before, Attack attack) {
        return with(calls, call, once(before, attack));
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
        Libc posix = replacing(hasOpenat2, "mkdirat", "out", () -> Files.createSymbolicLink(target, victim));
        var e = assertThrows(IOException.class, () -> volume.restore(target, posix));
        assertTrue(e.getMessage().contains("another process has replaced " + target), e.getMessage());
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
        Libc posix = replacing(hasOpenat2, "mkdirat", "sub", () -> {
            Files.move(target, moved);
            Files.createSymbolicLink(target, victim);
        });
        var e = assertThrows(IOException.class, () -> volume.restore(target, posix));
        assertTrue(e.getMessage().contains("another process has replaced " + target), e.getMessage());
        assertEquals("stored", Files.readString(moved.resolve("sub/inside")));
        assertEquals(0040700, Files.getAttribute(moved, "unix:mode"), "nobody else gets in");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aFolderWithinThatBecomesALinkIsNotFollowed(boolean hasOpenat2) throws IOException {
        // Only the writing user could do that; but neither then.
        Libc posix = replacing(hasOpenat2, "openat", "file", () -> {});
        Libc swapping = with(posix, "mkdirat", (arguments, real) -> {
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
        Libc posix = replacing(true, "mkdirat", "sub", () -> {
            Files.move(work, target.resolveSibling("moved"));
            Files.createSymbolicLink(work, victim);
        });
        volume.restore(target, posix);
        assertEquals("stored", Files.readString(target.resolve("sub/inside")));
        assertTrue(Files.isSymbolicLink(work), "not ours");
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "link", "fifo", "device"})
    void whatIsPutInThePlaceOfASingleFileBeforeItGetsThereStays(String name) throws IOException {
        makeOthers();
        Libc posix = calls(true);
        for (String call : MAKING) {
            posix = replacing(posix, call, "out", () -> Files.createSymbolicLink(target, victim.resolve("file")));
        }
        Libc attacked = posix;
        var e = assertThrows(IOException.class, () -> restoreOne(name, attacked));
        assertTrue(e.getMessage().contains(target + " exists already"), e.getMessage());
        assertEquals(victim.resolve("file"), Files.readSymbolicLink(target));
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "link", "fifo", "device"})
    void whatTakesThePlaceOfASingleFileOnceItIsThereIsLeftAlone(String name) throws IOException {
        makeOthers();
        boolean[] attacked = {false};
        Libc posix = calls(true);
        for (String call : MAKING) {
            posix = with(posix, call, (arguments, real) -> {
                Object result = real.call();
                if (!attacked[0] && Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
                    attacked[0] = true;
                    replaceByVictims(name);
                }
                return result;
            });
        }
        Libc replacing = posix;
        var e = assertThrows(IOException.class, () -> restoreOne(name, replacing));
        assertTrue(attacked[0]);
        assertTrue(e.getMessage().contains("another process has replaced " + target), e.getMessage());
    }

    @Test
    void whatIsDoneToANodeByItsNameReachesTheVictims() throws IOException {
        // The control of the test above: the victim's node is changed by whoever goes by the name.
        makeOthers();
        Files.createFile(target);
        replaceByVictims("fifo");
        Files.setAttribute(target, "unix:mode", 0622);
        assertFalse(state(victim).equals(victimBefore));
        Files.setAttribute(victim.resolve("fifo"), "unix:mode", 0600);
        assertEquals(victimBefore, state(victim));
    }

    /** A link, a fifo and a device for anybody, which the victim has too, for itself. */
    private void makeOthers() throws IOException {
        assumeTrue(System.getProperty("user.name").equals("root"), "needs root, to make devices");
        Owner owner = new Owner(OTHER, OTHER);
        volume.volume.makeSymbolicLink(Inode.ROOT, bytes("link"), bytes("file"), owner);
        volume.volume.makeNode(Inode.ROOT, bytes("fifo"), 0010622, 0, owner);
        volume.volume.makeNode(Inode.ROOT, bytes("device"), 0020622, 0x103, owner);
        Libc posix = new Libc();
        try (Handle folder = TrustedPath.open(posix, victim)) {
            for (TreeEntry node : List.of(node(0010600, 0), node(0020600, 0x103), node(0120777, 0))) {
                String name = node.isSymbolicLink() ? "link" : node.device() == 0 ? "fifo" : "device";
                assertEquals(0, NewEntry.make(posix, folder, bytes(name), node));
            }
        }
        victimBefore = state(victim);
    }

    private static TreeEntry node(int mode, int device) {
        return new TreeEntry(0, bytes("node"), 7, mode, 1, 0, 0, device, 0, 0, 0, 0, bytes("file"), List.of());
    }

    /** Gives a thing of the victim's the destination's name. */
    private void replaceByVictims(String name) throws IOException {
        Files.delete(target);
        Files.createLink(target, victim.resolve(name));
    }

    private void restoreOne(String name, Libc posix) throws IOException {
        long inode = volume.volume.lookup(Inode.ROOT, bytes(name)).inode();
        new TreeRestore(volume.volume, name, target, Long.MAX_VALUE, posix).run(inode);
    }

    /** The owner of the folder above gives himself rights to whatever is made in it. */
    @ParameterizedTest
    @ValueSource(strings = {"file", "fifo", "device"})
    void theAccessListOfTheFolderAboveIsNotGivenOn(String name) throws Exception {
        makeOthers();
        Libc posix = new Libc();
        ByteBuffer list =
                ByteBuffer.allocate(4 + 5 * 8).order(ByteOrder.LITTLE_ENDIAN).putInt(2);
        for (int[] entry : new int[][] {{1, 7, -1}, {2, 7, OTHER}, {4, 7, -1}, {0x10, 7, -1}, {0x20, 5, -1}}) {
            list.putShort((short) entry[0]).putShort((short) entry[1]).putInt(entry[2]);
        }
        try (Handle parent = TrustedPath.open(posix, target.getParent())) {
            assertEquals(0, parent.setAttribute(bytes("system.posix_acl_default"), list.array()));
        }
        Path plain = Files.createFile(target.resolveSibling("plain"));
        assertTrue(hasAccessList(plain), "the control");
        restoreOne(name, posix);
        assertFalse(hasAccessList(target));
    }

    private static boolean hasAccessList(Path path) throws Exception {
        String program = "import os, sys; sys.exit('system.posix_acl_access' in os.listxattr(sys.argv[1]))";
        return new ProcessBuilder("python3", "-c", program, path.toString())
                        .start()
                        .waitFor()
                == 1;
    }

    @Test
    void aFileThatItsOwnerHasWrittenToMeanwhileGetsNoRights() throws IOException {
        assumeTrue(System.getProperty("user.name").equals("root"), "needs root, to give files away");
        long file = volume.volume.lookup(Inode.ROOT, bytes("file")).inode();
        volume.volume.change(file, new AttributeChange(06755, OTHER, 0, null, null, null, null));
        Libc killed = with("fchmod", (arguments, real) -> fail(Errno.ENOSPC));
        var e = assertThrows(IOException.class, () -> restoreOne("file", killed));
        assertTrue(e.getMessage().startsWith("setting the mode of " + target), e.getMessage());
        if (Files.exists(target)) {
            assertEquals(OTHER, Files.getAttribute(target, "unix:uid"));
            Files.writeString(target, "attack");
        }
        restoreOne("file", new Libc());
        assertEquals(0106755, Files.getAttribute(target, "unix:mode"));
        assertEquals("stored", Files.readString(target));
        assertEquals(1, Files.getAttribute(target, "unix:nlink"));
    }

    @Test
    void aFileThatHasItsNameIsLeftAloneByARestoreThatGoesOn() throws IOException {
        Libc killed = with("unlinkat", (arguments, real) -> {
            return Files.exists(target) ? fail(Errno.EACCES) : real.call();
        });
        assertThrows(IOException.class, () -> restoreOne("file", killed));
        Files.setAttribute(target, "unix:mode", 0600);
        Files.writeString(target, "theirs");
        restoreOne("file", new Libc());
        assertEquals(0100600, Files.getAttribute(target, "unix:mode"));
        assertEquals("theirs", Files.readString(target));
        assertEquals(1, Files.getAttribute(target, "unix:nlink"));
        assertFalse(Files.exists(target.resolveSibling(".out.sdfs-restore")));
    }

    @Test
    void aFileOfAnotherNameGetsNoRightsOfTheOneThatIsCalledSoNow() throws IOException {
        Libc killed = with("fchmod", (arguments, real) -> fail(Errno.ENOSPC));
        assertThrows(IOException.class, () -> restoreOne("file", killed));
        volume.volume.unlink(Inode.ROOT, bytes("file"));
        long other = volume.makeFile(Inode.ROOT, "file", bytes("other!"));
        volume.volume.change(other, new AttributeChange(06755, null, null, null, null, null, null));
        var e = assertThrows(IOException.class, () -> restoreOne("file", new Libc()));
        assertTrue(e.getMessage().contains("file was changed since its restore"), e.getMessage());
    }

    @Test
    void whatOthersChangeAfterTheLastStepIsLeftAloneByARestoreThatGoesOn() throws IOException {
        Libc killed = with("unlinkat", (arguments, real) -> fail(Errno.EACCES));
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
        Libc killed = with("syncfs", (arguments, real) -> fail(Errno.EACCES));
        Libc late = with("unlinkat", (arguments, real) -> fail(Errno.EACCES));
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
        Libc looking = with("ftruncate", (arguments, real) -> {
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
        Libc posix = with("fchmod", (arguments, real) -> {
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
