package org.opendedup.sar.ssd;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that writes to the SSD: checks and compresses the offered chunks, appends them in one write, and enters
 * them in the Map table and its database. It is a separate thread so that readers and writers of the volume never wait
 * for the SSD. Owns log and database, and closes them at its end.
 */
final class SsdWriter implements Runnable {
    private static final Logger logger = LoggerFactory.getLogger(SsdWriter.class);

    private static final long TICK_MILLIS = 1000;
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Path location;
    private final OfferQueue queue;
    private final RecordFormat format;
    private final SsdLog log;
    private final MapKeeper keeper;
    private final Consumer<IOException> failure;
    private final LogCounters counters;
    private final Closeable lock;
    private final RecordBatch batch = new RecordBatch();
    /** Offers of the current buffer whose bytes are not those of their chunk. */
    private final BitSet wrong = new BitSet();

    private volatile OfferListener listener = OfferListener.NONE;

    private long pauseNanos;
    private volatile boolean paused;
    private volatile long pausedUntil;

    /** @param lock lock of the location: closed when this thread has ended, and nothing is written there any more */
    SsdWriter(
            Path location,
            OfferQueue queue,
            RecordFormat format,
            SsdLog log,
            MapKeeper keeper,
            Consumer<IOException> failure,
            LogCounters counters,
            Closeable lock) {
        this.location = location;
        this.lock = lock;
        this.queue = queue;
        this.format = format;
        this.log = log;
        this.keeper = keeper;
        this.failure = failure;
        this.counters = counters;
    }

    /** Returns whether the SSD took the last batch, or may be tried again. */
    boolean takesWrites() {
        return !paused || System.nanoTime() - pausedUntil >= 0;
    }

    /** Sets the listener for the outcome of offers. */
    void listen(OfferListener toTell) {
        listener = toTell;
    }

    @Override
    public void run() {
        try {
            while (!queue.isFinished()) {
                OfferBuffer offers = queue.take(TICK_MILLIS);
                OfferFate rest = OfferFate.WRITE_FAILED;
                try {
                    rest = work(offers);
                } finally {
                    report(offers, rest);
                    queue.done(log::remove);
                }
            }
            commitLast();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            close();
        }
    }

    /** Writes the offered chunks; returns the outcome of chunks that were right but not placed. */
    private OfferFate work(OfferBuffer offers) {
        batch.clear();
        wrong.clear();
        if (!takesWrites()) {
            return OfferFate.WRITE_FAILED;
        }
        try {
            SsdIdentity.requireClaimed(location);
            boolean hasRoom = true;
            if (offers.count() > 0) {
                hasRoom = write(offers);
            } else {
                log.tidy();
                keeper.commit();
            }
            log.measure();
            paused = false;
            pauseNanos = 0;
            return hasRoom ? OfferFate.WRITE_FAILED : OfferFate.NO_ROOM;
        } catch (IOException e) {
            failed(e);
        } catch (RuntimeException | Error e) {
            // The thread continues after any error, even out of memory: without it nothing would be promoted until the
            // next attach.
            logger.error("the SSD's writing thread failed because of a bug", e);
            failed(new IOException("the SSD can't be written because of a bug: " + e, e));
        }
        return OfferFate.WRITE_FAILED;
    }

    /** Writes the offers; returns whether there was room. */
    private boolean write(OfferBuffer offers) throws IOException {
        encode(offers);
        boolean hasRoom = log.makeRoomFor(batch.used());
        try {
            if (hasRoom) {
                log.append(batch);
            }
        } finally {
            counters.writtenRecords.add(batch.placed());
            counters.writtenBytes.add(batch.offset(batch.placed()));
        }
        keeper.commit();
        return hasRoom;
    }

    private void encode(OfferBuffer offers) {
        for (int i = 0; i < offers.count(); i++) {
            batch.reserve(format.bound(offers.length(i)));
            int length = format.encode(
                    offers.chunkId(i),
                    offers.fingerprintPrefix(i),
                    offers.data(),
                    offers.offset(i),
                    offers.length(i),
                    batch.bytes(),
                    batch.used());
            if (length == 0) {
                wrong.set(i);
            } else {
                batch.addNew(offers.chunkId(i), length, offers.references(i), offers.saving(i));
            }
        }
    }

    /** Reports the outcome of each chunk: records are placed in the order of the offers. */
    private void report(OfferBuffer offers, OfferFate rest) {
        OfferListener hearing = listener;
        int record = 0;
        for (int i = 0; i < offers.count(); i++) {
            OfferFate fate = OfferFate.DAMAGED;
            if (!wrong.get(i)) {
                fate = record < batch.placed() ? OfferFate.LANDED : rest;
                record++;
            }
            hearing.onDecided(fate, offers.tag(i), offers.length(i));
        }
    }

    /** Pauses writes to the SSD, longer each time; meanwhile offers are refused, and reads continue. */
    private void failed(IOException e) {
        pauseNanos = Math.max(FIRST_PAUSE_NANOS, Math.min(LONGEST_PAUSE_NANOS, 2 * pauseNanos));
        pausedUntil = System.nanoTime() + pauseNanos;
        paused = true;
        counters.writeFailures.increment();
        failure.accept(new SsdWriteException(e));
    }

    private void commitLast() {
        try {
            keeper.commit();
        } catch (IOException e) {
            logger.warn("the Map table's database may lack its last entries: {}", e.getMessage());
        }
    }

    private void close() {
        try {
            log.close();
        } catch (IOException e) {
            logger.warn("the head of the SSD log could not be closed: {}", e.getMessage());
        }
        keeper.close();
        try {
            lock.close();
        } catch (IOException e) {
            logger.warn("the lock of the SSD location could not be closed: {}", e.getMessage());
        }
        queue.end();
    }
}
