package org.opendedup.sar.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.io.UnavailableException;
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

    /** Two renewals within one list of the owner delete all that this list could show. */
    @Test
    void afterADeletionThatFailsTheNextRenewalIsNotSoon() throws IOException {
        ReaderRegistration registration = ReaderRegistration.register(store);
        long usual = registration.renewLogging();
        store.beforeDelete = () -> {
            throw new UnavailableException("no answer");
        };
        assertEquals(usual, registration.renewLogging());
        assertEquals(3, store.listAll(ReaderNames.ALL, "").size());
        store.beforeDelete = null;
        assertEquals(usual, registration.renewLogging());
        registration.close();
        assertEquals(List.of(), store.listAll(ReaderNames.ALL, ""));
    }

    /** Its owner removes no checkpoint and no log segment as long as a reader copies the metadata. */
    @Test
    void aRenewalAtTheEndOfTheCopyingDoesNotSayThatItGoesOn() throws Exception {
        ReaderRegistration registration = ReaderRegistration.register(store);
        Thread renewing = new Thread(() -> {
            long unused = registration.renewLogging();
        });
        store.beforePut = () -> {
            store.beforePut = null;
            renewing.start();
            TestWait.until(() -> renewing.getState() == Thread.State.BLOCKED);
            return null;
        };
        registration.metadataAreCopied();
        renewing.join();
        assertFalse(
                new Readers(store, System::nanoTime).look().values().stream().anyMatch(ReaderNames.Parts::isCopying));
        registration.close();
    }
}
