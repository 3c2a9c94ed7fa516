package org.opendedup.sar.sdfs.keys;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * Looks whether a mounted volume has two good copies of its key header. A disk that hangs keeps nobody waiting for
 * long, and one thread at most. Safe for several threads.
 */
public final class KeyHeaderWatch {
    /** Time that a caller waits. */
    private static final Duration WAIT = Duration.ofSeconds(2);

    /** Time after which a disk hangs. One that sleeps needs ten seconds to wake up. */
    private static final Duration HANGS = Duration.ofMinutes(1);

    private final VolumeConfig config;
    private final Duration wait;
    private final Duration hangs;

    /** The latest look, when it began, and what the one before it found. Guarded by this. */
    private @Nullable FutureTask<List<String>> look;

    private long beganNanos;
    private List<String> before = List.of();

    public KeyHeaderWatch(VolumeConfig config) {
        this(config, WAIT, HANGS);
    }

    KeyHeaderWatch(VolumeConfig config, Duration wait, Duration hangs) {
        this.config = config;
        this.wait = wait;
        this.hangs = hangs;
    }

    /** Returns what is wrong with the copies, in words; empty if nothing is, or the volume is not encrypted. */
    public List<String> faults() throws IOException {
        VolumeKeys keys = config.keys();
        if (keys == null) {
            return List.of();
        }
        FutureTask<List<String>> current = look(keys);
        try {
            List<String> found = current.get(wait.toNanos(), TimeUnit.NANOSECONDS);
            note(found);
            return found;
        } catch (TimeoutException e) {
            return withoutAnswer();
        } catch (ExecutionException e) {
            throw new IOException("the key header cannot be read: " + e.getCause(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the key header is read", e);
        }
    }

    /** Returns the look that is under way, or begins one. */
    private synchronized FutureTask<List<String>> look(VolumeKeys by) {
        if (look == null || look.isDone()) {
            look = new FutureTask<>(() -> VolumeKeyHeader.faults(config, by));
            beganNanos = System.nanoTime();
            Threads.named("sdfs-key-header").newThread(look).start();
        }
        return look;
    }

    private synchronized void note(List<String> found) {
        before = found;
    }

    private synchronized List<String> withoutAnswer() {
        if (System.nanoTime() - beganNanos < hangs.toNanos()) {
            return before;
        }
        VolumeConfig.Locations locations = config.locations();
        return List.of("the copies in " + locations.data() + " and " + locations.metadata()
                + " cannot be read: a disk does not answer");
    }
}
