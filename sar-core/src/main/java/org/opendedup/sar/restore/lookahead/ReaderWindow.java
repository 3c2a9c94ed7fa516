package org.opendedup.sar.restore.lookahead;

import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.WantedChunks;

/**
 * The part of a file's recipe that is looked up ahead of one reader, and the chunks that are held for it. A cache
 * policy has a window of its own, {@code LookaheadWindow}, which holds no chunks.
 *
 * <pre>
 *   passed | fetched, for the reader | being fetched | known
 *          ^ reference 0             ^ fetched       ^ planned   ^ count
 * </pre>
 *
 * For one thread at a time.
 */
final class ReaderWindow {
    /** Heap bytes of a planned reference in the lists of the batch that fetches it. */
    private static final int PLANNED_BYTES = 64;

    private final References references = new References();
    private final ChunkHolds holds;
    private final TakenChunks taken;
    /** Number of references that were passed, which is the number of the next one. */
    private long passed;

    private int fetched;
    private int planned;
    /** Bytes of chunks that the references from {@link #planned} on need. */
    private long lookedAtBytes;
    /** File offset: every reference that begins at a lower one is planned. */
    private long plannedTo;
    /** File offset: the recipe is known below it. */
    private long lookedTo;
    /** File offset: every reference that begins at a lower one is fetched. */
    private long fetchedTo;

    /**
     * @param taken notified of references that are passed
     * @param from offset in the file where the reader is
     */
    ReaderWindow(PinnedChunks pinned, TakenChunks taken, long from) {
        holds = new ChunkHolds(pinned);
        this.taken = taken;
        plannedTo = from;
        lookedTo = from;
        fetchedTo = from;
    }

    int count() {
        return references.count();
    }

    int planned() {
        return planned;
    }

    /** File offset at which a reference begins. */
    long offset(int reference) {
        return references.offset(reference);
    }

    /** Number of the next reference to be planned; numbers rise by one. */
    long nextNumber() {
        return passed + planned;
    }

    /** Notes that the reader has taken {@code length} bytes from {@code offset} on, of the planned references. */
    void took(long offset, int length) {
        int from = 0;
        for (int to = planned; from < to; ) {
            int middle = (from + to) >>> 1;
            if (references.offset(middle) <= offset) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        // The previous reference begins at the offset or earlier. It may end at or below it, if a hole follows.
        if (from > 0 && references.end(from - 1) > offset) {
            from--;
        }
        int to = from;
        while (to < planned && references.offset(to) < offset + length) {
            to++;
        }
        taken.took(passed + from, passed + to);
    }

    long chunkId(int reference) {
        return references.chunkId(reference);
    }

    /** Bytes that a reference needs of its chunk, from the first byte of the chunk on. */
    int neededBytes(int reference) {
        return references.neededBytes(reference);
    }

    int fingerprintPrefix(int reference) {
        return references.fingerprintPrefix(reference);
    }

    long lookedAtBytes() {
        return lookedAtBytes;
    }

    long plannedTo() {
        return plannedTo;
    }

    long fetchedTo() {
        return fetchedTo;
    }

    /** Bytes charged for references that are planned or fetched. */
    long heldBytes() {
        return holds.bytes() + (long) planned * PLANNED_BYTES;
    }

    long tableBytes() {
        return references.heapBytes();
    }

    /** Adds the current reference of the cursor. */
    void look(RecipeCursor cursor) {
        references.add(
                cursor.offset(), cursor.length(), cursor.chunkId(), cursor.neededBytes(), cursor.fingerprintPrefix());
        lookedAtBytes += cursor.neededBytes();
        lookedTo = cursor.offset() + 1;
    }

    /** Notes that no further reference exists up to this offset. */
    void lookedTo(long offset) {
        lookedTo = offset;
    }

    /** Plans the next reference: holds its chunk until the reader has passed it. Returns the bytes charged. */
    int plan(int charge) {
        int more = holds.hold(references.chunkId(planned), charge) + PLANNED_BYTES;
        lookedAtBytes -= references.neededBytes(planned);
        planned++;
        return more;
    }

    /** Ends the plan of a batch; returns the offset up to which all is planned. */
    long endPlan() {
        plannedTo = planned < references.count() ? references.offset(planned) : lookedTo;
        return plannedTo;
    }

    /** Notes that the next {@code count} references are fetched, which are all that begin below an offset. */
    void fetched(int count, long offset) {
        fetched += count;
        fetchedTo = Math.max(fetchedTo, offset);
    }

    /** Charges planned references the actual size of chunks that have arrived; returns the additional bytes. */
    long chargeArrived(WantedChunks chunks) {
        long more = 0;
        for (int i = 0; i < chunks.chunks().count(); i++) {
            more += holds.chargeArrived(chunks.chunks().chunkId(i));
        }
        return more;
    }

    /** Releases fetched references that end at or below an offset. */
    void pass(long offset) {
        while (mayPass(offset)) {
            passFirst();
        }
    }

    /** As {@link #pass}, but stops when at most {@code most} bytes are charged. */
    void passDownTo(long most, long offset) {
        while (heldBytes() > most && mayPass(offset)) {
            passFirst();
        }
    }

    private boolean mayPass(long offset) {
        return fetched > 0 && references.end(0) <= offset;
    }

    private void passFirst() {
        taken.passing(passed);
        passed++;
        holds.release(references.chunkId(0));
        references.removeFirst();
        fetched--;
        planned--;
    }

    /**
     * Whether a reader should have found a chunk at an offset: the recipe was looked up there, and named other chunks.
     */
    boolean isMissed(long chunkId, long offset) {
        boolean isFetched = offset < fetchedTo && (references.count() == 0 || offset >= references.offset(0));
        return isFetched && !holds.contains(chunkId);
    }

    /**
     * Releases all references that are planned or fetched. Idempotent.
     *
     * @param parks whether chunks that the reader has not taken are parked
     */
    void releaseAll(boolean parks) {
        taken.passAll(parks);
        holds.releaseAll();
        while (planned > 0) {
            references.removeFirst();
            passed++;
            planned--;
        }
        fetched = 0;
    }
}
