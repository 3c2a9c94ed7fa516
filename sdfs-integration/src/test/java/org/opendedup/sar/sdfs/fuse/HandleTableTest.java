package org.opendedup.sar.sdfs.fuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.PosixException;

class HandleTableTest {
    private final HandleTable<Integer> table = new HandleTable<>(HandleTable.MAX_HANDLES);

    @Test
    void growsAndFindsEverything() throws Exception {
        for (int i = 0; i < 10_000; i++) {
            assertEquals(i, table.add(i, 0));
        }
        for (int i = 0; i < 10_000; i++) {
            assertEquals(i, table.get(i));
        }
    }

    @Test
    void unknownNumbersAreBad() throws Exception {
        long handle = table.add(1, 0);
        table.remove(handle);
        for (long bad : new long[] {handle, -1, 7, Long.MAX_VALUE}) {
            assertThrows(PosixException.class, () -> table.get(bad));
            assertThrows(PosixException.class, () -> table.remove(bad));
        }
    }

    private static int filled(HandleTable<Integer> table, int user) {
        int added = 0;
        try {
            for (; added < 10_000; added++) {
                table.add(added, user);
            }
        } catch (PosixException e) {
            assertEquals(PosixException.Reason.ENFILE, e.reason());
        }
        return added;
    }

    /** As many as are free: each later user still finds some. */
    @Test
    void aUserHasAShareOfTheTable() throws Exception {
        HandleTable<Integer> small = new HandleTable<>(1000);
        assertEquals(500, filled(small, 1000));
        assertEquals(250, filled(small, 1001));
        assertEquals(125, filled(small, 1002));
        assertEquals(0, filled(small, 1000));
        small.remove(7);
        assertEquals(0, filled(small, 1000), "others need the place more");
        assertEquals(1, filled(small, 1001) + filled(small, 1002));
        assertEquals(125, filled(small, 0), "root has what is left");
        assertEquals(0, filled(small, 1003));
        small.removeAll();
        assertEquals(500, filled(small, 1000));
        assertEquals(500, filled(small, 0));
    }

    @Test
    void aFullTableRefusesAndGoesOn() throws Exception {
        for (int i = 0; i < HandleTable.MAX_HANDLES; i++) {
            table.add(i, 0);
        }
        assertThrows(PosixException.class, () -> table.add(0, 0));
        table.remove(5);
        assertEquals(HandleTable.MAX_HANDLES, table.add(0, 0));
        assertEquals(HandleTable.MAX_HANDLES, table.removeAll().size());
        assertEquals(List.of(), table.removeAll());
    }
}
