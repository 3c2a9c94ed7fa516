package org.opendedup.sar.ssd;

/**
 * Notified once of the outcome of each chunk that was {@link OfferAnswer#TAKEN}. Called by the writing thread; must not
 * wait.
 */
@FunctionalInterface
public interface OfferListener {
    /** Ignores all outcomes. */
    OfferListener NONE = (fate, tag, lengthBytes) -> {};

    /**
     * @param tag ordinal of the {@link Cause} for which the chunk was offered
     * @param lengthBytes bytes of the chunk before compression
     */
    void onDecided(OfferFate fate, int tag, int lengthBytes);
}
