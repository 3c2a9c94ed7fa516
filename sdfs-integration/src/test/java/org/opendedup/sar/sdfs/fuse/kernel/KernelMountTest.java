package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.common.CorruptionException;
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
    void partsAreWrittenAppendedAndCut() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            assertEquals("", toy.shell("printf abcdef > f; printf XY | dd of=f bs=1 seek=2 conv=notrunc status=none"));
            assertEquals("abXYefgh", toy.shell("printf gh >> f; cat f"));
            assertEquals("abX", toy.shell("truncate -s 3 f; cat f"));
            assertEquals("1048576 abX", toy.shell("truncate -s 1M f; stat -c %s f | tr '\\n' ' '; head -c 3 f"));
            assertEquals("0", toy.shell(": > f; stat -c %s f"));
        }
    }

    @Test
    void writesAndReadsPastTheCache() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            assertEquals(
                    "",
                    toy.shell("head -c 4194304 /dev/urandom > /tmp/$$.src"
                            + " && dd if=/tmp/$$.src of=f bs=1M oflag=direct status=none"
                            + " && dd if=f of=/tmp/$$.dst bs=4k iflag=direct status=none"
                            + " && cmp /tmp/$$.src /tmp/$$.dst; rm -f /tmp/$$.src /tmp/$$.dst"));
        }
    }

    @Test
    void mappedPagesAreReadAndWritten() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            // In a process of its own: a thread of this one, stopped in a page fault, could wait for the serving
            // threads
            // while these wait at a safepoint for it.
            assertEquals("", toy.shell("truncate -s 64K f; " + java(MapFile.class) + " f"));
            assertEquals("mapped", toy.shell("dd if=f bs=1 skip=5000 count=6 status=none"));
        }
    }

    @Test
    void hardLinksShareTheirInode() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            assertEquals(
                    "2 1",
                    toy.shell("echo 1 > a; ln a b; stat -c %i a b | uniq | wc -l | xargs echo" + " $(stat -c %h a)"));
            assertEquals(
                    "changed 1",
                    toy.shell("echo changed > b; cat a; rm b; stat -c %h a").replace('\n', ' '));
        }
    }

    @Test
    void anUnlinkedOpenFileLivesOn() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            Path file = toy.root.resolve("f");
            try (FileChannel channel = FileChannel.open(
                    file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE))) {
                channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 0);
                Files.delete(file);
                channel.write(ByteBuffer.wrap(new byte[] {4}), 3);
                ByteBuffer back = ByteBuffer.allocate(4);
                assertEquals(4, channel.read(back, 0));
                assertArrayEquals(new byte[] {1, 2, 3, 4}, back.array());
            }
            assertThrows(NoSuchFileException.class, () -> Files.size(file));
        }
    }

    @Test
    void renameReplacesMovesAndRefuses() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            toy.shell("mkdir d e; echo 1 > a; echo 2 > b; echo 3 > d/x");
            assertEquals("1", toy.shell("mv -f a b; cat b"));
            assertEquals("3", toy.shell("mv -T d e; cat e/x"));
            assertEquals("3", toy.shell("mv e ./b.d; cat b.d/x"));
            assertEquals("3", toy.shell("echo new > n; mv -n n b; ls | wc -l"));
            assertThrows(FileAlreadyExistsException.class, () -> Files.createDirectory(toy.root.resolve("b")));
            assertThrows(DirectoryNotEmptyException.class, () -> Files.delete(toy.root.resolve("b.d")));
        }
    }

    @Test
    void linksTimesModesAndNodesAreKept() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            Path file = Files.createFile(toy.root.resolve("f"));
            Files.createSymbolicLink(toy.root.resolve("s"), Path.of("somewhere/else"));
            assertEquals(
                    "somewhere/else",
                    Files.readSymbolicLink(toy.root.resolve("s")).toString());
            Instant time = Instant.parse("2033-05-18T03:33:20.123456789Z");
            Files.setLastModifiedTime(file, FileTime.from(time));
            assertEquals(time, Files.getLastModifiedTime(file).toInstant());
            assertEquals("-1.500000000", toy.shell("touch -d @-1.5 f; stat -c %.9Y f"));
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
            assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            assertEquals("fifo", toy.shell("mkfifo p; stat -c %F p"));
        }
    }

    @Test
    void aSetgidDirectoryGivesItsGroupOn() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            assertEquals(
                    "12 12 2755",
                    toy.shell("mkdir d; chgrp 12 d; chmod 2755 d; touch d/f; mkdir d/e;"
                            + " echo $(stat -c %g d/f) $(stat -c '%g %a' d/e)"));
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
    void anUnprivilegedWriteTakesSetuidAway() throws Exception {
        try (MountedToy toy = new MountedToy(memory, "allow_other")) {
            assumeRoot(toy);
            String asNobody = "setpriv --reuid=65534 --regid=65534 --clear-groups sh -c ";
            assertEquals("777", toy.shell("echo 1 > f; chmod 6777 f; " + asNobody + "'echo 2 >> f'; stat -c %a f"));
            assertEquals("777", toy.shell("chmod 6777 f; " + asNobody + "'echo 2 > f'; stat -c %a f"));
            assertEquals("777", toy.shell("chmod 6777 f; chown 5 f; stat -c %a f"));
            assertEquals("6777", toy.shell("chmod 6777 f; echo 3 >> f; stat -c %a f"), "root keeps it");
        }
    }

    @Test
    void namesOf255BytesFitAndLongerOnesAreRefused() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            String longest = "ü".repeat(127) + "x";
            assertEquals(longest, toy.shell("touch " + longest + "; ls"));
            String message = toy.shell("touch " + longest + "y");
            assertTrue(message.contains("File name too long"), message);
        }
    }

    @Test
    void aLargeDirectoryIsListedWhole() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            for (int i = 0; i < 5000; i++) {
                Files.createFile(toy.root.resolve("file-with-a-longer-name-" + i));
            }
            toy.dropKernelCaches();
            Set<Path> listed = new HashSet<>();
            try (Stream<Path> files = Files.list(toy.root)) {
                files.forEach(file -> assertTrue(listed.add(file), file + " twice"));
            }
            assertEquals(5000, listed.size());
            assertEquals("5000", toy.shell("ls -l | grep -c longer"));
            assertEquals("0", toy.shell("rm -f file-*; ls | wc -l"));
        }
    }

    @Test
    void extendedAttributesAreKept() throws Exception {
        try (MountedToy toy = new MountedToy(memory)) {
            Path file = Files.createFile(toy.root.resolve("f"));
            UserDefinedFileAttributeView view = Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
            byte[] value = Shell.randomBytes(60_000);
            view.write("large", ByteBuffer.wrap(value));
            view.write("small", ByteBuffer.wrap(new byte[] {7}));
            assertEquals(
                    List.of("large", "small"), view.list().stream().sorted().toList());
            ByteBuffer back = ByteBuffer.allocate(view.size("large"));
            view.read("large", back);
            assertArrayEquals(value, back.array());
            assertThrows(IOException.class, () -> view.read("large", ByteBuffer.allocate(10)), "ERANGE");
            view.delete("large");
            assertThrows(FileSystemException.class, () -> view.size("large"), "ENODATA");
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
            MountOptions four = MountOptions.of(toy.root, "toy").withThreads(4);
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
