package org.opendedup.sar.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.MemoryObjectStore;
import org.opendedup.sar.objects.ObjectPage;

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

    /** A list may lack what is made while it is made: what was there before must stay. */
    @Test
    void aRenewalSoonAfterTheEndOfTheCopyingLeavesWhatAListNeeds() throws IOException {
        ReaderRegistration registration = ReaderRegistration.register(store);
        for (int lists = 0; lists < 2; lists++) {
            List<ObjectPage.Entry> before = new ArrayList<>(store.listAll(ReaderNames.ALL, ""));
            registration.metadataAreCopied();
            registration.renew();
            before.retainAll(store.listAll(ReaderNames.ALL, ""));
            assertFalse(before.isEmpty(), "no object of the reader was there all the time");
        }
        registration.renew();
        assertEquals(2, store.listAll(ReaderNames.ALL, "").size(), "what no list needs is deleted");
        registration.close();
    }
}
