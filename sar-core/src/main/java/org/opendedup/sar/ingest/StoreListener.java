package org.opendedup.sar.ingest;

/** Notified, under the change lock, that a recipe now describes bytes of a file that is being stored. */
@FunctionalInterface
public interface StoreListener {
    /** Called when the recipe describes bytes {@code from} to {@code to} (exclusive). */
    void stored(long from, long to);
}
