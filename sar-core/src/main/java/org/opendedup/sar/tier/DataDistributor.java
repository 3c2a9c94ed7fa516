package org.opendedup.sar.tier;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends each chunk of a read to memory, SSD or home (SAR paper §3.2, §3.6), and reads from SSD and disk in parallel. Safe for use
 * by many threads.
 *
 * <p>The SSD is read by this class's own few threads, into requests of their own. A reader takes over what came in time; what
 * comes later is thrown away. So an SSD that hangs stalls no reader for longer than {@link DistributedRead#patienceNanos}, and soon
 * is not asked any more ({@link LatenessBreaker}).
 */
public final class DataDistributor implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(DataDistributor.class);

    /** An SSD serves several requests at once as fast as one. */
    private static final int READERS = 4;
    /** Reads that may wait for a thread; more go home at once. */
    private static final int MAX_WAITING_READS = 64;

    private static final SsdRead NOTHING_TO_READ = () -> true;
    private static final SsdRead ALL_SENT_HOME = () -> false;

    private final Supplier<? extends @Nullable CopyStore> attached;
    private final SsdHealth health;
    private final Supplier<CopyCheck> checks;
    private final LatenessBreaker breaker;
    private final ThreadPoolExecutor readers;
    private final ScheduledThreadPoolExecutor probes;

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
        this(attached, name, health, CopyCheck::byFingerprint);
    }

    /** @param checks makes what each reading thread checks copies by */
    DataDistributor(
            Supplier<? extends @Nullable CopyStore> attached,
            String name,
            SsdHealth health,
            Supplier<CopyCheck> checks) {
        this.attached = attached;
        this.checks = checks;
        this.health = health;
        breaker = new LatenessBreaker(System::nanoTime, new Suspension());
        AtomicInteger number = new AtomicInteger();
        readers = new ThreadPoolExecutor(
                READERS,
                READERS,
                1,
                TimeUnit.MINUTES,
                new ArrayBlockingQueue<>(MAX_WAITING_READS),
                task -> daemon(task, name + "-ssd-read-" + number.incrementAndGet()));
        readers.allowCoreThreadTimeOut(true);
        // After the end there is nothing to probe.
        probes = new ScheduledThreadPoolExecutor(
                1, task -> daemon(task, name + "-ssd-probe"), new ThreadPoolExecutor.DiscardPolicy());
        probes.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Has a suspended SSD probed when its pause is over: it is to come back also if nobody reads what is on it. */
    private final class Suspension implements SsdHealth {
        @Override
        public void suspended(Duration pause) {
            health.suspended(pause);
            probes.schedule(DataDistributor.this::probe, pause.toNanos(), TimeUnit.NANOSECONDS);
        }

        @Override
        public void resumed() {
            health.resumed();
        }
    }

    private void probe() {
        CopyStore store = attached.get();
        if (store == null || !breaker.isSuspended()) {
            return;
        }
        FutureTask<Boolean> read = new FutureTask<>(store::probe, true);
        long startNanos = System.nanoTime();
        try {
            readers.execute(read);
            read.get(DistributedRead.patienceNanos(1), TimeUnit.NANOSECONDS);
            breaker.inTime(startNanos);
        } catch (TimeoutException | RejectedExecutionException e) {
            breaker.late(startNanos);
        } catch (ExecutionException e) {
            log.warn("probing the SSD failed", e.getCause());
            breaker.late(startNanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            read.cancel(false);
            readers.remove(read);
        }
    }

    /** Whether splitting is of any use now: an SSD is attached, answers, and something is on it. */
    public boolean isActive() {
        CopyStore store = attached.get();
        return store != null && store.copies() > 0 && breaker.allows();
    }

    /** Finds the frames of chunks in their containers. */
    @FunctionalInterface
    public interface FrameFinder {
        /** The number of the frame that holds a chunk. May read the container's frame table from a disk. */
        int frameOf(long chunkId) throws IOException;
    }

    /**
     * Gives each chunk that is not in memory its source. A frame that must be read from home anyway, because one of the chunks
     * wanted of it has no copy, serves all chunks wanted of it. A frame that can't be found concerns its own chunks alone: those
     * without a copy have their home as source and no frame, and whoever needs them will see why.
     *
     * @param finder asked for frames that are not known yet: of chunks that go home, and of those that might go with them. A
     *     container of which only copies are wanted is not looked at at all
     */
    public void split(ChunkRequest request, FrameFinder finder) {
        if (markCopies(request) == 0) {
            findHomeFrames(request, finder);
            return;
        }
        long[] containers = homeContainers(request);
        if (containers.length == 0) {
            return;
        }
        for (int i = 0; i < request.count(); i++) {
            if (request.frame(i) < 0 && Arrays.binarySearch(containers, ChunkId.container(request.chunkId(i))) >= 0) {
                findFrame(request, i, finder);
            }
        }
        sendFramesHome(request);
    }

    private static void findHomeFrames(ChunkRequest request, FrameFinder finder) {
        for (int i = 0; i < request.count(); i++) {
            if (request.frame(i) < 0 && request.source(i) == Source.HOME) {
                findFrame(request, i, finder);
            }
        }
    }

    /** Sends to the SSD what has a copy there; returns how many chunks that is. */
    private int markCopies(ChunkRequest request) {
        CopyStore store = attached.get();
        if (store == null || !breaker.allows()) {
            return 0;
        }
        int copies = 0;
        for (int i = 0; i < request.count(); i++) {
            if (request.source(i) == Source.HOME && store.holds(request.chunkId(i))) {
                request.setSource(i, Source.SSD);
                copies++;
            }
        }
        return copies;
    }

    /** The containers of chunks that have no copy, in order; repeated where their chunks are not side by side. */
    private static long[] homeContainers(ChunkRequest request) {
        long[] containers = new long[request.count()];
        int count = 0;
        long last = 0;
        for (int i = 0; i < request.count(); i++) {
            long container = ChunkId.container(request.chunkId(i));
            if (request.source(i) == Source.HOME && container != last) {
                containers[count++] = container;
                last = container;
            }
        }
        containers = Arrays.copyOf(containers, count);
        Arrays.sort(containers);
        return containers;
    }

    private static void findFrame(ChunkRequest request, int i, FrameFinder finder) {
        try {
            request.setFrame(i, finder.frameOf(request.chunkId(i)));
        } catch (IOException e) {
            log.debug("the frame of chunk {} can't be found", ChunkId.toString(request.chunkId(i)), e);
        }
    }

    /** Sends home every chunk in the frames of those that have no copy. */
    private static void sendFramesHome(ChunkRequest request) {
        long[] frames = new long[request.count()];
        int count = 0;
        for (int i = 0; i < request.count(); i++) {
            if (request.source(i) == Source.HOME && request.frame(i) >= 0) {
                frames[count++] = frame(request, i);
            }
        }
        Arrays.sort(frames, 0, count);
        for (int i = 0; i < request.count(); i++) {
            if (request.source(i) == Source.SSD
                    && request.frame(i) >= 0
                    && Arrays.binarySearch(frames, 0, count, frame(request, i)) >= 0) {
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
        DistributedRead read = new DistributedRead(request, store, readers, checks, new Outcome());
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
        public void partInTime(int chunks, long bytes, long nanos) {
            ssdRequests.increment();
            ssdHits.add(chunks);
            ssdBytes.add(bytes);
            ssdLatency.record(nanos);
            if (chunks > 0) {
                health.goodRead();
            }
        }

        @Override
        public void partLate(int chunks, long nanos) {
            ssdRequests.increment();
            late.add(chunks);
            ssdLatency.record(nanos);
        }

        @Override
        public void answered(long startNanos, boolean late) {
            if (late) {
                breaker.late(startNanos);
            } else {
                breaker.inTime(startNanos);
            }
        }
    }

    /** Notes chunks that came from their containers. */
    public void noteHome(int chunks, long bytes) {
        homeReads.add(chunks);
        homeBytes.add(bytes);
    }

    /** Notes how long the disk took for all that one request wanted of a container. */
    public void noteHomeRead(long nanos) {
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
        probes.shutdown();
    }
}
