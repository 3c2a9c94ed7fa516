package org.opendedup.sar.restore.frame;

import com.carrotsearch.hppc.LongHashSet;
import com.carrotsearch.hppc.LongLongHashMap;
import com.carrotsearch.hppc.cursors.LongLongCursor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;

/**
 * Makes the visits of one reader's turns to the places of a disk longer. A file that shares data with older files has
 * its chunks in many packs, in the order of the file in each. A turn wants little of each pack, so that a disk would
 * seek more than it reads. Therefore a turn that seeks has the kernel read ahead, behind what it reads in a pack, the
 * next containers that later turns want there. Those turns find them in the kernel's cache: compressed, and outside the
 * volume's memory. A kernel that is short of memory forgets them, and they are read again. Containers of which little
 * is wanted are left out. Safe for use by many threads.
 */
public final class LongVisits {
    /** With shorter seeks, counted in the bytes that are transferred meanwhile, longer visits gain nothing. */
    static final long LEAST_SEEK_BYTES = 512 << 10;

    /** Most bytes that are asked for behind a visit: a disk of 150 MB/s reads them in the time of ten seeks. */
    private static final long VISIT_BYTES = 16 << 20;

    /**
     * Least bytes to ask for where the kernel already has what a turn reads. Such a turn asks too, because decoding may
     * be slower than the disk: the disk would wait until everything that the kernel has is decoded.
     */
    private static final long LEAST_VISIT_BYTES = VISIT_BYTES / 2;

    /** Most bytes that one turn adds to its visits: others wait for the disk meanwhile, for 0.4 s. */
    private static final long TURN_BYTES = 64 << 20;

    /** Most containers that are remembered, some GB of a file: their number takes memory that nobody counts. */
    private static final int MOST_ASKED = 4096;

    /** Least part of a container that is wanted, in quarters. */
    private static final int WANTED_QUARTERS = 3;

    private final Entries entries;
    /** Containers of which the kernel was asked for all that is wanted. Guarded by this. */
    private final LongHashSet asked = new LongHashSet();

    /** Finds a container's entry in the container table; null if it has none. */
    @FunctionalInterface
    interface Entries {
        @Nullable
        StoredContainer entry(long container) throws IOException;
    }

    LongVisits(Entries entries) {
        this.entries = entries;
    }

    /** A part of a pack: bytes {@code from} to {@code to} (exclusive). */
    record Range(long pack, long from, long to) {
        long length() {
            return to - from;
        }
    }

    /**
     * What a turn reads at one place of the disk.
     *
     * @param last the last part of it
     * @param isFromDisk whether the kernel was not asked for some of it
     */
    record Visit(Range last, boolean isFromDisk) {}

    /** A container that later turns want, and the part of it that the kernel is to be asked for. */
    private record Wanted(long container, Range range) {}

    /** Returns whether the kernel was asked for what is wanted of a container. */
    synchronized boolean hasAsked(long container) {
        return asked.contains(container);
    }

    /**
     * Returns what the kernel is to be asked for behind each visit, in the order of the visits. The caller asks for all
     * of it.
     *
     * @param visits what a turn reads, in the order of the disk
     * @param later bytes of chunks that later turns want, by container
     */
    synchronized List<List<Range>> lengthen(List<Visit> visits, LongLongHashMap later) throws IOException {
        if (asked.size() > MOST_ASKED) {
            asked.clear();
        }
        List<Wanted> wanted = wanted(visits, later);
        List<List<Range>> more = new ArrayList<>();
        long left = TURN_BYTES;
        for (Visit visit : visits) {
            List<Wanted> behind = behind(visit, wanted, left);
            long bytes = behind.stream().mapToLong(next -> next.range.length()).sum();
            if (!visit.isFromDisk && bytes < LEAST_VISIT_BYTES) {
                behind = List.of();
            }
            for (Wanted next : behind) {
                asked.add(next.container);
                left -= next.range.length();
            }
            more.add(behind.stream().map(Wanted::range).toList());
        }
        return more;
    }

    /** Returns the containers to ask for behind one visit, {@code most} bytes of them at most. */
    private List<Wanted> behind(Visit visit, List<Wanted> wanted, long most) {
        List<Wanted> behind = new ArrayList<>();
        long end = visit.last.to;
        for (Wanted next : wanted) {
            Range range = next.range;
            boolean isBehind = range.pack == visit.last.pack && range.from >= end;
            if (isBehind && (range.from - end > LEAST_SEEK_BYTES || range.to - visit.last.to > VISIT_BYTES)) {
                break;
            }
            boolean isAsked = asked.contains(next.container);
            if (isBehind && (isAsked || range.length() <= most)) {
                end = range.to;
                if (!isAsked) {
                    behind.add(next);
                    most -= range.length();
                }
            }
        }
        return behind;
    }

    /**
     * Returns the containers that lie behind the visits, by pack and place. Leaves out those of which later turns want
     * less than three quarters.
     */
    private List<Wanted> wanted(List<Visit> visits, LongLongHashMap later) throws IOException {
        List<Wanted> wanted = new ArrayList<>();
        for (LongLongCursor each : later) {
            StoredContainer at = entries.entry(each.key);
            if (at == null || at.state() != StoredContainer.State.SEALED || at.bytes() == 0) {
                continue;
            }
            long end = at.offset() + at.bytes();
            for (Visit visit : visits) {
                Range last = visit.last;
                long from = Math.max(at.offset(), last.to);
                boolean isBehind = at.pack() == last.pack && from < end && from - last.to <= VISIT_BYTES;
                long rest = isBehind ? Math.round((double) at.rawBytes() / at.bytes() * (end - from)) : 0;
                if (isBehind && each.value >= rest / 4 * WANTED_QUARTERS) {
                    wanted.add(new Wanted(each.key, new Range(at.pack(), from, end)));
                    break;
                }
            }
        }
        wanted.sort(
                Comparator.comparingLong((Wanted each) -> each.range.pack).thenComparingLong(each -> each.range.from));
        return wanted;
    }
}
