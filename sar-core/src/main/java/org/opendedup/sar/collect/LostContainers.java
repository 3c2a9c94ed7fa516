package org.opendedup.sar.collect;

import com.carrotsearch.hppc.LongArrayList;
import com.carrotsearch.hppc.cursors.LongCursor;
import java.io.IOException;
import java.util.Set;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forgets the garbage of lost containers: those that have counts, because files refer to them, and no entry in the
 * container table, because their bytes are gone, or one that a mount left open, because it found nothing. The record of
 * counts of such a container goes once no file refers to any of its chunks. Reads the keys of all records of counts, 8
 * bytes of memory for each.
 */
final class LostContainers {
    private static final Logger log = LoggerFactory.getLogger(LostContainers.class);

    /** Containers that are compared at once, so that memory does not grow with the volume. */
    private static final int AT_ONCE = 10_000;

    private final MetadataStore metadata;
    private final ReferenceCounts counts;
    private final Commits commits;
    private final GracePeriod uses;
    private final Set<Long> leftOpen;

    /**
     * @param uses open while a writer relies on a stored copy without having a reference to it
     * @param leftOpen containers that the mount left open
     */
    LostContainers(MetadataStore metadata, Commits commits, GracePeriod uses, Set<Long> leftOpen) {
        this.leftOpen = leftOpen;
        this.metadata = metadata;
        this.commits = commits;
        this.uses = uses;
        counts = metadata.counts();
    }

    /** Tombstones what no file refers to; the commit that follows removes the records that consist of tombstones. */
    void forgetGarbage() throws IOException {
        LongArrayList counted = counts.committed(0, AT_ONCE);
        while (!counted.isEmpty()) {
            long next = counted.get(counted.size() - 1) + 1;
            LongArrayList lost = withoutEntry(counted);
            if (!lost.isEmpty()) {
                forgetGarbage(lost);
            }
            counted = counts.committed(next, AT_ONCE);
        }
    }

    private void forgetGarbage(LongArrayList lost) throws IOException {
        try {
            for (LongCursor container : lost) {
                condemn(container.value);
            }
            uses.await();
            for (LongCursor container : lost) {
                tombstone(container.value);
            }
        } finally {
            for (LongCursor container : lost) {
                counts.pardon(container.value);
            }
        }
        commits.commit();
    }

    private void condemn(long container) throws IOException {
        try {
            counts.condemn(container, counts.slots(container));
        } catch (IOException e) {
            stays(container, e);
        }
    }

    private void tombstone(long container) throws IOException {
        commits.changes().lock();
        try {
            counts.tombstoneCondemned(container);
        } catch (IOException e) {
            stays(container, e);
        } finally {
            commits.changes().unlock();
        }
    }

    /** The counts of the others can be read perhaps. */
    private static void stays(long container, IOException why) throws IOException {
        NoAnswer.rethrow(why);
        log.warn("the counts of container {}, which is lost, stay: {}", container, why.getMessage());
    }

    /**
     * Returns those of the containers that have no entry, or are left open. The table is read after the counts: a
     * commit writes both, so what has committed counts has its entry by now.
     *
     * @param counted ids in ascending order
     */
    private LongArrayList withoutEntry(LongArrayList counted) throws IOException {
        LongArrayList lost = new LongArrayList();
        int[] next = new int[1];
        metadata.containers().forEachFrom(counted.get(0), entry -> {
            while (next[0] < counted.size() && counted.get(next[0]) < entry.container()) {
                lost.add(counted.get(next[0]++));
            }
            if (next[0] < counted.size() && counted.get(next[0]) == entry.container()) {
                if (leftOpen.contains(entry.container())) {
                    lost.add(entry.container());
                }
                next[0]++;
            }
            return next[0] < counted.size();
        });
        while (next[0] < counted.size()) {
            lost.add(counted.get(next[0]++));
        }
        return lost;
    }
}
