package org.opendedup.sar.volume.store;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.opendedup.sar.common.Answer;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.io.FileLayout;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.io.SystemError;

/**
 * A pack in a data location. A disk that is gone answers each call with an error, as it does a read of one bad sector,
 * so the location is asked whether its disk is there. If it is, it may be there again, mounted anew: then the file that
 * was open fails for ever, and is opened once more. Safe for use by many threads.
 */
final class LocatedInput implements Input {
    /** Tells whether the disk is there. */
    @FunctionalInterface
    interface Presence {
        /** @throws IOException if nothing can be read in the location, with {@code failure} as its cause */
        void require(IOException failure) throws IOException;
    }

    /** Asks something of a file; may be called twice. */
    @FunctionalInterface
    private interface Call<T> {
        T of(Input file) throws IOException;
    }

    private final Answer<Input> opening;
    private final Presence presence;
    private volatile Input input;
    /** What was open before, which other threads may still use. Guarded by this. */
    private final Deque<Input> former = new ArrayDeque<>();
    /** Guarded by this. */
    private boolean isClosed;

    LocatedInput(Input input, Answer<Input> opening, Presence presence) {
        this.input = input;
        this.opening = opening;
        this.presence = presence;
    }

    @Override
    public void readFully(long offset, ByteBuffer target) throws IOException {
        int position = target.position();
        call(file -> {
            file.readFully(offset, target.position(position));
            return target;
        });
    }

    /** Fails as a read does where the file system was shut down, or its server does not know the file any more. */
    @Override
    public long length() throws IOException {
        return call(Input::length);
    }

    private <T> T call(Call<T> call) throws IOException {
        Input open = input;
        try {
            return call.of(open);
        } catch (EOFException e) {
            throw e;
        } catch (IOException e) {
            boolean isStale = SystemError.STALE_HANDLE.isIn(e.getMessage());
            if (isStale || !NoAnswer.is(e)) {
                presence.require(e);
            }
            if (!isStale && !open.isReplaced()) {
                throw e;
            }
            return callAgain(open, call);
        }
    }

    private <T> T callAgain(Input failed, Call<T> call) throws IOException {
        Input other = input;
        if (other != failed) {
            return call.of(other); // Another thread has opened it.
        }
        Input again = opening.get();
        boolean isUsed = false;
        try {
            T result = call.of(again);
            isUsed = use(again, failed);
            return result;
        } finally {
            if (!isUsed) {
                again.close();
            }
        }
    }

    private synchronized boolean use(Input again, Input failed) {
        boolean isFirst = !isClosed && input == failed;
        if (isFirst) {
            former.add(failed);
            input = again;
        }
        return isFirst;
    }

    @Override
    public FileLayout layout(long offset, long length) {
        return input.layout(offset, length);
    }

    @Override
    public void forgetCached(long offset, long length) {
        input.forgetCached(offset, length);
    }

    @Override
    public boolean forgetCopies(long offset, long length) throws IOException {
        return input.forgetCopies(offset, length);
    }

    @Override
    public void expect(long offset, long length) {
        input.expect(offset, length);
    }

    @Override
    public synchronized void close() throws IOException {
        isClosed = true;
        Closing each = new Closing();
        each.run(input::close);
        former.forEach(one -> each.run(one::close));
        former.clear();
        each.finish();
    }
}
