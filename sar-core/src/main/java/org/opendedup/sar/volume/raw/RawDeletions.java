package org.opendedup.sar.volume.raw;

import java.io.IOException;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.RawPlace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Deletes backing files that no record names any more, when the commit that says so is durable. */
final class RawDeletions {
    private static final Logger log = LoggerFactory.getLogger(RawDeletions.class);

    private final RawPlace place;
    private final Committer committer;
    /** Backing files that no record names any more, with the generation that says so. */
    private final Queue<Dead> dead = new ConcurrentLinkedQueue<>();
    /**
     * Numbers of backing files that an inode had before, until a sync of the fast tier made their deletion durable: a
     * crash may bring such a file back, so that it must not have the number of a new one.
     */
    private final Set<Long> retired = ConcurrentHashMap.newKeySet();
    /** Those of them whose files were deleted, with the last sync that began before that. */
    private final Queue<Deleted> deleted = new ConcurrentLinkedQueue<>();

    private record Dead(long number, long generation) {}

    private record Deleted(long number, long syncedBefore) {}

    RawDeletions(RawPlace place, Committer committer) {
        this.place = place;
        this.committer = committer;
    }

    /** Has a backing file deleted whose record is removed in the present generation. */
    void add(long number) {
        dead.add(new Dead(number, committer.generation()));
    }

    /** Keeps a number from being used again before the deletion of its file is durable. */
    void retire(long number) {
        retired.add(number);
    }

    boolean isRetired(long number) {
        return retired.contains(number);
    }

    /** Returns whether backing files wait for a commit before they can be deleted. */
    boolean isWaiting() {
        return !dead.isEmpty();
    }

    /** Deletes the backing files whose removal from the metadata is durable. */
    void run() {
        for (Dead next = dead.peek(); next != null && committer.isDurable(next.generation); next = dead.peek()) {
            delete(next.number);
            dead.poll();
        }
    }

    /** Deletes a backing file that no record names. */
    void delete(long number) {
        try {
            place.folder().delete(number);
        } catch (IOException e) {
            log.warn("a backing file that is not needed any more cannot be deleted: {}", e.getMessage());
        }
        if (retired.contains(number)) {
            deleted.add(new Deleted(number, place.lastBegun()));
            place.noteWritten();
        }
    }

    /** Lets numbers be used again whose files were deleted before the sync that succeeded last. */
    void noteSynced() {
        for (Deleted next = deleted.peek();
                next != null && place.isSyncedAfter(next.syncedBefore);
                next = deleted.peek()) {
            retired.remove(next.number);
            deleted.poll();
        }
    }
}
