package org.opendedup.sar.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.objects.MemoryObjectStore;

/** Renewals of a registration that fail. The owner takes a reader for dead that does not renew it. */
class ReaderRegistrationTest {
    private final HookedObjectStore store = new HookedObjectStore(new MemoryObjectStore());

    @Test
    void afterAFailureOfAnyKindTheNextTryIsSoon() throws IOException {
        ReaderRegistration registration = ReaderRegistration.register(store);
        long usual = registration.renewLogging();
        store.failure = new IOException("no answer");
        assertTrue(registration.renewLogging() < usual);
        store.failure = null;
        store.beforePut = () -> {
            throw new NoClassDefFoundError("replaced");
        };
        assertTrue(registration.renewLogging() < usual);
        store.beforePut = null;
        assertEquals(usual, registration.renewLogging());
        registration.close();
    }
}
