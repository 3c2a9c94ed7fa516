package org.opendedup.sar.sdfs.collect;

import java.util.Locale;

/** What a collection does now. */
public enum CollectionStage {
    /** Compares the containers for an exact pass before the collection; the figures are 0. */
    COMPARING,
    /** Replaces references for that pass; the figures are bytes of files, read once for each 200 000 copies. */
    JOINING,
    /** Moves chunks before the collection; the figures are bytes of the files whose recipes are read. */
    ARRANGING,
    /** Collects; the figures are stored bytes of the chosen containers. */
    COLLECTING;

    /** Returns the name in reports. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
