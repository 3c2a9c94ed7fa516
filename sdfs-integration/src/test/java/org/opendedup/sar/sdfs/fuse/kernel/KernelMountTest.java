package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.MemoryFileSystem;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.sdfs.fuse.MountToy;
import org.opendedup.sar.sdfs.fuse.Shell;

/** Real mounts of a file system in memory. */
@Timeout(120)
class KernelMountTest {
    private final MemoryFileSystem memory = new MemoryFileSystem();

    @AfterEach
    void closeVolume() throws IOException {
        memory.closeVolume();
    }

    @Test
    void whatIsWrittenIsReadBack() throws Exception {
        byte[] content = Shell.randomBytes(3_000_017);
        try (MountedToy toy = new MountedToy(memory)) {
            Path file = toy.root.resolve("file");
            Files.write(file, content);
            assertArrayEquals(content, Files.readAllBytes(file));
            toy.dropKernelCaches();
            toy.shell("cp file copy; mv copy moved; cmp file moved");
            assertArrayEquals(content, Files.readAllBytes(toy.root.resolve("moved")));
        }
    }

    @Test
    void whatIsMountedInThePlaceOfADetachedOneIsLeftAlone() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            assumeRoot(toy);
            String shown = "grep -c ' " + toy.root + " tmpfs ' /proc/mounts";
            try (FileChannel held = FileChannel.open(
                    toy.root.resolve("held"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                Shell.run(Path.of("/"), "umount -l " + toy.root + "; mount -t tmpfs stranger " + toy.root);
                assertEquals("1", Shell.run(Path.of("/"), shown));
                toy.mount.unmount();
                assertEquals("1", Shell.run(Path.of("/"), shown));
                assertEquals(1, held.write(ByteBuffer.allocate(1)));
            }
            toy.mount.awaitEnd();
            toy.mount.close();
            assertEquals("1", Shell.run(Path.of("/"), shown));
        }
    }

    @Test
    void othersThanWhoMountsAreLetInOnlyOnRequest() throws Exception {
        String asNobody = "setpriv --reuid=65534 --regid=65534 --clear-groups ls -d ";
        try (MountedToy toy = new MountedToy(memory)) {
            assumeRoot(toy);
            assertError("Permission denied", Shell.run(Path.of("/"), asNobody + toy.root + "/."));
        }
        try (MountedToy toy = new MountedToy(memory, "allow_other")) {
            String seen = toy.root + "/.";
            assertEquals(seen, Shell.run(Path.of("/"), asNobody + seen));
        }
    }

    @Test
    void failuresReachTheCallerAsTheirOwnErrors() throws Exception {
        MemoryFileSystem failing = new MemoryFileSystem() {
            @Override
            public int read(long handle, long offset, ByteBuffer target) throws IOException {
                throw new CorruptionException("container 1", 0, "a", "b");
            }

            @Override
            public void write(long handle, long offset, ByteBuffer source) throws IOException {
                throw new NoSpaceException("full");
            }

            @Override
            public void writeBack(long handle, long offset, ByteBuffer source) throws IOException {
                write(handle, offset, source);
            }

            @Override
            public byte[] readSymbolicLink(long inode) {
                throw new IllegalStateException("a mistake in the handler");
            }
        };
        try (MountedToy toy = new MountedToy(failing)) {
            assertError("Input/output error", toy.shell("truncate -s 5 f; cat f"));
            assertError("No space left", toy.shell("dd if=/dev/zero of=g bs=4k count=1 oflag=direct"));
            assertError("No space left", toy.shell("dd if=/dev/zero of=g bs=4k count=1 conv=fsync"));
            assertError("status 1", toy.shell("ln -s x s; readlink s"));
            assertError("No such file", toy.shell("cat missing"));
            assertError("Not a directory", toy.shell("cat f/x"));
            assertError("Is a directory", toy.shell("mkdir d; echo > d"));
            assertError("File exists", toy.shell("mkdir d"));
            assertError("not empty", toy.shell("mkdir d/e; rmdir d"));
        } finally {
            failing.closeVolume();
        }
    }

