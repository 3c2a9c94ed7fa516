package org.opendedup.sar.ssd;

import java.io.EOFException;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.ssd.LogCopies.State;

/**
 * Reads copies in the order of the log, neighbours in one read, and compares each with its checksum and its
 * fingerprint. Drops those that are not what was written. Gives way to readers. Verifies for one thread at a time.
 */
final class LogVerifier {
    /** Bytes read at once: half a millisecond of an SSD, for which a reader may have to wait. */
    private static final int WINDOW_BYTES = 256 << 10;
    /** Times the duration of the last read that readers go first; then one read is done beside them. */
    private static final int PATIENCE = 9;

    private static final long LOOK_AGAIN_NANOS = 100_000;

    private final MapTable table;
    private final Segments segments;
    private final RecordFormat format;
    private final LogCounters counters;
    private final Consumer<IOException> failure;
    private final BooleanSupplier isRead;
    private byte[] window = new byte[WINDOW_BYTES];
    private long lastReadNanos;

    /** @param isRead whether a reader waits for the SSD */
    LogVerifier(
            MapTable table,
            Segments segments,
            RecordFormat format,
            LogCounters counters,
            Consumer<IOException> failure,
            BooleanSupplier isRead) {
        this.table = table;
        this.segments = segments;
        this.format = format;
        this.counters = counters;
        this.failure = failure;
        this.isRead = isRead;
    }

    /** Verifies copies {@code from} to {@code to} (exclusive), and sets their states. */
    synchronized void verify(LogCopies copies, int from, int to) {
        for (int i = from; i < to; ) {
            int end = endOfWindow(copies, i, to);
            giveWay();
            long start = System.nanoTime();
            verifyWindow(copies, i, end);
            lastReadNanos = System.nanoTime() - start;
            i = end;
        }
    }

    private static int endOfWindow(LogCopies copies, int from, int to) {
        int end = from + 1;
        while (end < to
                && copies.segment(end) == copies.segment(from)
                && copies.offset(end) + copies.bytes(end) - copies.offset(from) <= WINDOW_BYTES) {
            end++;
        }
        return end;
    }

    private void giveWay() {
        long start = System.nanoTime();
        while (isRead.getAsBoolean() && System.nanoTime() - start < PATIENCE * lastReadNanos) {
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }

    private void verifyWindow(LogCopies copies, int from, int to) {
        SegmentFile segment = segments.get(copies.segment(from));
        if (segment == null || !segment.enter()) {
            for (int i = from; i < to; i++) {
                copies.set(i, drop(copies, i) ? State.NOWHERE : State.PASSED_OVER);
            }
            return;
        }
        try {
            read(copies, from, to, segment);
        } finally {
            leave(segment);
        }
    }

    private void read(LogCopies copies, int from, int to, SegmentFile segment) {
        int start = copies.offset(from);
        int bytes = copies.offset(to - 1) + copies.bytes(to - 1) - start;
        window = window.length < bytes ? new byte[bytes] : window;
        try {
            segment.read(start, window, bytes);
            for (int i = from; i < to; i++) {
                verify(copies, i, copies.offset(i) - start, segment);
            }
        } catch (IOException e) {
            readEach(copies, from, to, segment);
        }
    }

    /** Reads copies one by one, after they could not be read together. */
    private void readEach(LogCopies copies, int from, int to, SegmentFile segment) {
        IOException unreadable = null;
        boolean anyRead = false;
        for (int i = from; i < to; i++) {
            copies.set(i, State.PASSED_OVER);
            try {
                segment.read(copies.offset(i), window, copies.bytes(i));
                anyRead = true;
                verify(copies, i, 0, segment);
            } catch (EOFException e) {
                wrong(copies, i);
            } catch (IOException e) {
                unreadable = e;
                copies.set(i, State.NOT_READ);
            }
        }
        if (unreadable == null) {
            return;
        }
        counters.readFailures.increment();
        failure.accept(unreadable);
        for (int i = from; i < to; i++) {
            if (copies.state(i) == State.NOT_READ) {
                // A disk that reads nothing is failing; its copies may come back. One that reads the neighbours has a
                // bad place, which no reader should meet again.
                copies.set(i, anyRead && drop(copies, i) ? State.WRONG : State.PASSED_OVER);
            }
        }
    }

    private void verify(LogCopies copies, int i, int at, SegmentFile segment) {
        RecordFormat.Whole whole =
                format.decodeWhole(window, at, copies.bytes(i), segment.seal(), copies.offset(i), copies.chunkId(i));
        if (whole == null) {
            wrong(copies, i);
        } else {
            copies.setSound(i, whole.rawLength(), whole.fingerprint());
        }
    }

    /** Handles bytes that are not the record. Counted only if the entry still points there: it may have been moved. */
    private void wrong(LogCopies copies, int i) {
        if (!drop(copies, i)) {
            copies.set(i, State.PASSED_OVER);
            return;
        }
        copies.set(i, State.WRONG);
        counters.badRecords.increment();
        failure.accept(new CorruptionException(
                SegmentFile.name(copies.segment(i)),
                copies.offset(i),
                "the record of chunk " + copies.chunkId(i),
                "something else"));
    }

    /** Removes the entry of a copy if it still points there; returns whether it did. */
    boolean drop(LogCopies copies, int i) {
        return table.removeIfAt(copies.chunkId(i), copies.segment(i), copies.offset(i), new MapEntry());
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
