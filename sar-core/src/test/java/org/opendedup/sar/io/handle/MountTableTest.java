package org.opendedup.sar.io.handle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MountTableTest {
    @Test
    void findsMountPointsWithSpaces() {
        var table = table(
                "36 35 98:0 /mnt1 /mnt/my\\040disk rw,noatime master:1 - ext3 /dev/root rw",
                "37 35 0:42 / /mnt/pool0 rw - fuse.sdfs pool0 rw");
        assertTrue(table.top(Path.of("/mnt/my disk")).isPresent());
        assertTrue(table.top(Path.of("/mnt/pool0")).isPresent());
        assertFalse(table.top(Path.of("/mnt")).isPresent());
    }

    @Test
    void readsPastNamesOfOthersThatAreNoText() {
        var table = table(
                "36 35 98:0 / /mnt/\u00ff\u00fe rw - tmpfs \u00ff rw",
                "37 35 98:1 / /mnt/a\rb rw - tmpfs none rw",
                "38 35 98:2 / /mnt/dash rw master:1 - tmpfs - rw,size=1k",
                "39 35 98:3 / /mnt/nameless rw - tmpfs  rw",
                "",
                "40 35 0:42 / /mnt/\u00c3\u00a9\\134040 rw,nosuid - fuse.sdfs pool0 ro,allow_other");
        assertTrue(table.top(Path.of("/mnt/a\rb")).isPresent());
        assertEquals("tmpfs", table.top(Path.of("/mnt/dash")).orElseThrow().type());
        assertTrue(table.top(Path.of("/mnt/nameless")).isPresent());
        MountTable.Entry entry = table.top(Path.of("/mnt/é\\040")).orElseThrow();
        assertEquals(
                new MountTable.Entry(
                        40, "0:42", "/mnt/é\\040", Set.of("rw", "nosuid", "ro", "allow_other"), "fuse.sdfs"),
                entry);
    }

    @Test
    void aLineWithoutANumberIsNoMount() {
        var table = table(
                "\u00003 35 98:0 / /mnt/a rw - tmpfs none rw",
                "99999999999999999999 35 98:0 / /mnt/b rw - tmpfs none rw",
                "40 35 0:42 / /mnt/c rw - tmpfs none rw",
                "41 35 0:43 / /mnt/\\04o rw - tmpfs none rw");
        assertTrue(table.top(Path.of("/mnt/\\04o")).isPresent());
        assertTrue(table.top(Path.of("/mnt/a")).isEmpty()
                && table.top(Path.of("/mnt/b")).isEmpty());
        assertTrue(table.top(Path.of("/mnt/c")).isPresent());
    }

    @Test
    void theDeviceOfAPathIsThatOfItsMount() throws IOException {
        for (String mountPoint : List.of("/proc", "/dev")) {
            Path path = Path.of(mountPoint);
            assertEquals(
                    MountTable.read().top(path).map(MountTable.Entry::device).orElseThrow(), MountTable.device(path));
        }
    }

    private static MountTable table(String... lines) {
        return MountTable.of((String.join("\n", lines) + "\n").getBytes(StandardCharsets.ISO_8859_1));
    }
}
