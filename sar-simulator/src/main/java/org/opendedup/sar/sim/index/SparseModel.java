package org.opendedup.sar.sim.index;

import com.carrotsearch.hppc.LongHashSet;
import com.carrotsearch.hppc.LongIntHashMap;
import com.carrotsearch.hppc.LongObjectHashMap;
import com.carrotsearch.hppc.procedures.LongIntProcedure;
import com.carrotsearch.hppc.procedures.LongProcedure;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sparse indexing (Lillibridge et al., FAST 2009): of each segment of 10 MiB, one fingerprint in 64 (a hook) is in
 * memory with the segments that have it. The segments that share most hooks with a new one (champions, at most 10) are
 * read from the disk, one read each, and the new one is compared with these only.
 */
final class SparseModel extends IndexModel {
    private static final int SAMPLE = 64;
    private static final int SEGMENT_BYTES = 10 << 20;
    private static final int MAX_CHAMPIONS = 10;
    /** Segments that a hook leads to: the youngest ones. */
    private static final int SEGMENTS_OF_HOOK = 3;
    /** Bytes of a hook: the 85 GB a petabyte with chunks of 4 KiB that the SiLo paper's Table 2 has. */
    private static final int HOOK_BYTES = 20;

    private final LongObjectHashMap<int[]> hooks = new LongObjectHashMap<>();
    private final List<long[]> segments = new ArrayList<>();
    private final List<Long> keys = new ArrayList<>();
    private final List<Integer> lengths = new ArrayList<>();
    private long bytes;

    @Override
    void store(TraceSegment segment) {
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            keys.add(segment.key(chunk));
            lengths.add(segment.length(chunk));
        }
        bytes += segment.bytes();
        if (bytes >= SEGMENT_BYTES) {
            finish();
        }
    }

    @Override
    void finish() {
        if (keys.isEmpty()) {
            return;
        }
        LongHashSet known = new LongHashSet();
        for (int champion : champions()) {
            long[] others = segments.get(champion);
            read((long) others.length * StoredContainers.ENTRY_BYTES);
            known.addAll(others);
        }
        for (int chunk = 0; chunk < keys.size(); chunk++) {
            if (!known.add(keys.get(chunk))) {
                found(lengths.get(chunk));
            }
        }
        int number = segments.size();
        segments.add(keys.stream().mapToLong(Long::longValue).toArray());
        for (long key : keys) {
            if (isHook(key)) {
                hooks.put(key, youngest(hooks.get(key), number));
            }
        }
        keys.clear();
        lengths.clear();
        bytes = 0;
    }

    private static boolean isHook(long key) {
        return key % SAMPLE == 0;
    }

    private static int[] youngest(int @Nullable [] before, int number) {
        if (before == null) {
            return new int[] {number};
        }
        if (before[0] == number) {
            return before;
        }
        int[] all = new int[Math.min(SEGMENTS_OF_HOOK, before.length + 1)];
        all[0] = number;
        System.arraycopy(before, 0, all, 1, all.length - 1);
        return all;
    }

    /** Returns the segments that have the most hooks which no champion before has. */
    private List<Integer> champions() {
        LongHashSet open = new LongHashSet();
        keys.stream().filter(key -> isHook(key) && hooks.containsKey(key)).forEach(open::add);
        List<Integer> champions = new ArrayList<>();
        while (champions.size() < MAX_CHAMPIONS && !open.isEmpty()) {
            LongIntHashMap votes = new LongIntHashMap();
            open.forEach((LongProcedure) key -> {
                for (int segment : hooks.get(key)) {
                    votes.addTo(segment, 1);
                }
            });
            int[] best = {-1, 0};
            votes.forEach((LongIntProcedure) (segment, count) -> {
                if (count > best[1] || count == best[1] && segment > best[0]) {
                    best[0] = (int) segment;
                    best[1] = count;
                }
            });
            champions.add(best[0]);
            open.removeAll(key -> {
                for (int segment : hooks.get(key)) {
                    if (segment == best[0]) {
                        return true;
                    }
                }
                return false;
            });
        }
        return champions;
    }

    @Override
    long indexBytes() {
        return (long) hooks.size() * HOOK_BYTES;
    }

    @Override
    long cacheBytes() {
        return 0;
    }
}
