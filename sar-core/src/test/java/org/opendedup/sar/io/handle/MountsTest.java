package org.opendedup.sar.io.handle;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MountsTest {
    private static final int USER = 1000;
    private static final MountTable TABLE = MountTable.of(String.join(
                    "\n",
                    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,user_id=7",
                    "23 22 0:40 / /mnt/\u00ff rw shared:2 master:1 - fuse.sshfs host "
                            + "rw,user_id=0,group_id=0,allow_other",
                    "24 22 0:41 / /mnt/b rw - fuse x rw,user_id=1000,group_id=0",
                    "25 22 0:42 / /mnt/- rw - fuse - rw,user_id=1001,group_id=0,allow_other",
                    "26 22 0:43 / /mnt/d rw - fuseblk /dev/sdb1 rw,user_id=1,group_id=0",
                    "27 22 0:44 / /mnt/e rw - fusectl fusectl rw")
            .getBytes(StandardCharsets.ISO_8859_1));

    @ParameterizedTest
    @CsvSource({"22", "23", "24", "27"})
    void mountsOfRootOfTheUserAndOfNoServerAreTrusted(int id) {
        assertDoesNotThrow(() -> Mounts.checkTrusted(TABLE, id, USER, "place"));
    }

    @ParameterizedTest
    @CsvSource({"25, 1001", "26, 1"})
    void theFuseMountsOfOthersAreNot(int id, int whose) {
        var e = assertThrows(IOException.class, () -> Mounts.checkTrusted(TABLE, id, USER, "place"));
        assertEquals(
                "place lies in a file system that user " + whose + " has mounted; it is not trusted", e.getMessage());
    }

    @ParameterizedTest
    @CsvSource({"2", "28"})
    void whatIsMountedNowhereIsNot(int id) {
        assertThrows(IOException.class, () -> Mounts.checkTrusted(TABLE, id, USER, "place"));
    }
}
