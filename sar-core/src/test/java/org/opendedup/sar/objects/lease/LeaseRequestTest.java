package org.opendedup.sar.objects.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.MemoryObjectStore;
import org.opendedup.sar.objects.ReplaceableObjects;

/** What a process does that wants a lease. */
class LeaseRequestTest {
    private final ReplaceableObjects objects =
            new MemoryObjectStore().replaceable().orElseThrow();
    private final LeaseObject sound = new LeaseObject("here", objects);
    private final UUID owner = UUID.randomUUID();

    /** The lease was put, and the answer got lost; then an administrator has broken it. It is to be taken again. */
    @Test
    void aLeaseThatWasBrokenBeforeItsOwnerKnewOfItIsHeldAfterTheNextTry() throws IOException {
        LeaseRequest request = new LeaseRequest(
                new LeaseObject("here", new WithoutFirstAnswer()), LeaseTerms.DEFAULT, LeaseClock.SYSTEM, owner, null);
        assertThrows(UnavailableException.class, request::look);
        assertTrue(sound.breakNow(owner).isPresent());
        Lease lease = request.look();
        assertNotNull(lease);
        assertTrue(lease.isValid());
        LeaseRecord held = sound.current().orElseThrow();
        assertTrue(held.isHeldBy(owner), () -> "others see that it is " + held.state());
        assertEquals(2, held.epoch());
    }

    /** Replaces objects; the answer to the first replacement gets lost. */
    private final class WithoutFirstAnswer implements ReplaceableObjects {
        private boolean isLost;

        @Override
        public Optional<Version> current(String name) throws IOException {
            return objects.current(name);
        }

        @Override
        public String replace(String name, @Nullable String expected, UUID token, byte[] contents) throws IOException {
            String version = objects.replace(name, expected, token, contents);
            if (!isLost) {
                isLost = true;
                throw new UnavailableException("the answer got lost");
            }
            return version;
        }
    }
}
