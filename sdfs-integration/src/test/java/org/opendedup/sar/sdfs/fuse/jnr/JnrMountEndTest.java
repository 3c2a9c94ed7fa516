package org.opendedup.sar.sdfs.fuse.jnr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.sdfs.fuse.MemoryFileSystem;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.sdfs.fuse.MountToy;
import org.opendedup.sar.sdfs.fuse.NothingStored;
import org.opendedup.sar.sdfs.fuse.Shell;

/** How mounts by libfuse 2 begin, fail and end. */
@Timeout(120)
class JnrMountEndTest {
    private static final Path ANYWHERE = Path.of("/");

    private final MemoryFileSystem memory = new MemoryFileSystem();

    @Test
    void aBusyMountIsNotUnmountedButClosedInTheEnd() throws Exception {
        try (ToyMount toy = new ToyMount(memory, "rw")) {
            Process user = new ProcessBuilder("sleep", "60")
                    .directory(toy.root.toFile())
                    .start();
            try {
                IOException refused = assertThrows(IOException.class, toy.mount::unmount);
                assertTrue(refused.getMessage().contains("busy"), refused.getMessage());
                Files.writeString(toy.root.resolve("f"), "kept");
                toy.mount.close();
                toy.mount.awaitEnd();
                assertTrue(memory.hasEnded());
            } finally {
                user.destroyForcibly().waitFor();
            }
            toy.mount.close();
        }
    }

    @Test
    void aMountIsMadeReadOnlyLater() throws Exception {
        try (ToyMount toy = new ToyMount(memory, "rw")) {
            String refused = Shell.run(toy.root, "touch f; mount -i -o remount,ro . && touch g");
            assertTrue(refused.contains("Read-only file system"), refused);
        }
    }

    @Test
    void aSynchronousMountSyncsEachWrite() throws Exception {
        WatchedFileSystem watched = new WatchedFileSystem();
        try (ToyMount toy = new ToyMount(watched, "sync")) {
            assertEquals("", Shell.run(toy.root, "exec 3>f; echo one >&3; echo two >&3"));
            assertEquals(2, watched.syncs);
        }
    }

    @Test
    void unmountingFromOutsideEndsTheServiceAndKeepsWhatWasWritten() throws Exception {
        try (ToyMount toy = new ToyMount(memory, "rw")) {
            Files.writeString(toy.root.resolve("f"), "written before");
            assertEquals("", Shell.run(ANYWHERE, "umount " + toy.root));
            toy.mount.awaitEnd();
            assertEquals(
                    14,
                    memory.lookup(MemoryFileSystem.ROOT, "f".getBytes(StandardCharsets.UTF_8))
                            .size());
            toy.mount.unmount();
        }
    }

    @Test
    void aKilledServiceLeavesErrorsNotHangs() throws Exception {
        Path root = Files.createTempDirectory("sdfs-jnr-");
        Process service = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        MountToy.class.getName(),
                        "memory",
                        root.toString(),
                        "rw",
                        "jnr")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            assertEquals("mounted", lastLineBefore(service, "mounted"));
            assertEquals("", Shell.run(root, "echo 1 > f"));
            assertTrue(service.destroyForcibly().waitFor(30, TimeUnit.SECONDS));
            assertContains("not connected", Shell.run(ANYWHERE, "cat " + root + "/f"));
            IOException refused =
                    assertThrows(IOException.class, () -> new JnrBinding().mount(memory, MountOptions.of(root, "toy")));
            assertContains("umount -l", refused.getMessage());
        } finally {
            service.destroyForcibly().waitFor();
            Shell.removeMountPoint(root);
        }
    }

    private static String lastLineBefore(Process service, String wanted) throws IOException {
        String line;
        do {
            line = service.inputReader().readLine();
        } while (line != null && !line.equals(wanted));
        return line;
    }

    @Test
    void failuresReachTheCallerAsTheirOwnErrors() throws Exception {
        MemoryFileSystem failing = new MemoryFileSystem() {
            @Override
            public synchronized int read(long handle, long offset, ByteBuffer target) throws IOException {
                throw new CorruptionException("container 1", 0, "a", "b");
            }

            @Override
            public synchronized void write(long handle, long offset, ByteBuffer source) throws IOException {
                throw new NoSpaceException("full");
            }

            @Override
            public synchronized byte[] readSymbolicLink(long inode) {
                throw new StackOverflowError("a mistake in the handler");
            }
        };
        try (ToyMount toy = new ToyMount(failing, "rw")) {
            assertContains("Input/output error", Shell.run(toy.root, "truncate -s 5 f; cat f"));
            assertContains("No space left", Shell.run(toy.root, "echo > g"));
            assertContains("Input/output error", Shell.run(toy.root, "ln -s x s; readlink -v s"));
        }
    }

    @Test
    void aReadOnlyMountRefusesChangesAndIsForWhoMountedIt() throws Exception {
        try (ToyMount toy = new ToyMount(memory, "ro")) {
            assertContains("Read-only file system", Shell.run(toy.root, "touch f"));
            assertFalse(Shell.run(ANYWHERE, "grep " + toy.root + " /proc/self/mounts")
                    .contains("allow_other"));
        }
    }

    @Test
    void dataOfAnySizeGoesThrough() throws Exception {
        try (ToyMount toy = new ToyMount(new NothingStored(1 << 20), "rw")) {
            assertEquals("1048576", Shell.run(toy.root, "dd if=file bs=1M iflag=direct status=none | wc -c"));
            assertEquals("", Shell.run(toy.root, "dd if=/dev/zero of=file bs=1M count=1 conv=notrunc status=none"));
        }
    }

    @Test
    void aMissingLibraryIsNamedWithItsPackage() {
        IOException refused = assertThrows(IOException.class, () -> LibFuse2.load("libnone.so.2"));
        assertContains("libnone.so.2", refused.getMessage());
        assertContains("package libfuse2", refused.getMessage());
    }

    @Test
    void aMountPointThatIsNoFolderIsRefused() throws Exception {
        Path file = Files.createTempFile("sdfs-jnr-", "");
        try {
            IOException refused =
                    assertThrows(IOException.class, () -> new JnrBinding().mount(memory, MountOptions.of(file, "toy")));
            assertContains(file.toString(), refused.getMessage());
        } finally {
            Files.delete(file);
        }
    }

    private static void assertContains(String expected, String text) {
        assertTrue(text.contains(expected), text);
    }
}
