package org.opendedup.sar.sdfs.cli.mounts;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.io.handle.MountTable.Entry;

/** Who uses a mount. */
class MountUsersTest {
    /** The kernel gives the number of a mount that is gone to the next one, whose users are not those of the first. */
    @Test
    void aMountThatGotTheNumberOfOneThatIsGoneHasOtherUsers() throws IOException {
        Entry proc = MountTable.read().top(Path.of("/proc")).orElseThrow();
        Entry gone = new Entry(proc.id(), "0:1048575", "/gone", Set.of(), "fuse.sdfs");
        try (InputStream open = Files.newInputStream(Path.of("/proc/self/status"))) {
            assertTrue(open.read() >= 0);
            assertTrue(MountUsers.of(proc, () -> false).stream().anyMatch(MountUsersTest::isThis), "control");
            assertTrue(MountUsers.of(gone, () -> false).stream().noneMatch(MountUsersTest::isThis));
        }
    }

    private static boolean isThis(String user) {
        return user.startsWith(ProcessHandle.current().pid() + " ");
    }
}
