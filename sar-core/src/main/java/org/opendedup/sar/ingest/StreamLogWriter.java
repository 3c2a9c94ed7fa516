package org.opendedup.sar.ingest;

import java.io.IOException;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.function.LongSupplier;
import org.opendedup.sar.metadata.recipes.StreamLogs;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.StreamPlace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the logs of streams: which chunks each stream put, in order, pages of {@link StreamLogs}. A log that cannot be
 * written is left out: no put fails because of it, and one log in thousands waits for the disk, for new numbers. A
 * stream of less than {@value #LEAST_REFERENCES} chunks gets no log, because no reader of it is read ahead. If all logs
 * together have more references than allowed, the oldest pages are removed in the background. Safe for use by many
 * threads.
 */
public final class StreamLogWriter {
    private static final Logger log = LoggerFactory.getLogger(StreamLogWriter.class);

    /** Streams whose logs are written at the same time; the one used longest ago ends for another. */
    private static final int MAX_STREAMS = 64;

    /** References of a page at most, however small its chunks are. */
    private static final int MAX_REFERENCES = 2048;

    private static final int LEAST_REFERENCES = 8;

    /** Bytes of records for a reference, about: in a page, and in a hook. */
    private static final long RECORD_BYTES = 16;

    /** Pages removed under one lock. */
    private static final int REMOVED_AT_ONCE = 8;

    private final StreamLogs logs;
    private final Numbers numbers;
    private final Admission admission;
    private final Lock changes;
    private final LongSupplier mostReferences;
    private final Executor background;
    private final Map<Long, OpenLog> open = new ConcurrentHashMap<>();
    private final AtomicBoolean isRemoving = new AtomicBoolean();
    private volatile long clock;
    private volatile boolean isEnding;

    /** Gives numbers to logs. */
    @FunctionalInterface
    public interface Numbers {
        /** Returns a number greater than all before. */
        long next() throws IOException;
    }

    /** Makes room for records that are of use but not needed. */
    @FunctionalInterface
    public interface Admission {
        /** Returns whether there is room for {@code bytes} bytes of records. */
        boolean tryAdmit(long bytes) throws IOException;
    }

    /**
     * @param admission asked before a page is written: a full disk keeps its space for deletes
     * @param changes held shared while records change
     * @param mostReferences references that all logs may have together, now
     * @param background removes the oldest pages
     */
    public StreamLogWriter(
            StreamLogs logs,
            Numbers numbers,
            Admission admission,
            Lock changes,
            LongSupplier mostReferences,
            Executor background) {
        this.logs = logs;
        this.numbers = numbers;
        this.admission = admission;
        this.changes = changes;
        this.mostReferences = mostReferences;
        this.background = background;
    }

    /** The log of a stream that is being written. Guarded by its monitor. */
    private static final class OpenLog {
        private final RecipePage.Builder page = new RecipePage.Builder();
        private int references;
        private long lastChunk;
        /** 0: it has no page yet. */
        private long number;

        private long nextPage;
        private boolean isClosed;
        /** Read without the monitor. */
        private volatile long usedAt;
    }

    /**
     * Notes that a stream put a chunk, which is stored and counted.
     *
     * @param fingerprintPrefix first four bytes of its fingerprint
     */
    public void note(long stream, long chunk, int length, int fingerprintPrefix) {
        while (true) {
            OpenLog written = open.get(stream);
            if (written == null) {
                written = begin(stream);
            }
            synchronized (written) {
                if (!written.isClosed) {
                    add(written, chunk, length, fingerprintPrefix);
                    return;
                }
            }
        }
    }

    private synchronized OpenLog begin(long stream) {
        clock++;
        OpenLog begun = open.computeIfAbsent(stream, key -> new OpenLog());
        begun.usedAt = clock;
        if (open.size() > MAX_STREAMS) {
            Map.Entry<Long, OpenLog> oldest = null;
            for (Map.Entry<Long, OpenLog> entry : open.entrySet()) {
                boolean isOlder = oldest == null || entry.getValue().usedAt < oldest.getValue().usedAt;
                oldest = isOlder && entry.getValue() != begun ? entry : oldest;
            }
            if (oldest != null) {
                open.remove(oldest.getKey());
                end(oldest.getValue());
            }
        }
        return begun;
    }

    /** A chunk is cut where a page ends, as one of a file is. */
    private void add(OpenLog written, long chunk, int length, int fingerprintPrefix) {
        if (chunk == written.lastChunk) {
            return;
        }
        written.lastChunk = chunk;
        written.usedAt = clock;
        int pageBytes = logs.pageBytes();
        for (int from = 0; from < length; ) {
            int part = Math.min(length - from, pageBytes - written.page.bytes());
            written.page.add(chunk, from, part, fingerprintPrefix);
            written.references++;
            from += part;
            if (written.page.bytes() == pageBytes || written.references == MAX_REFERENCES) {
                write(written);
            }
        }
    }

    /** Writes the page of a log. The log's monitor is held. */
    private void write(OpenLog written) {
        clock++;
        written.references = 0;
        RecipePage page = written.page.build();
        try {
            if (!admission.tryAdmit(RECORD_BYTES * page.count())) {
                return;
            }
            // The pages of the oldest log are removed first: a stream goes on in a new log when its own is gone.
            if (written.number == 0 || written.number < logs.oldestLog()) {
                written.number = numbers.next();
                written.nextPage = 0;
            }
            changes.lock();
            try {
                logs.add(new StreamPlace(written.number, written.nextPage++), page);
            } finally {
                changes.unlock();
            }
            removeIfTooMany();
        } catch (IOException | RuntimeException e) {
            log.debug("a page of a stream's log is left out", e);
        }
    }

    private void end(OpenLog written) {
        synchronized (written) {
            if (!written.isClosed) {
                written.isClosed = true;
                if (written.number != 0 && written.references > 0 || written.references >= LEAST_REFERENCES) {
                    write(written);
                }
            }
        }
    }

    private void removeIfTooMany() {
        if (logs.references() > mostReferences.getAsLong() && isRemoving.compareAndSet(false, true)) {
            try {
                background.execute(this::removeOldest);
            } catch (RejectedExecutionException closing) {
                isRemoving.set(false);
            }
        }
    }

    private void removeOldest() {
        try {
            // A sixteenth more, so that it is not to be done again at once.
            long most = mostReferences.getAsLong() / 16 * 15;
            int removed = 1;
            while (logs.references() > most && removed > 0 && !isEnding) {
                StreamLogs.Oldest oldest = logs.oldest(REMOVED_AT_ONCE);
                removed = oldest.pages();
                changes.lock();
                try {
                    oldest.remove();
                } finally {
                    changes.unlock();
                }
            }
        } catch (IOException | RuntimeException e) {
            log.debug("the oldest pages of the stream logs were not removed", e);
        } finally {
            isRemoving.set(false);
        }
    }

    /** Ends the logs of all streams, for closing the volume. */
    public void endAll() {
        isEnding = true;
        for (Iterator<OpenLog> all = open.values().iterator(); all.hasNext(); ) {
            OpenLog written = all.next();
            all.remove();
            end(written);
        }
    }

    /** Returns the number of streams whose logs are being written. */
    int streams() {
        return open.size();
    }
}
