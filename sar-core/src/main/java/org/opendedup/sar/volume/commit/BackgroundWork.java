package org.opendedup.sar.volume.commit;

import java.io.Closeable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that changes an open volume in the background, one task after the other, in their order. A task that finds
 * the volume taking no changes is put aside, so that others go on, and runs again when the volume takes changes. What
 * is left when the volume is closed, the next mount goes on with. Safe for use by many threads.
 */
public final class BackgroundWork implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(BackgroundWork.class);
    private static final long PAUSE_MS = 200;

    private final Committer committer;
    private final ExecutorService thread;
    /** Tasks that are put aside. Guarded by itself. */
    private final List<Runnable> aside = new ArrayList<>();

    private volatile boolean closing;

    /** @param name of the thread */
    public BackgroundWork(Committer committer, String name) {
        this.committer = committer;
        thread = Executors.newSingleThreadExecutor(Threads.named(name));
    }

    /** Returns whether the volume is being closed: a task that runs must end soon. */
    public boolean isClosing() {
        return closing;
    }

    /** Runs a task after those that were added before. Returns false if the volume is being closed; it is not run. */
    public boolean add(Runnable task) {
        try {
            thread.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            log.debug("the volume is being closed; the next mount goes on", e);
            return false;
        }
    }

    /** Adds a task after a delay in milliseconds, unless the volume is closed by then. */
    public void addAfter(long delayMs, Runnable task) {
        CompletableFuture.delayedExecutor(delayMs, TimeUnit.MILLISECONDS, thread)
                .execute(task);
    }

    /**
     * Adds a task that found no space, or changes stopped: after a pause, when neither a full disk nor a failed one
     * keeps the volume from taking changes. Returns false if the volume is being closed; it is not run.
     */
    public boolean addAgain(Runnable task) {
        synchronized (aside) {
            if (closing) {
                return false;
            }
            aside.add(task);
            if (aside.size() == 1) {
                addAfter(PAUSE_MS, this::addAside);
            }
            return true;
        }
    }

    private void addAside() {
        synchronized (aside) {
            if (!closing && !committer.isAccepting()) {
                addAfter(PAUSE_MS, this::addAside);
                return;
            }
            aside.forEach(this::add);
            aside.clear();
        }
    }

    /**
     * Returns what is done when the tasks have run that were added before the call, but for those that are put aside;
     * done at once if the volume is being closed.
     */
    public CompletableFuture<Void> done() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        if (!add(() -> done.complete(null))) {
            done.complete(null);
        }
        return done;
    }

    /** Waits until the tasks end, which know that the volume is being closed; for a minute at most. Takes no more. */
    @Override
    public void close() {
        synchronized (aside) {
            closing = true;
            addAside();
        }
        thread.shutdown();
        try {
            thread.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
