package org.opendedup.sar.objects.lease;

import java.time.Duration;

/**
 * The times of a lease. All who want the same one must have the same.
 *
 * @param term who wants it may take it when nobody has renewed it for so long
 * @param serves the owner makes no use of it for longer than this after it began to renew it last
 * @param period time between two renewals
 * @param retry time from a renewal without an answer to the next one, and between two looks of who waits
 * @param patience time for which users wait for a lease that cannot be renewed, from when it was seen to have expired;
 *     later ones fail at once until it is renewed
 */
public record LeaseTerms(Duration term, Duration serves, Duration period, Duration retry, Duration patience) {
    /**
     * A term in which an owner can renew three times. The owner serves for a second less: so the clocks of two machines
     * may differ in their rates by a tenth. Users wait as long as for a store that does not answer.
     */
    public static final LeaseTerms DEFAULT = new LeaseTerms(
            Duration.ofSeconds(10),
            Duration.ofSeconds(9),
            Duration.ofSeconds(3),
            Duration.ofMillis(500),
            Duration.ofSeconds(60));
}
