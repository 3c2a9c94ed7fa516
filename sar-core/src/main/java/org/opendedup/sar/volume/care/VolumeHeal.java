package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.BitSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.heal.HealMarks;
import org.opendedup.sar.heal.HealParts;
import org.opendedup.sar.heal.HealProgress;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.heal.HealSource;
import org.opendedup.sar.heal.Healer;
import org.opendedup.sar.metadata.record.DamageNote.How;
import org.opendedup.sar.restore.frame.StopCheck;
import org.opendedup.sar.volume.engine.ChunkEngine;
import org.opendedup.sar.volume.engine.DamagedFrames;
import org.opendedup.sar.volume.engine.EngineInUse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Heals damaged chunks of a volume: on request, and by itself soon after damage was found, and after content was stored
 * of which the known copy is damaged. No collection and no arrangement runs meanwhile. Safe for use by many threads.
 */
public final class VolumeHeal implements HealSource {
    private static final Logger log = LoggerFactory.getLogger(VolumeHeal.class);

    /** Time from the first reason to heal to the pass, in milliseconds: a file that is written again has many. */
    private static final long DELAY_MS = 10_000;

    /** System property with another number of milliseconds instead of {@link #DELAY_MS}. */
    private static final String DELAY = "sar.heal.delay.ms";

    /** Time from a pass that failed to the next one, in milliseconds, if there is no new reason. */
    private static final long RETRY_MS = 600_000;

    /** Passes over single containers take at most one part of this of the time, unless they take minutes. */
    private static final int SHARE = 10;

    /** Most containers remembered for a pass; with more, the pass looks at all. */
    private static final int MAX_WANTED = 10_000;

    private final EngineInUse volume;
    private final Runnable storing;
    private final DamagedFrames damaged;
    private final HealParts parts;
    private final ScheduledThreadPoolExecutor thread;
    /** Containers that the next pass looks at. Guarded by this, as are the next. */
    private final Set<Long> wanted = new TreeSet<>();

    private boolean allWanted;
    /** The next pass that is made by itself; null if nothing is wanted. */
    private @Nullable ScheduledFuture<?> next;

    private long delayMs = Long.getLong(DELAY, DELAY_MS);
    private long retryMs = RETRY_MS;
    /** How long the last pass took, in milliseconds. */
    private volatile long lastPassMs;

    private volatile boolean closing;

    /** What a pass is to look at. */
    private record Request(Set<Long> some, boolean all) {}

    /** @param storing stores in chunks what was written and is not in chunks yet; reports failures elsewhere */
    public VolumeHeal(EngineInUse volume, Runnable storing) {
        this.volume = volume;
        this.storing = storing;
        damaged = volume.damaged();
        ChunkEngine engine = volume.engine();
        parts = new HealParts(
                volume.metadata(),
                volume.containers(),
                engine.index(),
                volume.committer(),
                engine.uses(),
                volume.collector().pins(),
                engine.disk(),
                engine.hot()::copy);
        thread = new ScheduledThreadPoolExecutor(1, Threads.named(volume.name() + "-heal"));
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        damaged.listen(this::request);
        // A writer stores the content of such a chunk again: the pass finds the new copy by the index.
        volume.metadata().counts().listenToDamaged(chunk -> request(ChunkId.container(chunk)));
        // Where copies are may be known now that was not before.
        engine.hot().whenAttached(this::newSources);
        engine.rebuilder().whenUpdated(this::newSources);
        requestRecovered();
    }

    /**
     * What could not be read where a container was before may be readable now: a missing pack may be back. A container
     * that this mount recovered may have marks of a mount that could not.
     */
    private synchronized void requestRecovered() {
        try {
            volume.metadata().damage().former().forEach((container, place) -> want(container));
            for (long container : volume.containers().recovered()) {
                if (!volume.metadata().counts().damaged(container).isEmpty()) {
                    want(container);
                }
            }
        } catch (IOException e) {
            log.debug("which containers may be whole again is not known", e);
        }
        if (allWanted || !wanted.isEmpty()) {
            schedule(delayMs);
        }
    }

    /** Sets how long after a request a pass begins, and how long after one that failed, in milliseconds. */
    public synchronized void setDelays(long afterRequest, long afterFailure) {
        delayMs = afterRequest;
        retryMs = afterFailure;
    }

    /** Makes a pass soon over one container, also over its directory. Does not wait. */
    synchronized void request(long container) {
        want(container);
        // A pass over containers of a missing pack reads all recipes; the time may also be that of waiting.
        schedule(Math.max(delayMs, Math.min(SHARE * lastPassMs, retryMs)));
    }

    private void want(long container) {
        if (wanted.size() < MAX_WANTED) {
            wanted.add(container);
        } else {
            allWanted = true;
        }
    }

    private void newSources() {
        if (unhealedChunks() > 0 || damaged.missingPacks() > 0) {
            requestAll();
        }
    }

