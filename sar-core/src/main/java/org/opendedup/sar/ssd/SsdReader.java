package org.opendedup.sar.ssd;

import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;

/**
 * Reads the copies for one request: in the order of the log, neighbours in one read. Holds the buffers for that. For
 * use by one thread at a time.
 */
final class SsdReader {
    /** Largest gap that is read rather than skipped, in bytes: about what an SSD transfers in the time of a request. */
    private static final int MAX_GAP_BYTES = 4 << 10;

    private static final int MAX_READ_BYTES = 1 << 20;
    private static final int CHUNKS = 64;

    private static final int OFFSET_BITS = 24;
    private static final int INDEX_BITS = 24;

    private final MapTable table;
    private final Segments segments;
    private final RecordFormat format;
    private final Consumer<IOException> failure;
    private final LogCounters counters;
    private final MapEntry entry = new MapEntry();

    /** Sort key of each copy, in the order of the log: segment 16 bits | offset / 8 24 | index in the request 24. */
    private long[] keys = new long[CHUNKS];
    /** Lengths of the records in bytes, by index in the request. */
    private int[] lengths = new int[CHUNKS];

    private byte[] buffer = new byte[64 << 10];

    SsdReader(
            MapTable table,
            Segments segments,
            RecordFormat format,
            Consumer<IOException> failure,
            LogCounters counters) {
        this.table = table;
        this.segments = segments;
        this.format = format;
        this.failure = failure;
        this.counters = counters;
    }

    /** See {@link SsdStore#read}. */
    void read(ChunkRequest request) {
        int count = look(request);
        Arrays.sort(keys, 0, count);
        for (int i = 0; i < count; ) {
            int end = endOfRead(i, count);
            read(request, i, end);
            i = end;
        }
    }

    /** Finds the entries; sends chunks without one home. */
    private int look(ChunkRequest request) {
        if (request.count() > keys.length) {
            keys = new long[request.count()];
            lengths = new int[request.count()];
        }
        int count = 0;
        for (int i = 0; i < request.count(); i++) {
            if (request.isFromSsd(i)) {
                if (i < 1 << INDEX_BITS && table.get(request.chunkId(i), entry)) {
                    keys[count++] = (long) entry.segment << (OFFSET_BITS + INDEX_BITS)
                            | (long) (entry.offset / PackedEntry.ALIGNMENT) << INDEX_BITS
                            | i;
                    lengths[i] = entry.length;
                } else {
                    request.sendHome(i);
                }
            }
        }
        return count;
    }

    private int segment(int k) {
        return (int) (keys[k] >>> (OFFSET_BITS + INDEX_BITS));
    }

    private int offset(int k) {
        return (int) (keys[k] >>> INDEX_BITS & (1 << OFFSET_BITS) - 1) * PackedEntry.ALIGNMENT;
    }

    private int index(int k) {
        return (int) keys[k] & (1 << INDEX_BITS) - 1;
    }

    private int end(int k) {
        return offset(k) + lengths[index(k)];
    }

    private int endOfRead(int from, int count) {
        int to = from + 1;
        int end = end(from);
        while (to < count && segment(to) == segment(from) && isOneRead(offset(from), end, offset(to), end(to))) {
            end = Math.max(end, end(to));
            to++;
        }
        return to;
    }

    /**
     * Returns whether a record is read together with those ahead of it in its segment.
     *
     * @param from offset of the first of these, and (next) the end of the last
     * @param offset offset of the record, and (next) its end
     */
    static boolean isOneRead(int from, int readEnd, int offset, int end) {
        return offset - readEnd <= MAX_GAP_BYTES && Math.max(readEnd, end) - from <= MAX_READ_BYTES;
    }

    /** Reads records that are adjacent or almost so. */
    private void read(ChunkRequest request, int from, int to) {
        SegmentFile segment = segments.get(segment(from));
        if (segment == null || !segment.enter()) {
            for (int k = from; k < to; k++) {
                miss(request, k);
            }
            return;
        }
        try {
            read(request, from, to, segment);
        } finally {
            leave(segment);
        }
    }

    private void read(ChunkRequest request, int from, int to, SegmentFile segment) {
        int start = offset(from);
        int bytes = 0;
        for (int k = from; k < to; k++) {
            bytes = Math.max(bytes, end(k) - start);
        }
        if (buffer.length < bytes) {
            buffer = new byte[bytes];
        }
        try {
            segment.read(start, buffer, bytes);
            for (int k = from; k < to; k++) {
                take(request, k, offset(k) - start, segment);
            }
        } catch (EOFException e) {
            readEach(request, from, to, segment);
        } catch (IOException e) {
            failed(request, from, to, e);
        }
    }

    /**
     * Reads records one by one, after the file proved shorter than expected: those ahead of its end are still there.
     */
    private void readEach(ChunkRequest request, int from, int to, SegmentFile segment) {
        for (int k = from; k < to; k++) {
            try {
                segment.read(offset(k), buffer, lengths[index(k)]);
                take(request, k, 0, segment);
            } catch (EOFException e) {
                bad(request, k);
            } catch (IOException e) {
                failed(request, k, k + 1, e);
            }
        }
    }

    private void take(ChunkRequest request, int k, int at, SegmentFile segment) {
        int i = index(k);
        byte @Nullable [] data = format.decode(
                buffer,
                at,
                lengths[i],
                segment.seal(),
                offset(k),
                request.chunkId(i),
                request.fingerprintPrefix(i),
                request.length(i));
        if (data == null) {
            bad(request, k);
        } else {
            request.setData(i, data, 0, data.length);
        }
    }

    /**
     * Handles bytes that are not the chunk's record. Counted only if the entry still points there: the record may have
     * been moved.
     */
    private void bad(ChunkRequest request, int k) {
        if (miss(request, k)) {
            counters.badRecords.increment();
            failure.accept(new CorruptionException(
                    SegmentFile.name(segment(k)),
                    offset(k),
                    "the record of chunk " + request.chunkId(index(k)),
                    "something else"));
        }
    }

    private boolean miss(ChunkRequest request, int k) {
        int i = index(k);
        request.sendHome(i);
        return table.removeIfAt(request.chunkId(i), segment(k), offset(k), entry);
    }

    private void failed(ChunkRequest request, int from, int to, IOException e) {
        for (int k = from; k < to; k++) {
            request.sendHome(index(k));
        }
        counters.readFailures.increment();
        failure.accept(e);
    }

    private void leave(SegmentFile segment) {
        try {
            segment.leave();
        } catch (IOException e) {
            counters.readFailures.increment();
            failure.accept(e);
        }
    }
}