    private static void assertError(String expected, String output) {
        assertTrue(output.contains(expected), output);
    }

    @Test
    void aReadOnlyMountRefusesChanges() throws Exception {
        try (MountedToy toy = new MountedToy(memory, "ro")) {
            assertError("Read-only file system", toy.shell("touch f"));
        }
    }

    @Test
    void theMountShowsItsNameAndSpace() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            String line = toy.shell("grep " + toy.root + " /proc/self/mounts");
            assertTrue(line.startsWith("toy " + toy.root + " fuse.sdfs rw,"), line);
            assertEquals("268435456 255013683 4096", toy.shell("stat -f -c '%b %a %S' ."));
            MountOptions four = MountOptions.of(toy.root, "toy").with("threads=4");
            assertEquals(KernelMount.bufferBytes(four), toy.mount.bufferBytes());
        }
    }

    @Test
    void referencesComeBackWhenTheKernelDropsItsCaches() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            assumeRoot(toy);
            toy.shell("mkdir d; for i in 1 2 3 4 5 6 7 8 9; do echo $i > d/$i; ln d/$i d/l$i; done; ls -lR; rm d/l1;"
                    + " cat d/*; mv d/2 d/3");
            assertTrue(memory.referencesHeld() > 0);
            assertEquals("", toy.shell("cd /; mount -i -o remount " + toy.root), "remounting empties the name cache");
            for (int i = 0; i < 500 && memory.referencesHeld() > 0; i++) {
                Thread.sleep(20);
            }
            assertEquals(0, memory.referencesHeld());
            assertEquals(11, memory.inodes(), "root, d, nine files less one replaced, its other name still there");
        }
    }

    @Test
    void aBusyMountWhoseWritesFailIsClosedInTheEnd() throws Exception {
        AtomicInteger refused = new AtomicInteger();
        MemoryFileSystem full = new MemoryFileSystem() {
            @Override
            public void writeBack(long handle, long offset, ByteBuffer source) throws IOException {
                refused.incrementAndGet();
                throw new NoSpaceException("full");
            }
        };
        try (MountedToy toy = new MountedToy(full)) {
            FileChannel open =
                    FileChannel.open(toy.root.resolve("f"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            open.write(ByteBuffer.allocate(4096));
            toy.mount.close();
            toy.mount.awaitEnd();
            assertTrue(full.hasEnded());
            assertTrue(refused.get() > 0, "control: the kernel had bytes to write back");
            assertThrows(IOException.class, open::close);
        } finally {
            full.closeVolume();
        }
    }

    @Test
    void kernelsThatWaitForWhatTheySendAreKnownByTheirRelease() {
        assertFalse(KernelMount.waitsForSent("6.1.0-44-amd64"));
        assertFalse(KernelMount.waitsForSent("6.15.11"));
        assertFalse(KernelMount.waitsForSent("5.10.0"));
        assertTrue(KernelMount.waitsForSent("6.16-rc1"));
        assertTrue(KernelMount.waitsForSent("6.18.44"));
        assertTrue(KernelMount.waitsForSent("7.0.1-arch"));
    }

    /** A snapshot has everything that was written before the command, also what is only in the kernel's cache. */
    @Test
    void whatWasWrittenHasArrivedWhenTheKernelHasWrittenBack() throws Exception {
        writeBackArrives(new Libc());
    }

    /** The others go on, and the notes that make the kernel write back go through one of them. */
    @Test
    void whatWasWrittenArrivesAfterTheFirstChannelHasFailed() throws Exception {
        AtomicInteger device = new AtomicInteger(-1);
        writeBackArrives(libc((name, arguments) -> {
            // The first read is that of INIT.
            boolean isFirst = name.equals("read") && device.compareAndSet(-1, (Integer) arguments[0]);
            return name.equals("read") && !isFirst && arguments[0].equals(device.get());
        }));
    }

    /** A snapshot would have zeros in place of what programs have written. */
    @Test
    void aKernelThatCannotBeToldToWriteBackIsAFailure() throws Exception {
        Libc libc = libc((name, arguments) -> name.equals("fcntl"));
        try (MountedToy toy = new MountedToy(memory, "rw", null, thread -> false, libc)) {
            assertThrows(IOException.class, toy.mount::writeBack);
        }
    }

    /** @param failing which calls of the system fail with EIO, by their name and arguments */
    private static Libc libc(BiPredicate<String, Object[]> failing) {
        Libc.Functions real = new Libc().functions();
        return new Libc((Libc.Functions) Proxy.newProxyInstance(
                Libc.class.getClassLoader(), new Class<?>[] {Libc.Functions.class}, (self, method, arguments) -> {
                    if (arguments != null && failing.test(method.getName(), arguments)) {
                        Libc.setErrno(Errno.EIO);
                        return method.getReturnType() == long.class ? (Object) (-1L) : (Object) (-1);
                    }
                    return method.invoke(real, arguments);
                }));
    }

    private static void writeBackArrives(Libc libc) throws Exception {
        int bytes = 8 << 20;
        AtomicInteger arrived = new AtomicInteger();
        MemoryFileSystem slow = new MemoryFileSystem() {
            @Override
            public void writeBack(long handle, long offset, ByteBuffer source) throws IOException {
                int length = source.remaining();
                try {
                    // The last one alone, so that others are served meanwhile.
                    Thread.sleep(offset + length < bytes ? 0 : 1000);
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
                super.writeBack(handle, offset, source);
                arrived.addAndGet(length);
            }
        };
        try (MountedToy toy = new MountedToy(slow, "rw", null, thread -> false, libc)) {
            try (FileChannel open =
                    FileChannel.open(toy.root.resolve("f"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                ByteBuffer content = ByteBuffer.wrap(Shell.randomBytes(bytes));
                while (content.hasRemaining()) {
                    open.write(content);
                }
                toy.mount.writeBack();
                assertTrue(arrived.get() >= bytes, () -> arrived.get() + " bytes have arrived");
            }
        } finally {
            slow.closeVolume();
        }
    }

    /**
     * tar takes a file without blocks for one hole, whatever its length is. Another process has the files open, which
     * closes no copy of their descriptors, as this one does for each process that it starts: for a close the kernel
     * sends the bytes.
     */
    @Test
    void aFileThatAProgramHasOpenIsArchivedWithItsBytes() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            Files.createFile(toy.root.resolve("old"));
            Process writer = new ProcessBuilder(
                            "python3",
                            "-c",
                            "files = [open(name, 'wb', 0) for name in ('old', 'new')]\n"
                                    + "print([file.write(b'0' * 5000) for file in files], flush=True)\ninput()")
                    .directory(toy.root.toFile())
                    .start();
            try {
                assertEquals("[5000, 5000]", writer.inputReader().readLine());
                String archived = "tar -cSf - %s | tar -xOf - | tr -cd 0 | wc -c";
                assertEquals("5000", toy.shell(archived.formatted("new")));
                assertEquals("5000", toy.shell(archived.formatted("old")));
            } finally {
                writer.destroy();
                writer.waitFor();
            }
        }
    }

    @Test
    void aBusyMountIsNotUnmountedButClosedInTheEnd() throws Exception {
        Path root;
        try (MountedToy toy = new MountedToy(memory)) {
            root = toy.root;
            Process user =
                    new ProcessBuilder("sleep", "60").directory(root.toFile()).start();
            try {
                IOException refused = assertThrows(IOException.class, toy.mount::unmount);
                assertTrue(refused.getMessage().contains("busy"), refused.getMessage());
                Files.writeString(root.resolve("f"), "kept");
                toy.mount.close();
                toy.mount.awaitEnd();
                assertTrue(memory.hasEnded());
            } finally {
                user.destroyForcibly().waitFor();
            }
            toy.mount.close();
        }
        assertFalse(Files.exists(root));
    }

    @Test
    void unmountingFromOutsideEndsTheServiceAndKeepsWhatWasWritten() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            Files.writeString(toy.root.resolve("f"), "written back at unmount");
            assertEquals("", Shell.run(Path.of("/"), "umount " + toy.root));
            toy.mount.awaitEnd();
            byte[] name = "f".getBytes(StandardCharsets.UTF_8);
            assertEquals(23, memory.lookup(MemoryFileSystem.ROOT, name).size());
        }
    }

    @Test
    void aKilledServiceLeavesErrorsNotHangs() throws Exception {
        MountedToy.assumeFuse();
        Path root = Files.createTempDirectory("sdfs-fuse-");
        Process service = new ProcessBuilder("sh", "-c", "exec " + java(MountToy.class) + " memory " + root)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            String line;
            do {
                line = service.inputReader().readLine();
            } while (line != null && !line.equals("mounted"));
            assertEquals("mounted", line);
            assertEquals("", Shell.run(root, "echo 1 > f"));
            assertTrue(service.destroyForcibly().waitFor(30, TimeUnit.SECONDS));
            String refusal;
            do {
                // While the kernel takes down the connection, calls fail by other errors.
                refusal = Shell.run(Path.of("/"), "cat " + root + "/f");
                assertError("status 1", refusal);
            } while (!refusal.contains("not connected"));
            IOException refused =
                    assertThrows(IOException.class, () -> KernelMount.mount(memory, MountOptions.of(root, "toy")));
            assertTrue(refused.getMessage().contains("umount -l"), refused.getMessage());
        } finally {
            service.destroyForcibly().waitFor();
            Shell.removeMountPoint(root);
        }
    }

    /** Who may write in the folder of a mount point can put a link there while the volume is opened. */
    @Test
    void aLinkInThePlaceOfTheMountPointIsNotFollowed(@TempDir Path folder) throws Exception {
        MountedToy.assumeFuse();
        Path meant = Files.createDirectories(folder.resolve("folder/mnt"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), meant);
        Path above = Files.createSymbolicLink(folder.resolve("above"), meant.getParent());
        var direct = new DirectMounter(new Libc());
        for (Path exchanged : List.of(link, above.resolve("mnt"))) {
            MountOptions options = MountOptions.of(exchanged, "toy");
            assertThrows(IOException.class, () -> KernelMount.mount(memory, options));
            // As if it were exchanged after the path was looked at.
            assertThrows(IOException.class, () -> direct.mount(options));
            assertEquals(
                    "0",
                    Shell.run(Path.of("/"), "grep -c ' " + folder + "' /proc/mounts || :")
                            .strip());
        }
        KernelMount.mount(memory, MountOptions.of(meant, "toy")).close(); // the control
    }

    @Test
    void theMountHelperServesOtherUsers() throws Exception {
        Libc libc = new Libc();
        Assumptions.assumeTrue(
                Shell.run(Path.of("/"), "command -v fusermount3").startsWith("/"),
                "skipped: fusermount3 is not installed");
        try (MountedToy toy = new MountedToy(memory, "rw", new FusermountMounter(libc))) {
            assertEquals("hello", toy.shell("echo hello > f; cat f"));
            String line = toy.shell("grep " + toy.root + " /proc/self/mounts");
            assertTrue(line.startsWith("toy " + toy.root + " fuse.sdfs"), line);
        }
        assertTrue(memory.hasEnded());
    }

    private static void assumeRoot(MountedToy toy) throws Exception {
        Assumptions.assumeTrue(toy.shell("id -u").equals("0"), "skipped: needs root");
    }

    private static String java(Class<?> main) {
        return Path.of(System.getProperty("java.home"), "bin", "java") + " -XX:TieredStopAtLevel=1 -Xshare:auto -cp '"
                + System.getProperty("java.class.path") + "' " + main.getName();
    }
}
