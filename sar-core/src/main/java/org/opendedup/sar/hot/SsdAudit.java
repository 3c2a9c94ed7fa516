package org.opendedup.sar.hot;

import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.TimeLimit;
import org.opendedup.sar.ssd.AttachedSsd;
import org.opendedup.sar.ssd.LogCopies;
import org.opendedup.sar.ssd.LogCopies.State;

/**
 * Verifies the copies on the SSD that was in use when this was made, and ends with an IOException that says why when it
 * is not in use any more, or does not answer. For use by one thread.
 */
public final class SsdAudit {
    private final SsdLifecycle lifecycle;
    private final TimeLimit timeLimit;
    private final @Nullable AttachedSsd ssd;

    SsdAudit(SsdLifecycle lifecycle, String name, Duration limit) {
        this.lifecycle = lifecycle;
        timeLimit = new TimeLimit(name + "-ssd-scrub", limit);
        ssd = lifecycle.attached();
    }

    /** Returns the SSD. */
    private AttachedSsd inUse() throws IOException {
        SsdState state = lifecycle.state();
        if (ssd == null || ssd != lifecycle.attached() || state == SsdState.SUSPENDED) {
            String reason = lifecycle.reason();
            throw new IOException(reason.isEmpty() ? "another SSD was attached" : reason);
        }
        return ssd;
    }

    /** Returns the bytes of all copies; 0 if the SSD is not in use. */
    public long bytes() {
        return ssd == null ? 0 : ssd.liveBytes();
    }

    /**
     * Returns the first copies in the SSD's log that are not before a byte of a segment file; none if there are no
     * more.
     */
    public LogCopies copiesFrom(int segment, long offset) throws IOException {
        return inUse().copiesFrom(segment, offset);
    }

    /**
     * Reads copies {@code from} to {@code to} (exclusive), sets their states, and drops those that are not what was
     * written. Readers of the SSD go first.
     */
    public void verify(LogCopies copies, int from, int to) throws IOException {
        AttachedSsd read = inUse();
        timeLimit.call(
                "verifying copies on the SSD",
                () -> {
                    read.verify(copies, from, to);
                    return copies;
                },
                late -> {});
        for (int i = from; i < to; i++) {
            if (copies.state(i) == State.SOUND) {
                lifecycle.onGoodRead();
                break;
            }
        }
        // What was found on an SSD that failed, or was taken away, says nothing about its copies.
        var unused = inUse();
    }

    /** Drops a copy, if it is still there; returns whether it was. */
    public boolean drop(LogCopies copies, int i) throws IOException {
        return inUse().drop(copies, i);
    }
}