    /** Makes a pass over all containers with damaged chunks soon. Does not wait. */
    synchronized void requestAll() {
        allWanted = true;
        schedule(delayMs);
    }

    private synchronized void schedule(long ms) {
        ScheduledFuture<?> present = next;
        if (closing
                || volume.committer().isReadOnly()
                || present != null && present.getDelay(TimeUnit.MILLISECONDS) <= ms) {
            return;
        }
        if (present != null) {
            present.cancel(false);
        }
        try {
            next = thread.schedule(this::runRequested, ms, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            log.debug("the volume is being closed", e);
        }
    }

    private synchronized Request takeWanted() {
        Request taken = new Request(new TreeSet<>(wanted), allWanted);
        wanted.clear();
        allWanted = false;
        if (next != null) {
            next.cancel(false);
            next = null;
        }
        return taken;
    }

    /** Keeps what a pass that failed was to look at, for a later one. */
    private synchronized void giveBack(Request request) {
        request.some().forEach(this::want);
        allWanted |= request.all();
        if (allWanted || !wanted.isEmpty()) {
            schedule(retryMs);
        }
    }

    private void runRequested() {
        try {
            run(false, soFar -> true);
        } catch (InterruptedIOException e) {
            log.debug("the healing was stopped", e);
        } catch (NoSpaceException e) {
            log.warn("damaged chunks are not healed, there is no room; it is tried again: {}", e.getMessage());
        } catch (IOException | RuntimeException e) {
            log.warn("damaged chunks are not healed; it is tried again: {}", e.getMessage(), e);
        }
    }

    /**
     * Heals all damaged chunks for which the right bytes can be found, while the volume is in use. What is healed is
     * durable when this returns. No collection or arrangement runs at the same time; one that waits begins after the
     * present container.
     *
     * @throws InterruptedIOException if {@code progress} stopped it, or the volume is being closed
     * @throws IOException if no place may be given back, or the disk fails; the message says why
     */
    @Override
    public HealReport run(HealProgress progress) throws IOException {
        // Content that was written again may not be in chunks yet. What cannot be stored is reported elsewhere.
        storing.run();
        damaged.noteMissingPacks(); // One may be back, or may have gone.
        return run(true, progress);
    }

    /** @param all whether all containers with damaged chunks are looked at; otherwise those that were requested */
    private HealReport run(boolean all, HealProgress progress) throws IOException {
        Request request = takeWanted();
        boolean done = false;
        try {
            // A frame that a reader found damaged just now is marked first.
            damaged.recordAll();
            requireAllowed();
            Healer healer = new Healer(parts, new Marks(), soFar -> !closing && progress.examined(soFar));
            long beganNanos = System.nanoTime();
            HealReport report = healer.run(request.some(), all || request.all(), this::withoutCollections);
            lastPassMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNanos);
            if (damaged.missing() > 0) {
                // A pack is not missed any more when all its containers lie elsewhere.
                damaged.noteMissingPacks();
            }
            done = true;
            return report;
        } finally {
            if (!done) {
                giveBack(request);
            }
        }
    }

    private void withoutCollections(BooleanSupplier goesOn, Healer.Part part) throws IOException {
        StopCheck stop = () -> {
            if (!goesOn.getAsBoolean()) {
                throw new InterruptedIOException("the healing was stopped");
            }
        };
        volume.collector().withoutCollections(stop, isWanted -> {
            part.run(isWanted);
            return part;
        });
    }

    /** @throws IOException if no pass may run: old places are given back; the message says why */
    @Override
    public void requireAllowed() throws IOException {
        // No chunk goes that an older backup of the metadata refers to.
        volume.collector().requireAllowed();
    }

    private final class Marks implements HealMarks {
        @Override
        public void sound(long container, BitSet slots, boolean written) throws IOException {
            damaged.healed(container, slots);
            log.info(
                    written
                            ? "container {} was written anew: {} damaged chunks are healed"
                            : "container {}: {} chunks that were known as damaged are sound",
                    container,
                    slots.cardinality());
        }

        @Override
        public void found(long container, int firstSlot, int endSlot, How how, IOException why) throws IOException {
            damaged.found(container, firstSlot, endSlot, how, why);
        }

        @Override
        public void suspected(long container) {
            damaged.suspected(container);
        }
    }

    /** Returns the number of chunks healed since the volume was opened. */
    @Override
    public long healedChunks() {
        return damaged.healedChunks();
    }

    /** Returns the number of chunks that are known to be damaged and not healed. */
    @Override
    public long unhealedChunks() {
        return volume.metadata().totals().stored().damagedChunks();
    }

    @Override
    public long missingContainers() {
        return damaged.missing();
    }

    /**
     * Makes a running pass end after its present container, and no other begin; does not wait. Who closes the collector
     * after that waits for the end of the pass.
     */
    public synchronized void stop() {
        closing = true;
        thread.shutdown();
    }
}
