package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.sdfs.config.RecompressLevel;

/**
 * How hard the collections of a mounted volume compress containers anew, unless one is asked for another level. Safe
 * for use by many threads.
 */
public final class RecompressSetting {
    private final Compression writing;
    private final Keeper keeper;
    private volatile RecompressLevel level;

    /** Stores the setting for the next mount. */
    @FunctionalInterface
    public interface Keeper {
        /** @throws IOException if it cannot be stored; the old one then stays stored */
        void keep(RecompressLevel level) throws IOException;
    }

    /**
     * @param level the setting of the volume file
     * @param writing compression of what is written
     */
    public RecompressSetting(RecompressLevel level, Compression writing, Keeper keeper) {
        this.level = level;
        this.writing = writing;
        this.keeper = keeper;
    }

    public RecompressLevel level() {
        return level;
    }

    /**
     * Changes the setting, for the next collection and for later mounts.
     *
     * @return the level before
     * @throws IllegalArgumentException if the level is not allowed; the message says which are. Nothing is changed
     */
    synchronized RecompressLevel set(RecompressLevel now) throws IOException {
        now.checkAgainst(writing);
        keeper.keep(now);
        RecompressLevel before = level;
        level = now;
        return before;
    }

    /** Returns limits with the level of this setting. Lets those containers be that are young. */
    public CollectionLimits limits(double garbageShare, boolean dryRun) {
        return new CollectionLimits(garbageShare, dryRun, level.level(), false);
    }

    /** Returns limits with a level that is asked for; all containers are compressed anew with it. */
    CollectionLimits limits(double garbageShare, boolean dryRun, RecompressLevel asked) {
        asked.checkAgainst(writing);
        return new CollectionLimits(garbageShare, dryRun, asked.level(), true);
    }
}
