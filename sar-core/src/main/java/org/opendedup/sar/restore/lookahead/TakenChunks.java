package org.opendedup.sar.restore.lookahead;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.opendedup.sar.tier.copies.ChunkRequest;
import org.opendedup.sar.tier.copies.Source;

/**
 * The chunks that the reader has taken, of the steps that are planned or held for one position. The promotion is
 * informed of these, not of chunks that were fetched ahead and dropped. A step is reported as a whole where possible,
 * because the length of a run on the disk shows only in a whole step. For one thread at a time; reports may be
 * delivered by any thread.
 */
final class TakenChunks {
    private final PinnedChunks pinned;
    private final ParkedChunks parked;
    private final ReadCredit credit;
    /** Whether taken chunks are to be reported. */
    private final boolean tells;
    /** In the order of the file. */
    private final Deque<StepChunks> steps = new ArrayDeque<>();

    private final List<Told> toTell = new ArrayList<>();
    /** Bytes fetched from the disk or the SSD, and not taken. */
    private long untakenBytes;
    /** Whether the file was written to: chunks that are not taken then say nothing about the reader. */
    private boolean outdated;

    TakenChunks(PinnedChunks pinned, ParkedChunks parked, ReadCredit credit, boolean tells) {
        this.pinned = pinned;
        this.parked = parked;
        this.credit = credit;
        this.tells = tells;
    }

    /** The references of one step; the numbers of all references of a position rise. */
    private static final class StepChunks {
        private final long first;
        private final int count;
        private final ChunkRequest chunks;
        private final BitSet taken = new BitSet();
        private final BitSet told = new BitSet();
        private boolean ended;

        StepChunks(long first, int count, ChunkRequest chunks) {
            this.first = first;
            this.count = count;
            this.chunks = chunks;
        }

        long end() {
            return first + count;
        }

        /** Bytes of reference {@code i} that had to be fetched; 0 if they were in memory. */
        int fetchedBytes(int i) {
            return chunks.source(i) == Source.MEMORY ? 0 : chunks.length(i);
        }
    }

    /** A report of chunks that a reader has taken. Its owner must call {@link #tell}. */
    static final class Told {
        private final ParkedChunks parked;
        private final ChunkRequest chunks;
        private final List<Integer> which = new ArrayList<>();
        private final List<Pinned> data = new ArrayList<>();

        private Told(ParkedChunks parked, ChunkRequest chunks) {
            this.parked = parked;
            this.chunks = chunks;
        }

        /** Reports the chunks to the promotion. */
        void tell(StepReads reads) {
            // Another thread may report another part of the same step.
            synchronized (chunks) {
                for (int n = 0; n < data.size(); n++) {
                    Pinned chunk = data.get(n);
                    int i = which.get(n);
                    chunks.setData(i, chunk.data(), chunk.offset(), chunk.length());
                    if (chunks.source(i) == Source.MEMORY && parked.take(chunks.chunkId(i))) {
                        // The chunk was read for a position that was left, and was not taken there.
                        chunks.setSource(i, Source.HOME);
                    }
                }
                try {
                    reads.tell(chunks);
                } finally {
                    chunks.clearData();
                    data.forEach(Pinned::close);
                }
            }
        }
    }

    /**
     * Adds a planned step. Its references are those of {@code chunks}; their numbers follow each other from
     * {@code first} on.
     */
    void planned(long first, ChunkRequest chunks) {
        if (chunks.count() > 0) {
            steps.add(new StepChunks(first, chunks.count(), chunks));
        }
    }

    /** Notes that the step whose first reference has this number has ended: where its chunks came from is known now. */
    void ended(long first) {
        for (StepChunks step : steps) {
            if (step.first == first) {
                step.ended = true;
                for (int i = 0; i < step.count; i++) {
                    note(step, i, step.fetchedBytes(i), step.taken.get(i));
                }
                tellWhole(step);
            }
        }
    }

    private void note(StepChunks step, int i, int fetched, boolean isTaken) {
        if (isTaken) {
            credit.took(step.chunks.length(i));
        } else {
            untakenBytes += fetched;
        }
    }

    /** Notes that the reader has taken the chunks of the references {@code from} to {@code to} (exclusive). */
    void took(long from, long to) {
        for (StepChunks step : steps) {
            if (step.end() <= from) {
                continue;
            }
            if (step.first >= to) {
                break;
            }
            took(step, (int) Math.max(0, from - step.first), (int) Math.min(step.count, to - step.first));
            tellWhole(step);
        }
    }

    private void took(StepChunks step, int from, int to) {
        for (int i = step.taken.nextClearBit(from); i < to; i = step.taken.nextClearBit(i)) {
            step.taken.set(i);
            if (step.ended) {
                untakenBytes -= step.fetchedBytes(i);
                credit.took(step.chunks.length(i));
            }
        }
    }

    private void tellWhole(StepChunks step) {
        if (step.ended && step.taken.cardinality() == step.count) {
            tell(step);
        }
    }

    private void tell(StepChunks step) {
        Told more = null;
        for (int i = next(step, 0); tells && i >= 0; i = next(step, i + 1)) {
            step.told.set(i);
            Pinned chunk = pinned.use(step.chunks.chunkId(i));
            if (chunk != null) {
                more = more == null ? new Told(parked, step.chunks) : more;
                more.which.add(i);
                more.data.add(chunk);
            }
        }
        if (more != null) {
            toTell.add(more);
        }
    }

    /** Returns the next reference that is taken and not reported; -1 if there is none. */
    private static int next(StepChunks step, int from) {
        int i = step.taken.nextSetBit(from);
        while (i >= 0 && step.told.get(i)) {
            i = step.taken.nextSetBit(i + 1);
        }
        return i;
    }

    /** Notes that the first reference, which has this number, is about to be released; its step has ended. */
    void passing(long number) {
        StepChunks step = first(number);
        if (step == null) {
            return;
        }
        int i = (int) (number - step.first);
        if (!step.taken.get(i)) {
            untakenBytes -= step.fetchedBytes(i);
            credit.wasted(step.fetchedBytes(i));
        } else if (!step.told.get(i)) {
            tell(step);
        }
        if (number + 1 == step.end()) {
            steps.removeFirst();
        }
    }

    private @Nullable StepChunks first(long number) {
        StepChunks step = steps.peekFirst();
        return step == null || number < step.first ? null : step;
    }

    /** Notes that the plan no longer matches the file. */
    void outdated() {
        outdated = true;
    }

    /**
     * Notes that all steps have ended and that all of them are about to be released.
     *
     * @param parks whether chunks that were not taken are parked
     */
    void passAll(boolean parks) {
        long most = parks ? parked.mostBytes() : 0;
        for (StepChunks step : steps) {
            tell(step);
            for (int i = step.taken.nextClearBit(0); i < step.count; i = step.taken.nextClearBit(i + 1)) {
                int fetched = step.fetchedBytes(i);
                credit.wasted(outdated ? 0 : fetched);
                if (most > 0) {
                    most -= parked.park(step.chunks.chunkId(i), fetched, step.chunks.source(i) == Source.HOME);
                }
            }
        }
        steps.clear();
        untakenBytes = 0;
    }

    /** Bytes fetched from the disk or the SSD that the reader has not taken. */
    long untakenBytes() {
        return untakenBytes;
    }

    /** Returns and removes the pending reports; the caller has to deliver them. */
    List<Told> toTell() {
        if (toTell.isEmpty()) {
            return List.of();
        }
        List<Told> now = List.copyOf(toTell);
        toTell.clear();
        return now;
    }
}
