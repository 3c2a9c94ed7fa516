package org.opendedup.sar.sdfs.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.sdfs.restore.RestoredVolume.bytes;
import static org.opendedup.sar.sdfs.restore.TreeRestoreTest.fail;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.io.handle.Handle;
import org.opendedup.sar.io.handle.TrustedPath;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * Each call of a restore fails in its turn, and in another run all calls from it on, as if the program had been killed
 * there.
 */
@Timeout(300)
class RestoreFaultTest {
    private static final int EIO = 5;
    /** Calls that tell or give back, and cannot fail. */
    private static final Set<String> NEVER_FAIL = Set.of("close", "geteuid", "strerror");

    @TempDir
    Path folder;

    private RestoredVolume volume;

    @BeforeEach
    void makeVolume() throws IOException {
        volume = new RestoredVolume(folder.resolve("base"));
        Owner owner = new Owner(0, 0);
        long tree = volume.makeFolder(Inode.ROOT, "tree", 0751);
        long sub = volume.makeFolder(tree, "sub", 0510);
        volume.makeFile(sub, "inside", bytes("inner"));
        long file = volume.makeFile(tree, "file", bytes("stored"));
        volume.volume.change(file, new AttributeChange(04751, null, null, null, null, 1_000_000_000L, null));
        volume.volume.setExtendedAttribute(file, bytes("user.colour"), bytes("blue"), SetMode.CREATE);
        volume.volume.link(file, tree, bytes("second"));
        volume.volume.makeSymbolicLink(tree, bytes("link"), bytes("file"), owner);
        volume.volume.makeNode(tree, bytes("fifo"), 0010600, 0, owner);
    }

    @AfterEach
    void closeVolume() throws IOException {
        volume.close();
    }

    /** The real calls, until one fails; knows which descriptors are open. */
    private static final class Faults {
        private final Libc.Functions real = new Libc().functions();
        private final int failing;
        private final boolean isKilled;
        private final Set<Long> open = new HashSet<>();
        private int calls;

        /** @param isKilled whether all calls after it fail too */
        Faults(int failing, boolean isKilled) {
            this.failing = failing;
            this.isKilled = isKilled;
        }

        Libc posix() {
            return new Libc((Libc.Functions) Proxy.newProxyInstance(
                    Libc.class.getClassLoader(),
                    new Class<?>[] {Libc.Functions.class},
                    (proxy, method, arguments) -> call(method, arguments)));
        }

        private synchronized Object call(Method method, Object[] arguments) throws Exception {
            String name = method.getName();
            if (!NEVER_FAIL.contains(name)) {
                int number = calls++;
                if (number == failing || isKilled && number > failing) {
                    Object failed = fail(EIO);
                    return method.getReturnType() == long.class ? (Object) (long) (int) failed : failed;
                }
            }
            Object result = method.invoke(real, arguments);
            if (name.equals("close")) {
                assertTrue(open.remove(((Number) arguments[0]).longValue()), "closed twice");
            } else if (name.equals("openat") || name.equals("syscall")) {
                if (((Number) result).longValue() >= 0) {
                    open.add(((Number) result).longValue());
                }
            }
            return result;
        }

        boolean wereReached() {
            return calls > failing;
        }
    }

    private void restore(String source, Path target, Libc posix) throws IOException {
        long inode = Inode.ROOT;
        for (String name : source.split("/")) {
            inode = volume.volume.lookup(inode, bytes(name)).inode();
        }
        new TreeRestore(volume.volume, source, target, 0, posix).run(inode);
    }

