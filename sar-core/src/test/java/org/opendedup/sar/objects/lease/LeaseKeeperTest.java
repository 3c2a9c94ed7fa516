package org.opendedup.sar.objects.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.MemoryObjectStore;
import org.opendedup.sar.objects.ReplaceableObjects;

/** What a thread does that renews a lease. */
@Timeout(60)
class LeaseKeeperTest {
    private static final LeaseTerms TERMS = new LeaseTerms(
            Duration.ofMillis(1000),
            Duration.ofMillis(900),
            Duration.ofMillis(20),
            Duration.ofMillis(5),
            Duration.ofSeconds(1));

    /** A store whose client fails as it never should, and another time has no memory or thread. */
    private static final class Failing implements ReplaceableObjects {
        private final ReplaceableObjects objects =
                new MemoryObjectStore().replaceable().orElseThrow();
        private final AtomicInteger replaced = new AtomicInteger();

        @Override
        public Optional<Version> current(String name) throws IOException {
            return objects.current(name);
        }

        @Override
        public String replace(String name, @Nullable String expected, UUID token, byte[] contents) throws IOException {
            int number = replaced.incrementAndGet();
            if (number == 2) {
                throw new IllegalStateException("not an answer");
            } else if (number == 3) {
                throw new OutOfMemoryError("no thread");
            }
            return objects.replace(name, expected, token, contents);
        }
    }

    /** A store that does not answer for a while. */
    private static final class Silent implements ReplaceableObjects {
        private final ReplaceableObjects objects =
                new MemoryObjectStore().replaceable().orElseThrow();
        private volatile boolean isSilent;

        @Override
        public Optional<Version> current(String name) throws IOException {
            answer();
            return objects.current(name);
        }

        @Override
        public String replace(String name, @Nullable String expected, UUID token, byte[] contents) throws IOException {
            answer();
            return objects.replace(name, expected, token, contents);
        }

        private void answer() throws UnavailableException {
            if (isSilent) {
                throw new UnavailableException("no answer");
            }
        }
    }

    /** A hundred one after another, as few threads serve many requests, would take more than the time of this test. */
    @Test
    void allUsersOfALeaseThatCannotBeRenewedWaitForOneEnd() throws IOException {
        Silent objects = new Silent();
        try (LeaseKeeper keeper = LeaseKeeper.acquire(
                new LeaseObject("here", objects), TERMS, UUID.randomUUID(), null, "test", held -> {})) {
            objects.isSilent = true;
            TestWait.until(() -> keeper.status().state().equals("expired"));
            for (int request = 0; request < 100; request++) {
                assertThrows(LeaseLostException.class, keeper::require);
            }
            objects.isSilent = false;
            TestWait.until(() -> keeper.status().state().equals("valid"));
            keeper.require();
        }
    }

    @Test
    void aFailureOfTheClientDoesNotEndTheRenewals() throws IOException {
        Failing objects = new Failing();
        try (LeaseKeeper keeper = LeaseKeeper.acquire(
                new LeaseObject("here", objects), TERMS, UUID.randomUUID(), null, "test", held -> {})) {
            TestWait.until(() -> objects.replaced.get() > 10);
            keeper.require();
            assertEquals("valid", keeper.status().state());
        }
    }
}
