package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.DeviceNumber;

class FuseConnectionTest {
    /** The device number 0:77. */
    private final FuseConnection connection = new FuseConnection(Path.of("/"), 77);

    @TempDir
    Path folder;

    @Test
    void theSwitchOfItsOwnNumberIsUsed() throws IOException {
        Files.createDirectory(folder.resolve("77"));
        Files.createFile(folder.resolve("77/abort"));
        connection.abort(folder, () -> false);
        assertEquals("", Files.readString(folder.resolve("77/abort")), "the number may be another mount's");
        connection.abort(folder, () -> true);
        assertEquals("1", Files.readString(folder.resolve("77/abort")));
    }

    @Test
    void aConnectionThatTheKernelHasEndedIsNoFailure() {
        // A file system of its own, without that file.
        assertDoesNotThrow(() -> connection.abort(Path.of("/proc"), () -> true));
    }

    /** As in most containers, where nothing mounts it. */
    @Test
    void rootNeedsNoMountOfTheControlFileSystem() throws IOException {
        Libc libc = new Libc();
        Assumptions.assumeTrue(libc.functions().geteuid() == 0, "skipped: only root may mount it");
        try (ControlFileSystem control = ControlFileSystem.mount(libc)) {
            assertTrue(Files.isDirectory(control.root()));
            assertNotEquals(DeviceNumber.of(Path.of("/")), DeviceNumber.of(control.root()));
            assertThrows(
                    IOException.class, () -> Files.createFile(control.root().resolve("file")), "no tmpfs");
        }
    }
}
