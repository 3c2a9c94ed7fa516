package org.opendedup.sar.volume.node;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.TimeLimit;
import org.opendedup.sar.raw.RawFolder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes calls of the fast tier that others must not wait for without end. The fast tier counts as hanging from the
 * moment at which a call has taken longer than the limit until all such calls have returned. Both moments are logged.
 */
public final class AnswerLimit {
    private static final Logger log = LoggerFactory.getLogger(AnswerLimit.class);

    /** Number of files that are examined within one limit: few, so that many of them are not taken for a hang. */
    private static final int FILES_AT_ONCE = 256;

    private final TimeLimit limit;
    /** The calls that exceeded the limit and have not returned, the first one first. Guarded by this. */
    private final Set<Pending> late = new LinkedHashSet<>();

    public AnswerLimit(String volume, Duration limit) {
        this.limit = new TimeLimit(volume + "-fast-tier", limit);
    }

    /** A call. */
    private static final class Pending {
        final String what;
        final long begunNs = System.nanoTime();
        /** Guarded by the {@link AnswerLimit}. */
        boolean hasReturned;

        Pending(String what) {
            this.what = what;
        }
    }

    /** A step that is done with each of many things. */
    @FunctionalInterface
    public interface Visitor<T> {
        void visit(T each) throws IOException;
    }

    /**
     * Makes a call in a thread of its own.
     *
     * @param what description of the call, for messages
     * @throws TimeLimit.ExceededException if it exceeds the limit. It goes on, and its result is not used
     * @throws IOException if it fails
     */
    public <T> T call(String what, TimeLimit.Call<T> call) throws IOException {
        return call(what, call, result -> {});
    }

    /** Opens a folder in a thread of its own; closes it if that exceeds the limit. */
    public RawFolder open(TimeLimit.Call<RawFolder> opening) throws IOException {
        return call("opening the raw files", opening, RawFolder::close);
    }

    /**
     * Makes a call as {@link #call(String, TimeLimit.Call)} does.
     *
     * @param tooLate receives its result if it exceeds the limit
     */
    public <T> T call(String what, TimeLimit.Call<T> call, Consumer<T> tooLate) throws IOException {
        Pending pending = new Pending(what);
        try {
            return limit.call(
                    what,
                    () -> {
                        try {
                            return call.call();
                        } finally {
                            noteReturned(pending);
                        }
                    },
                    tooLate);
        } catch (TimeLimit.ExceededException e) {
            noteLate(pending);
            throw e;
        }
    }

    /** Makes calls for each of many things; the limit is for some of them at a time. */
    public <T> void forEach(String what, Collection<T> all, Visitor<T> visitor) throws IOException {
        List<T> some = new ArrayList<>(FILES_AT_ONCE);
        for (T each : all) {
            some.add(each);
            if (some.size() == FILES_AT_ONCE) {
                visit(what, some, visitor);
                some = new ArrayList<>(FILES_AT_ONCE);
            }
        }
        visit(what, some, visitor);
    }

    private <T> void visit(String what, List<T> some, Visitor<T> visitor) throws IOException {
        if (some.isEmpty()) {
            return;
        }
        call(what, () -> {
            for (T each : some) {
                visitor.visit(each);
            }
            return some.size();
        });
    }

    private synchronized void noteLate(Pending pending) {
        if (pending.hasReturned) {
            return;
        }
        if (late.isEmpty()) {
            log.error(
                    "the fast tier does not answer: {} has taken more than {} s. New files are stored in chunks, and"
                            + " commits do not wait for the fast tier, until it answers",
                    pending.what,
                    limit.limit().toSeconds());
        }
        late.add(pending);
    }

    private synchronized void noteReturned(Pending pending) {
        pending.hasReturned = true;
        if (late.remove(pending) && late.isEmpty()) {
            log.warn("the fast tier answers again");
        }
    }

    public synchronized boolean isHanging() {
        return !late.isEmpty();
    }

    /** Returns what the fast tier does not answer, as text; null if it answers. */
    public synchronized @Nullable String hanging() {
        if (late.isEmpty()) {
            return null;
        }
        Pending first = late.iterator().next();
        return first.what + " has taken " + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - first.begunNs) + " s";
    }

    /** Throws if the fast tier hangs. */
    public void check() throws IOException {
        String what = hanging();
        if (what != null) {
            throw new IOException("the fast tier does not answer: " + what);
        }
    }
}
