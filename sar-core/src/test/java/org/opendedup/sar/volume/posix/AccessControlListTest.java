package org.opendedup.sar.volume.posix;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;

public class AccessControlListTest {
    public static final int OWNER = 1;
    public static final int USER = 2;
    public static final int GROUP = 4;
    static final int NAMED_GROUP = 8;
    public static final int MASK = 16;
    public static final int OTHERS = 32;

    /** A list of entries, each its tag and permissions; users and groups are numbered in order. */
    public static byte[] list(int... tagsAndPermissions) {
        byte[] bytes = new byte[4 + 4 * tagsAndPermissions.length];
        bytes[0] = 2;
        for (int i = 0; i < tagsAndPermissions.length; i += 2) {
            int at = 4 + 4 * i;
            bytes[at] = (byte) tagsAndPermissions[i];
            bytes[at + 2] = (byte) tagsAndPermissions[i + 1];
            bytes[at + 4] = (byte) i;
        }
        return bytes;
    }

    private static AccessControlList parse(int... tagsAndPermissions) throws PosixException {
        return AccessControlList.parse(list(tagsAndPermissions));
    }

    @Test
    void theThreeEntriesOfAModeSayNoMoreThanIt() throws Exception {
        AccessControlList list = parse(OWNER, 6, GROUP, 4, OTHERS, 0);
        assertTrue(list.isMode());
        assertEquals(0102640, list.applyTo(0102777));
        assertArrayEquals(
                list(OWNER, 7, GROUP, 5, OTHERS, 1), list.withMode(0751).toBytes());
    }

    @Test
    void withAMaskItStandsForTheGroupInTheMode() throws Exception {
        AccessControlList list = parse(OWNER, 6, USER, 7, GROUP, 5, NAMED_GROUP, 7, MASK, 4, OTHERS, 0);
        assertFalse(list.isMode());
        assertEquals(0640, list.applyTo(0777));
        assertArrayEquals(
                list(OWNER, 7, USER, 7, GROUP, 5, NAMED_GROUP, 7, MASK, 1, OTHERS, 2),
                list.withMode(0712).toBytes());
    }

    @Test
    void aNewFileGetsNoMoreThanItsModeAsksFor() throws Exception {
        AccessControlList defaults = parse(OWNER, 7, USER, 7, GROUP, 5, MASK, 6, OTHERS, 5);
        AccessControlList limited = defaults.limitedTo(0644);
        assertArrayEquals(list(OWNER, 6, USER, 7, GROUP, 5, MASK, 4, OTHERS, 4), limited.toBytes());
        assertEquals(0644, limited.applyTo(0666));
        assertArrayEquals(
                list(OWNER, 6, GROUP, 4, OTHERS, 0),
                parse(OWNER, 7, GROUP, 5, OTHERS, 0).limitedTo(0666).toBytes());
    }

    @Test
    void malformedListsAreRefused() {
        int[][] malformed = {
            {},
            {OWNER, 7},
            {OWNER, 7, GROUP, 7},
            {GROUP, 7, OWNER, 7, OTHERS, 7},
            {OWNER, 7, OWNER, 7, GROUP, 7, OTHERS, 7},
            {OWNER, 7, GROUP, 7, OTHERS, 7, OTHERS, 7},
            {OWNER, 7, USER, 7, GROUP, 7, OTHERS, 7},
            {OWNER, 7, GROUP, 7, NAMED_GROUP, 7, OTHERS, 7},
            {OWNER, 7, GROUP, 7, MASK, 7, MASK, 7, OTHERS, 7},
            {OWNER, 8, GROUP, 7, OTHERS, 7},
            {OWNER, 7, 3, 7, GROUP, 7, OTHERS, 7},
            {OWNER, 7, GROUP, 7, OTHERS, 7, 64, 7},
            {0, 7, OWNER, 7, GROUP, 7, OTHERS, 7},
        };
        for (int[] entries : malformed) {
            assertRefused(Reason.EINVAL, list(entries));
        }
        assertRefused(Reason.EINVAL, new byte[0]);
        assertRefused(Reason.EINVAL, new byte[] {2, 0, 0});
        assertRefused(Reason.EINVAL, new byte[] {2, 0, 0, 0, 1});
        byte[] newer = list(OWNER, 7, GROUP, 7, OTHERS, 7);
        newer[0] = 3;
        assertRefused(Reason.EOPNOTSUPP, newer);
    }

    private static void assertRefused(Reason reason, byte[] value) {
        PosixException refused = assertThrows(PosixException.class, () -> AccessControlList.parse(value));
        assertEquals(reason, refused.reason());
    }
}
