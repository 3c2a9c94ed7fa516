package org.opendedup.sar.metadata.pending;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.metadata.HookedKeyValueStore;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.record.SystemRecords;

class IdAllocatorTest {
    private static final int BLOCK = 4;

    /** A database that another machine opens as it was when it was shipped last. */
    private static final class Followed extends HookedKeyValueStore<HeapKeyValueStore> {
        private long shippedEnd;
        private int ships;
        private boolean fails;

        Followed() {
            super(new HeapKeyValueStore());
        }

        @Override
        public void ship() throws IOException {
            ships++;
            if (fails) {
                throw new UnavailableException("the store is away");
            }
            shippedEnd = SystemRecords.decodeNumber(get(Family.SYSTEM, SystemRecords.NEXT_CONTAINER));
        }
    }

    private final Followed database = new Followed();

    private IdAllocator allocator(boolean isShipped) {
        return new IdAllocator(database, SystemRecords.NEXT_CONTAINER, BLOCK, isShipped, 1);
    }

    @Test
    void anotherMachineAllocatesNoNumberThatThisOneMayHaveUsed() throws IOException {
        IdAllocator ids = allocator(true);
        for (int i = 0; i < 3 * BLOCK; i++) {
            long id = ids.next();
            assertTrue(id < database.shippedEnd, id + " is below " + database.shippedEnd);
        }
        assertEquals(3, database.ships, "one for each block");
    }

    @Test
    void noNumberIsAllocatedThatTheStoreDoesNotHave() throws IOException {
        IdAllocator ids = allocator(true);
        database.fails = true;
        assertThrows(UnavailableException.class, ids::next);
        assertThrows(UnavailableException.class, ids::next);
        database.fails = false;
        assertEquals(1, ids.next());
    }

    @Test
    void controlWithoutTheStoreItWould() throws IOException {
        long id = allocator(false).next();
        assertTrue(id >= database.shippedEnd);
        assertEquals(0, database.ships);
    }
}
