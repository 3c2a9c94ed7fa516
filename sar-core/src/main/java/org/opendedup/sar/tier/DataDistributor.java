package org.opendedup.sar.tier;

import java.io.Closeable;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;

/**
 * Sends each chunk of a read to memory, SSD or home (SAR paper §3.2, §3.6), and reads from SSD and disk in parallel. Safe for use
 * by many threads.
 *
 * <p>The SSD is read by this class's own few threads, into requests of their own. A reader takes over what came in time; what
 * comes later is thrown away. So an SSD that hangs stalls no reader for longer than {@link DistributedRead#patienceNanos}, and soon
 * is not asked any more ({@link LatenessBreaker}).
 */
public final class DataDistributor implements Closeable {
    /** An SSD serves several requests at once as fast as one. */
    private static final int READERS = 4;
    /** Reads that may wait for a thread; more go home at once. */
    private static final int MAX_WAITING_READS = 64;

    private static final SsdRead NOTHING_TO_READ = () -> true;
    private static final SsdRead ALL_SENT_HOME = () -> false;

    private final Supplier<? extends @Nullable CopyStore> attached;
    private final SsdHealth health;
    private final LatenessBreaker breaker;
    private final ThreadPoolExecutor readers;

    private final LongAdder ssdHits = new LongAdder();
    private final LongAdder ssdBytes = new LongAdder();
    private final LongAdder ssdRequests = new LongAdder();
    private final LongAdder homeReads = new LongAdder();
    private final LongAdder homeBytes = new LongAdder();
    private final LongAdder memoryHits = new LongAdder();
    private final LongAdder late = new LongAdder();
    private final LatencyHistogram ssdLatency = new LatencyHistogram();
    private final LatencyHistogram homeLatency = new LatencyHistogram();

    /**
     * @param attached the SSD in use now, or null
     * @param name of the volume, for the names of the threads
     * @param health told how the SSD does
     */
    public DataDistributor(Supplier<? extends @Nullable CopyStore> attached, String name, SsdHealth health) {
        this.attached = attached;
        this.health = health;
        breaker = new LatenessBreaker(System::nanoTime, health);
        AtomicInteger number = new AtomicInteger();
        readers = new ThreadPoolExecutor(
                READERS, READERS, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(MAX_WAITING_READS), task -> {
                    Thread thread = new Thread(task, name + "-ssd-read-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        readers.allowCoreThreadTimeOut(true);
    }

    /** Whether splitting is of any use now: an SSD is attached, answers, and something is on it. */
    public boolean isActive() {
        CopyStore store = attached.get();
        return store != null && store.copies() > 0 && breaker.allows();
    }

    /**
     * Gives each chunk that is not in memory its source. A frame that must be read from home anyway, because one of the chunks
     * wanted of it has no copy, serves all chunks wanted of it.
     */
    public void split(ChunkRequest request) {
        CopyStore store = attached.get();
        if (store == null || !breaker.allows()) {
            return;
        }
        int copies = 0;
        int homes = 0;
        for (int i = 0; i < request.count(); i++) {
            if (request.source(i) == Source.HOME) {
                if (store.holds(request.chunkId(i))) {
                    request.setSource(i, Source.SSD);
                    copies++;
                } else {
                    homes++;
                }
            }
        }
        if (copies > 0 && homes > 0) {
            sendFramesHome(request, homes);
        }
    }

    /** Sends home every chunk in the frames of those that have no copy. */
    private static void sendFramesHome(ChunkRequest request, int homes) {
        long[] frames = new long[homes];
        int count = 0;
        for (int i = 0; i < request.count(); i++) {
            if (request.source(i) == Source.HOME) {
                frames[count++] = frame(request, i);
            }
        }
        Arrays.sort(frames);
        for (int i = 0; i < request.count(); i++) {
            if (request.source(i) == Source.SSD && Arrays.binarySearch(frames, frame(request, i)) >= 0) {
                request.setSource(i, Source.HOME);
            }
        }
    }

    private static long frame(ChunkRequest request, int i) {
        return ChunkId.of(ChunkId.container(request.chunkId(i)), request.frame(i));
    }

    /** Starts to read what was sent to the SSD; the caller reads from home meanwhile, then awaits. */
    public SsdRead start(ChunkRequest request) {
        int copies = 0;
        int inMemory = 0;
        for (int i = 0; i < request.count(); i++) {
            copies += request.source(i) == Source.SSD ? 1 : 0;
            inMemory += request.source(i) == Source.MEMORY ? 1 : 0;
        }
        memoryHits.add(inMemory);
        if (copies == 0) {
            return NOTHING_TO_READ;
        }
        CopyStore store = attached.get();
        if (store == null) {
            DistributedRead.sendHome(request);
            return ALL_SENT_HOME;
        }
        DistributedRead read = new DistributedRead(request, store, readers, new Outcome());
        try {
            read.start();
        } catch (RejectedExecutionException e) {
            // Too much waits for the SSD already; this request does better at home.
            late.add(copies);
            read.abandon();
            return ALL_SENT_HOME;
        }
        return read;
    }

    /** A read of the SSD under way. */
    public interface SsdRead {
        /**
         * Waits, but not longer than the disk would need: what is not there in time, or fails, has its home as source afterwards.
         *
         * @return whether every chunk sent to the SSD has its data now
         */
        boolean await();
    }

    /** Takes down how reads of the SSD went. */
    private final class Outcome implements DistributedRead.Outcome {
        @Override
        public void inTime(int chunks, long bytes, long nanos) {
            ssdRequests.increment();
            ssdHits.add(chunks);
            ssdBytes.add(bytes);
            ssdLatency.record(nanos);
            breaker.inTime();
            if (chunks > 0) {
                health.goodRead();
            }
        }

        @Override
        public void late(int chunks, long nanos) {
            ssdRequests.increment();
            late.add(chunks);
            ssdLatency.record(nanos);
            breaker.late();
        }
    }

    /**
     * Notes a read of one container.
     *
     * @param chunks wanted of it
     * @param bytes of these
     */
    public void noteHome(int chunks, long bytes, long nanos) {
        homeReads.add(chunks);
        homeBytes.add(bytes);
        homeLatency.record(nanos);
    }

    /** Another SSD is attached: how the one before did is forgotten. */
    void startAfresh() {
        breaker.reset();
    }

    public DistributorStatistics statistics() {
        return new DistributorStatistics(
                ssdHits.sum(),
                ssdBytes.sum(),
                ssdRequests.sum(),
                homeReads.sum(),
                homeBytes.sum(),
                memoryHits.sum(),
                late.sum(),
                ssdLatency.latency(),
                homeLatency.latency());
    }

    /** Ends the threads, but for those that hang in the SSD; they are daemons. Idempotent. */
    @Override
    public void close() {
        readers.shutdown();
    }
}
