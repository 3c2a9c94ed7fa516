package org.opendedup.sar.restore.lookahead;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.Source;

/**
 * The chunks that the reader has taken, of the batches that are planned or held for one position. The promotion is
 * informed of these, not of chunks that were fetched ahead and dropped. A batch is reported as a whole where possible,
 * because the length of a run on the disk shows only in a whole batch. For one thread at a time; reports may be
 * delivered by any thread.
 */
final class TakenChunks {
    private final PinnedChunks pinned;
    private final ParkedChunks parked;
    private final ReadCredit credit;
    /** Whether taken chunks are to be reported. */
    private final boolean reports;
    /** In the order of the file. */
    private final Deque<BatchChunks> batches = new ArrayDeque<>();

    private final List<Report> pending = new ArrayList<>();
    /** Bytes fetched from the disk or the SSD, and not taken. */
    private long untakenBytes;
    /** Whether the file was written to: chunks that are not taken then say nothing about the reader. */
    private boolean outdated;

    TakenChunks(PinnedChunks pinned, ParkedChunks parked, boolean reports) {
        this.pinned = pinned;
        this.parked = parked;
        credit = parked.credit();
        this.reports = reports;
    }

    /** The references of one batch; the numbers of all references of a position rise. */
    private static final class BatchChunks {
        private final long first;
        private final int count;
        private final ChunkRequest chunks;
        private final BitSet taken = new BitSet();
        private final BitSet reported = new BitSet();
        private boolean ended;

        BatchChunks(long first, int count, ChunkRequest chunks) {
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

    /** A report of chunks that a reader has taken. Its owner must call {@link #deliver}. */
    static final class Report {
        private final ParkedChunks parked;
        private final ChunkRequest chunks;
        private final List<Integer> which = new ArrayList<>();
        private final List<Pinned> data = new ArrayList<>();

        private Report(ParkedChunks parked, ChunkRequest chunks) {
            this.parked = parked;
            this.chunks = chunks;
        }

        /** Reports the chunks to the promotion. */
        void deliver(BatchSources sources) {
            // Another thread may report another part of the same batch.
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
                    sources.reportTaken(chunks);
                } finally {
                    chunks.clearData();
                    data.forEach(Pinned::close);
                }
            }
        }
    }

    /**
     * Adds a planned batch. Its references are those of {@code chunks}; their numbers follow each other from
     * {@code first} on.
     */
    void planned(long first, ChunkRequest chunks) {
        if (chunks.count() > 0) {
            batches.add(new BatchChunks(first, chunks.count(), chunks));
        }
    }

    /**
     * Notes that the batch whose first reference has this number has ended: where its chunks came from is known now.
     */
    void ended(long first) {
        for (BatchChunks batch : batches) {
            if (batch.first == first) {
                batch.ended = true;
                for (int i = 0; i < batch.count; i++) {
                    note(batch, i, batch.fetchedBytes(i), batch.taken.get(i));
                }
                reportWhole(batch);
            }
        }
    }

    private void note(BatchChunks batch, int i, int fetched, boolean isTaken) {
        if (isTaken) {
            credit.took(batch.chunks.length(i));
        } else {
            untakenBytes += fetched;
        }
    }

    /** Notes that the reader has taken the chunks of the references {@code from} to {@code to} (exclusive). */
    void took(long from, long to) {
        for (BatchChunks batch : batches) {
            if (batch.end() <= from) {
                continue;
            }
            if (batch.first >= to) {
                break;
            }
            took(batch, (int) Math.max(0, from - batch.first), (int) Math.min(batch.count, to - batch.first));
            reportWhole(batch);
        }
    }

    private void took(BatchChunks batch, int from, int to) {
        for (int i = batch.taken.nextClearBit(from); i < to; i = batch.taken.nextClearBit(i)) {
            batch.taken.set(i);
            if (batch.ended) {
                untakenBytes -= batch.fetchedBytes(i);
                credit.took(batch.chunks.length(i));
            }
        }
    }

    private void reportWhole(BatchChunks batch) {
        if (batch.ended && batch.taken.cardinality() == batch.count) {
            report(batch);
        }
    }

    private void report(BatchChunks batch) {
        Report more = null;
        for (int i = next(batch, 0); reports && i >= 0; i = next(batch, i + 1)) {
            batch.reported.set(i);
            Pinned chunk = pinned.use(batch.chunks.chunkId(i));
            if (chunk != null) {
                more = more == null ? new Report(parked, batch.chunks) : more;
                more.which.add(i);
                more.data.add(chunk);
            }
        }
        if (more != null) {
            pending.add(more);
        }
    }

    /** Returns the next reference that is taken and not reported; -1 if there is none. */
    private static int next(BatchChunks batch, int from) {
        int i = batch.taken.nextSetBit(from);
        while (i >= 0 && batch.reported.get(i)) {
            i = batch.taken.nextSetBit(i + 1);
        }
        return i;
    }

    /** Notes that the first reference, which has this number, is about to be released; its batch has ended. */
    void passing(long number) {
        BatchChunks batch = first(number);
        if (batch == null) {
            return;
        }
        int i = (int) (number - batch.first);
        if (!batch.taken.get(i)) {
            untakenBytes -= batch.fetchedBytes(i);
            credit.wasted(batch.fetchedBytes(i));
        } else if (!batch.reported.get(i)) {
            report(batch);
        }
        if (number + 1 == batch.end()) {
            batches.removeFirst();
        }
    }

    private @Nullable BatchChunks first(long number) {
        BatchChunks batch = batches.peekFirst();
        return batch == null || number < batch.first ? null : batch;
    }

    /** Notes that the plan no longer matches the file. */
    void outdated() {
        outdated = true;
    }

    /**
     * Notes that all batches have ended and that all of them are about to be released.
     *
     * @param parks whether chunks that were not taken are parked
     */
    void passAll(boolean parks) {
        long most = parks ? parked.mostBytes() : 0;
        for (BatchChunks batch : batches) {
            report(batch);
            for (int i = batch.taken.nextClearBit(0); i < batch.count; i = batch.taken.nextClearBit(i + 1)) {
                int fetched = batch.fetchedBytes(i);
                credit.wasted(outdated ? 0 : fetched);
                if (most > 0) {
                    most -= parked.park(batch.chunks.chunkId(i), fetched, batch.chunks.source(i) == Source.HOME);
                }
            }
        }
        batches.clear();
        untakenBytes = 0;
    }

    /** Bytes fetched from the disk or the SSD that the reader has not taken. */
    long untakenBytes() {
        return untakenBytes;
    }

    /** Returns and removes the pending reports; the caller has to deliver them. */
    List<Report> takePending() {
        if (pending.isEmpty()) {
            return List.of();
        }
        List<Report> now = List.copyOf(pending);
        pending.clear();
        return now;
    }
}
