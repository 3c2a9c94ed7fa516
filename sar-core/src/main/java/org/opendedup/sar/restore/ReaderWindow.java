package org.opendedup.sar.restore;

/**
 * The part of a file's recipe that is looked at ahead of one reader, and the chunks that are held for it.
 *
 * <pre>
 *   passed | fetched, for the reader | being fetched | looked at
 *          ^ reference 0             ^ fetched       ^ planned   ^ count
 * </pre>
 *
 * For one thread at a time.
 */
final class ReaderWindow {
    /** In the lists of the step that fetches it. */
    private static final int PLANNED_BYTES = 64;

    private final References references = new References();
    private final ChunkHolds holds;
    private int fetched;
    private int planned;
    /** Bytes of the file that the references from {@link #planned} on want of their chunks. */
    private long lookedAtBytes;
    /** Every reference that begins before this offset is planned. */
    private long plannedTo;
    /** What the recipe says before this offset is known. */
    private long lookedTo;
    /** Every reference that begins before this offset is fetched. */
    private long fetchedTo;

    /** @param from offset in the file where the reader is */
    ReaderWindow(HeldChunks held, long from) {
        holds = new ChunkHolds(held);
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

    long chunkId(int reference) {
        return references.chunkId(reference);
    }

    /** Bytes it needs of its chunk, from the first one on. */
    int neededBytes(int reference) {
        return references.neededBytes(reference);
    }

    int check(int reference) {
        return references.check(reference);
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

    /** What is charged for the references that are planned or fetched. */
    long heldBytes() {
        return holds.bytes() + (long) planned * PLANNED_BYTES;
    }

    long tableBytes() {
        return references.heapBytes();
    }

    /** Adds the reference on which the cursor stands. */
    void look(RecipeCursor cursor) {
        references.add(cursor.offset(), cursor.chunkId(), cursor.neededBytes(), cursor.check());
        lookedAtBytes += cursor.neededBytes();
        lookedTo = cursor.offset() + 1;
    }

    /** There is nothing behind what was looked at, up to this offset. */
    void lookedTo(long offset) {
        lookedTo = offset;
    }

    /** Plans the next reference: its chunk is held, until the reader has passed it. Returns what is charged for that. */
    int plan(int charge) {
        int more = holds.hold(references.chunkId(planned), charge) + PLANNED_BYTES;
        lookedAtBytes -= references.neededBytes(planned);
        planned++;
        return more;
    }

    /** So far all is planned; returns that offset. */
    long endPlan() {
        plannedTo = planned < references.count() ? references.offset(planned) : lookedTo;
        return plannedTo;
    }

    /** The next references are fetched, which are all that begin before an offset. */
    void fetched(int count, long offset) {
        fetched += count;
        fetchedTo = Math.max(fetchedTo, offset);
    }

    /** Charges planned references what their chunks take that have come; returns how much more. */
    long came(WantedChunks chunks) {
        long more = 0;
        for (int i = 0; i < chunks.chunks().count(); i++) {
            more += holds.came(chunks.chunks().chunkId(i));
        }
        return more;
    }

    /** Lets go of references that end before an offset and are fetched. */
    void pass(long offset) {
        while (mayPass(offset)) {
            passFirst();
        }
    }

    /** As {@link #pass}, but of no more than is needed for having no more than {@code most} bytes charged. */
    void passDownTo(long most, long offset) {
        while (heldBytes() > most && mayPass(offset)) {
            passFirst();
        }
    }

    private boolean mayPass(long offset) {
        return fetched > 0 && references.offset(0) + references.neededBytes(0) <= offset;
    }

    private void passFirst() {
        holds.release(references.chunkId(0));
        references.removeFirst();
        fetched--;
        planned--;
    }

    /** Whether a reader who wants a chunk at an offset should have found it: the recipe was looked at there, and named others. */
    boolean isMissed(long chunkId, long offset) {
        boolean isFetched = offset < fetchedTo && (references.count() == 0 || offset >= references.offset(0));
        return isFetched && !holds.contains(chunkId);
    }

    /** Lets go of all. Nothing is planned or fetched then. Idempotent. */
    void releaseAll() {
        holds.releaseAll();
        while (planned > 0) {
            references.removeFirst();
            planned--;
        }
        fetched = 0;
    }
}
