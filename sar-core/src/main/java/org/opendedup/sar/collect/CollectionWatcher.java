package org.opendedup.sar.collect;

import org.jspecify.annotations.Nullable;

/** Hears of the collections that a volume begins itself. Must not wait, and is called by many threads. */
@FunctionalInterface
public interface CollectionWatcher {
    /** Watches nothing and stops nothing. */
    Watch IDLE = (done, bytes, returned) -> true;

    /** A collection begins; its progress and its end go to the result. */
    Watch begun(CollectionLimits limits);

    /** Watches one collection, and may stop it. */
    @FunctionalInterface
    interface Watch extends CollectionProgress {
        /**
         * The collection has ended. Called once, after the last progress.
         *
         * @param report what it did; null if it did not come to its end
         * @param failure why not; null if it did
         */
        default void ended(@Nullable CollectionReport report, @Nullable Exception failure) {}
    }
}
