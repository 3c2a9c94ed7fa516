package org.opendedup.sar.hot.promotion;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.Closeable;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reloads files that were opened, in a thread of its own, if the policy wants that (TDDFS paper, §3.6: an open starts a
 * background thread that reloads the file). Safe for use by many threads.
 */
final class OpenedFiles implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(OpenedFiles.class);

    /** Files that may wait, and of which it is known when they were reloaded: 256 KiB of heap each. */
    private static final int MAX_FILES = 1 << 11;
    /** Time in which a file that was reloaded is not looked at again. */
    private static final long KNOWN_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final SelectivePromotion promotion;
    private final FileReload reload;
    private final Thread worker;

    // All guarded by this.
    /** Lengths in bytes of the files that wait, by inode. */
    private final Map<Long, Long> waiting = new LinkedHashMap<>();
    /** Times of the last reloads, by inode. */
    private final Map<Long, Long> reloaded = new LinkedHashMap<>();

    private volatile boolean closed;

    OpenedFiles(SelectivePromotion promotion, FileReload reload, String name) {
        this.promotion = promotion;
        this.reload = reload;
        worker = new Thread(this::work, "reload " + name);
        worker.setDaemon(true);
        worker.start();
    }

    /**
     * Notes that a file in chunks was opened. Never waits.
     *
     * @param size its length in bytes
     */
    void note(long inode, long size) {
        if (!promotion.reloads(size)) {
            return;
        }
        synchronized (this) {
            Long last = reloaded.get(inode);
            if (last != null && System.nanoTime() - last < KNOWN_NANOS) {
                return;
            }
            if (waiting.size() < MAX_FILES) {
                waiting.put(inode, size);
                notifyAll();
            }
        }
    }

    private void work() {
        for (Map.Entry<Long, Long> next = take(); next != null; next = take()) {
            try {
                reload.reload(next.getKey(), next.getValue(), false, bytes -> {});
            } catch (IOException | RuntimeException | Error e) {
                log.debug("inode {} is not reloaded", next.getKey(), e);
            }
        }
    }

    /** Waits for a file. Returns null at the end. */
    private synchronized Map.@Nullable Entry<Long, Long> take() {
        while (!closed && waiting.isEmpty()) {
            try {
                wait();
            } catch (InterruptedException e) {
                return null;
            }
        }
        if (closed) {
            return null;
        }
        Map.Entry<Long, Long> first =
                Map.Entry.copyOf(waiting.entrySet().iterator().next());
        waiting.remove(first.getKey());
        // Last in the order of times, also if it was there.
        if (reloaded.remove(first.getKey()) == null && reloaded.size() >= MAX_FILES) {
            reloaded.remove(reloaded.keySet().iterator().next());
        }
        reloaded.put(first.getKey(), System.nanoTime());
        return first;
    }

    @Override
    public void close() {
        closed = true;
        synchronized (this) {
            notifyAll();
        }
        Uninterruptibles.joinUninterruptibly(worker);
    }
}
