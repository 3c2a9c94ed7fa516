package org.opendedup.sar.objects;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The contract holds for the simplest store, and finds a store that keeps no conditions. */
class MemoryObjectStoreTest extends ObjectStoreContract {
    @Override
    protected ObjectStore newStore() {
        return new MemoryObjectStore();
    }

    @Test
    void controlAStoreThatOverwritesIsFound() throws Exception {
        assertThrows(AssertionError.class, () -> racePuts(new MemoryObjectStore(false), 10));
        assertTrue(raceReplacements(new MemoryObjectStore(false), 20) < RACERS * 20);
        assertThrows(IOException.class, () -> ObjectStores.checkConditions(new MemoryObjectStore(false), "checked"));
    }
}
