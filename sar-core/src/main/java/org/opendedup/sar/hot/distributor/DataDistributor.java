package org.opendedup.sar.hot.distributor;

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
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.hot.copies.CopyCheck;
import org.opendedup.sar.hot.copies.SsdHealth;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.CopyStore;
import org.opendedup.sar.ssd.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends each chunk of a read to memory, SSD or home (SAR paper §3.2, §3.6), and reads from SSD and disk in parallel.
 * Safe for use by many threads.
 *
 * <p>A few threads of this class read the SSD, into requests of their own. A reader uses the chunks that arrive in
 * time; later ones are discarded. So an SSD that hangs stalls no reader for longer than
 * {@link DistributedRead#patienceNanos}, and soon is not used any more ({@link LatenessBreaker}).
 */
public final class DataDistributor implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(DataDistributor.class);

    /** Threads that read the SSD. An SSD serves several requests at once as fast as one. */
    private static final int READERS = 4;
    /** Reads that may wait for a thread; further ones are sent home at once. */
    private static final int MAX_WAITING_READS = 64;

    private static final SsdRead NOTHING_TO_READ = () -> true;
    private static final SsdRead ALL_SENT_HOME = () -> false;

    private final Supplier<? extends @Nullable CopyStore> attached;
    private final SsdHealth health;
    private final Supplier<CopyCheck> checks;
    private final LatenessBreaker breaker;
    private final ThreadPoolExecutor readers;
    private final ScheduledThreadPoolExecutor probes;

    private final LongAdder wanted = new LongAdder();
    private final LongAdder unread = new LongAdder();
    private final LongAdder ssdHits = new LongAdder();
    private final LongAdder ssdBytes = new LongAdder();
    private final LongAdder ssdRequests = new LongAdder();
    private final LongAdder homeReads = new LongAdder();
    private final LongAdder homeBytes = new LongAdder();
    private final LongAdder memoryHits = new LongAdder();
    private final LongAdder late = new LongAdder();
    private final LongAdder unusedCopies = new LongAdder();
    private final LatencyHistogram ssdLatency = new LatencyHistogram();
    private final LatencyHistogram homeLatency = new LatencyHistogram();

    /**
     * @param attached returns the SSD in use now, or null
     * @param name name of the volume, for the names of the threads
     * @param health notified of how the SSD responds
     */
    public DataDistributor(Supplier<? extends @Nullable CopyStore> attached, String name, SsdHealth health) {
        this(attached, name, health, CopyCheck::byFingerprint);
    }

    /** @param checks makes the check that each reading thread applies to copies */
    public DataDistributor(
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

    /**
     * Schedules a probe of a suspended SSD for the end of its pause, so that the SSD returns to use even without
     * readers.
     */
    private final class Suspension implements SsdHealth {
        @Override
        public void onSuspended(Duration pause) {
            health.onSuspended(pause);
            probes.schedule(DataDistributor.this::probe, pause.toNanos(), TimeUnit.NANOSECONDS);
        }

        @Override
        public void onResumed() {
            health.onResumed();
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

    /** Returns whether a read now would ask the SSD for a chunk. */
    public boolean isOnSsd(long chunkId) {
        CopyStore store = attached.get();
        return store != null && store.holds(chunkId) && breaker.allows();
    }

    /** Returns whether splitting is of any use now: an SSD is attached, answers in time, and holds copies. */
    public boolean isActive() {
        CopyStore store = attached.get();
        return store != null && store.copies() > 0 && breaker.allows();
    }

    /** Finds the frames of chunks in their containers. */
    @FunctionalInterface
    public interface FrameFinder {
        /** Returns the number of the frame that holds a chunk. May read the container's frame table from a disk. */
        int frameOf(long chunkId) throws IOException;
    }

    /**
     * Sets the source of each chunk that is not in memory. A frame that must be read from home anyway, because one of
     * the requested chunks in it has no copy, serves all requested chunks in it. A frame that can't be found affects
     * only its own chunks: those without a copy get their home as source and no frame, and the later read reports the
     * reason.
     *
     * @param finder looks up frames not known yet: of chunks read from home, and of chunks in the same containers. A
     *     container of which only copies are needed is not examined at all
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

    /** Sets the source of chunks that have a copy to SSD; returns the number of these chunks. */
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

    /** Returns the sorted containers of chunks without a copy; with repetitions where their chunks are not adjacent. */
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

    /** Sets the source of every chunk in the frames of chunks without a copy to HOME. */
    private void sendFramesHome(ChunkRequest request) {
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
                unusedCopies.increment();
            }
        }
    }

    private static long frame(ChunkRequest request, int i) {
        return FrameId.inContainerOf(request.chunkId(i), request.frame(i));
    }

    /**
     * Starts to read the chunks with source SSD. The caller then reads from home, and calls {@link SsdRead#await} last.
     */
    public SsdRead start(ChunkRequest request) {
        int copies = 0;
        for (int i = 0; i < request.count(); i++) {
            copies += request.source(i) == Source.SSD ? 1 : 0;
        }
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
            // Too many reads already wait for the SSD; this request is faster at home.
            late.add(copies);
            read.abandon();
            return ALL_SENT_HOME;
        }
        return read;
    }

    /** Counts the outcomes of reads of the SSD. */
    private final class Outcome implements DistributedRead.Outcome {
        @Override
        public void onPartInTime(int chunks, long bytes, long nanos) {
            ssdRequests.increment();
            ssdHits.add(chunks);
            ssdBytes.add(bytes);
            ssdLatency.record(nanos);
            if (chunks > 0) {
                health.onGoodRead();
            }
        }

        @Override
        public void onPartLate(int chunks, long nanos) {
            ssdRequests.increment();
            late.add(chunks);
            ssdLatency.record(nanos);
        }

        @Override
        public void onAnswered(long startNanos, boolean late) {
            if (late) {
                breaker.late(startNanos);
            } else {
                breaker.inTime(startNanos);
            }
        }
    }

    /**
     * Counts chunks that a request, or one batch of a sequential reader, needs. A call of {@link #noteEnd} must follow.
     */
    public void noteWanted(int chunks) {
        wanted.add(chunks);
    }

    /** Counts the chunks that a finished or abandoned request found in memory, and those it did not get. */
    public void noteEnd(ChunkRequest request) {
        int inMemory = 0;
        int without = 0;
        for (int i = 0; i < request.count(); i++) {
            if (request.data(i) == null) {
                without++;
            } else if (request.source(i) == Source.MEMORY) {
                inMemory++;
            }
        }
        memoryHits.add(inMemory);
        unread.add(without);
    }

    /** Counts chunks that were read from their containers. */
    public void noteHome(int chunks, long bytes) {
        homeReads.add(chunks);
        homeBytes.add(bytes);
    }

    /** Records the time, in nanoseconds, of all that one request read from a container. */
    public void noteHomeRead(long nanos) {
        homeLatency.record(nanos);
    }

    /** Forgets how the previous SSD responded; called when another SSD is attached. */
    public void startAfresh() {
        breaker.reset();
    }

    public DistributorStatistics statistics() {
        return new DistributorStatistics(
                wanted.sum(),
                ssdHits.sum(),
                ssdBytes.sum(),
                ssdRequests.sum(),
                homeReads.sum(),
                homeBytes.sum(),
                memoryHits.sum(),
                unread.sum(),
                late.sum(),
                unusedCopies.sum(),
                ssdLatency.latency(),
                homeLatency.latency());
    }

    /** Ends the threads, except those that hang in the SSD; they are daemons. Idempotent. */
    @Override
    public void close() {
        readers.shutdown();
        probes.shutdown();
    }
}
