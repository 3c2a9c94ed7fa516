package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class MountTableTest {
    @Test
    void findsMountPointsWithSpaces() {
        var table = MountTable.of(List.of(
                "36 35 98:0 /mnt1 /mnt/my\\040disk rw,noatime master:1 - ext3 /dev/root rw",
                "37 35 0:42 / /mnt/pool0 rw - fuse.sdfs pool0 rw"));
        assertTrue(table.contains(Path.of("/mnt/my disk")));
        assertTrue(table.contains(Path.of("/mnt/pool0")));
        assertFalse(table.contains(Path.of("/mnt")));
    }

    @Test
    void leavesOutWhatOnlyConcernsTheMountHelper() {
        assertEquals("ro,noatime", MountHelperOptions.without("ro,user,noauto,x-systemd.automount,noatime,_netdev"));
        assertEquals("", MountHelperOptions.without(""));
    }
}