    /** Modes, lengths, times of change and numbers of names of all that is there. */
    private static Set<String> state(Path of) throws IOException {
        Set<String> states = new TreeSet<>();
        try (Stream<Path> all = Files.walk(of)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                var attributes = Files.readAttributes(path, "unix:*", LinkOption.NOFOLLOW_LINKS);
                states.add(of.relativize(path) + " " + attributes.get("mode") + " " + attributes.get("nlink") + " "
                        + attributes.get("uid") + " " + attributes.get("lastModifiedTime") + " "
                        + (Files.isRegularFile(path) ? Files.readString(path) : ""));
            }
        }
        return states;
    }

    @ParameterizedTest
    @ValueSource(strings = {"tree", "tree/file", "tree/link", "tree/fifo"})
    void whereverARestoreIsKilledItGoesOnOrSaysHowToBeginAnew(String source) throws IOException {
        Path whole = folder.resolve("whole");
        restore(source, whole, new Libc());
        Set<String> expected = state(whole);
        int begunAnew = 0;
        int killed = 0;
        int found = 0;
        for (int call = 0; ; call++) {
            Faults faults = new Faults(call, true);
            Path target = folder.resolve("out" + call);
            try {
                restore(source, target, faults.posix());
            } catch (IOException e) {
                killed++;
            }
            if (!faults.wereReached()) {
                break;
            }
            try {
                restore(source, target, new Libc());
            } catch (IOException e) {
                if (e.getMessage().contains("; to begin again, remove " + target)) {
                    begunAnew++;
                    delete(target);
                    delete(target.resolveSibling("." + target.getFileName() + ".sdfs-restore"));
                    restore(source, target, new Libc());
                } else {
                    assertEquals(target + " exists already; a restore must make it", e.getMessage());
                    found++;
                }
            }
            assertEquals(expected, state(target), "call " + call);
            assertFalse(Files.exists(folder.resolve("." + target.getFileName() + ".sdfs-restore")));
        }
        assertTrue(killed > 20, "control: it was killed " + killed + " times");
        assertTrue(found > 0, "killed when all was done but for its empty work folder");
        assertEquals(source.equals("tree"), begunAnew > 0, "only a tree is made before all of it was found");
    }

    private static void delete(Path tree) throws IOException {
        try (Stream<Path> all = Files.walk(tree)) {
            for (Path path : (Iterable<Path>) all.sorted((a, b) -> b.compareTo(a))::iterator) {
                Files.delete(path);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tree", "tree/file", "tree/link"})
    void whicheverCallFailsNothingStaysOpen(String source) throws IOException {
        int failed = 0;
        for (int call = 0; ; call++) {
            Faults faults = new Faults(call, false);
            try {
                restore(source, folder.resolve("out" + call), faults.posix());
            } catch (IOException e) {
                failed++;
            }
            assertEquals(Set.of(), faults.open, "open after call " + call + " failed");
            if (!faults.wereReached()) {
                break;
            }
        }
        assertTrue(failed > 20, "control: it failed " + failed + " times");
    }

    @ParameterizedTest
    @ValueSource(strings = {"tree", "tree/file", "tree/link"})
    void whicheverCallFailsOfARestoreThatGoesOnNothingStaysOpen(String source) throws IOException {
        for (int call = 0; ; call++) {
            Path target = folder.resolve("out" + call);
            Faults late = new Faults(Integer.MAX_VALUE, true);
            Libc killed = TreeRestoreTest.with(late.posix(), "utimensat", (arguments, real) -> fail(EIO));
            Libc killedToo = TreeRestoreTest.with(killed, "futimens", (arguments, real) -> fail(EIO));
            assertThrows(IOException.class, () -> restore(source, target, killedToo));
            assertEquals(Set.of(), late.open);
            Faults faults = new Faults(call, false);
            try {
                restore(source, target, faults.posix());
            } catch (IOException e) {
                assertTrue(faults.wereReached(), e::getMessage);
            }
            assertEquals(Set.of(), faults.open, "open after call " + call + " failed");
            if (!faults.wereReached()) {
                break;
            }
        }
    }

    @Test
    void aDescriptorThatStaysOpenIsSeen() throws IOException {
        // The control of the tests above.
        Faults faults = new Faults(Integer.MAX_VALUE, false);
        Handle handle = TrustedPath.open(faults.posix(), folder);
        assertEquals(Set.of((long) handle.fd()), faults.open);
        handle.close();
        assertEquals(Set.of(), faults.open);
        assertThrows(
                IOException.class,
                () -> TrustedPath.open(new Faults(0, false).posix(), folder).close());
    }
}
