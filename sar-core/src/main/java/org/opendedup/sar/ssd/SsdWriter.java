package org.opendedup.sar.ssd;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that writes to the SSD: takes what was offered, checks, compresses, appends it in one write, enters it in the Map table and
 * its database. Separate so that no reader or writer of the volume ever waits for the SSD. Owns log and database, and closes them at its
 * end.
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

    private long pauseNanos;
    private volatile boolean paused;
    private volatile long pausedUntil;

    /** @param lock of the location: closed when this thread has ended, and nothing is written there any more */
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

    /** Whether the SSD took the last batch, or is to be tried again. */
    boolean takesWrites() {
        return !paused || System.nanoTime() - pausedUntil >= 0;
    }

    @Override
    public void run() {
        try {
            while (!queue.isFinished()) {
                OfferBuffer offers = queue.take(TICK_MILLIS);
                try {
                    work(offers);
                } finally {
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

    private void work(OfferBuffer offers) {
        if (!takesWrites()) {
            counters.refused.add(offers.count());
            return;
        }
        try {
            SsdIdentity.requireClaimed(location);
            if (offers.count() > 0) {
                write(offers);
            } else {
                log.tidy();
                keeper.commit();
            }
            log.measure();
            paused = false;
            pauseNanos = 0;
        } catch (IOException e) {
            failed(e);
        } catch (RuntimeException | Error e) {
            // The thread goes on whatever it was, out of memory for one: without it nothing were promoted till the next
            // attach.
            logger.error("the SSD's writing thread met a bug", e);
            failed(new IOException("the SSD can't be written because of a bug: " + e, e));
        }
    }

    private void write(OfferBuffer offers) throws IOException {
        encode(offers);
        boolean written = false;
        try {
            if (log.makeRoomFor(batch.used())) {
                log.append(batch);
                written = true;
            }
        } finally {
            if (!written) {
                counters.refused.add(batch.count());
            }
        }
        keeper.commit();
        if (written) {
            counters.writtenRecords.add(batch.count());
            counters.writtenBytes.add(batch.used());
        }
    }

    private void encode(OfferBuffer offers) {
        batch.clear();
        for (int i = 0; i < offers.count(); i++) {
            batch.reserve(format.bound(offers.length(i)));
            int length = format.encode(
                    offers.chunkId(i),
                    offers.check(i),
                    offers.data(),
                    offers.offset(i),
                    offers.length(i),
                    batch.bytes(),
                    batch.used());
            if (length == 0) {
                counters.wrongOffers.increment();
            } else {
                batch.addNew(offers.chunkId(i), length, offers.references(i), offers.saving(i));
            }
        }
    }

    /** Lets the SSD alone for a while, longer each time: meanwhile offers are refused, and reads go on. */
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
