package org.opendedup.sar.volume.store;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileLayout;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pack in a data location. A disk that is gone answers each read with an error, as it does for one bad sector: if the
 * begin of the pack cannot be read either, the location says whether its disk is there. If it is, it may be there
 * again, mounted anew: then the file that was open fails for ever, so it is opened once more. Safe for use by many
 * threads.
 */
final class LocatedInput implements Input {
    private static final Logger log = LoggerFactory.getLogger(LocatedInput.class);

    private final Directory directory;
    private final String name;
    private final Disk disk;
    private volatile Input input;
    /** What was open before, which other threads may still use. Guarded by this. */
    private final Deque<Input> former = new ArrayDeque<>();
    /** Guarded by this. */
    private boolean isClosed;

    /** Where the pack is. */
    @FunctionalInterface
    interface Disk {
        /**
         * Tells a disk that is gone from one with a bad sector.
         *
         * @param failure why something could not be read
         * @throws IOException if nothing can be read
         */
        void requireAnswer(IOException failure) throws IOException;
    }

    /** @param input the pack in the directory, open */
    LocatedInput(Directory directory, String name, Input input, Disk disk) {
        this.directory = directory;
        this.name = name;
        this.input = input;
        this.disk = disk;
    }

    @Override
    public void readFully(long offset, ByteBuffer target) throws IOException {
        Input open = input;
        int position = target.position();
        try {
            open.readFully(offset, target);
        } catch (EOFException e) {
            throw e;
        } catch (IOException e) {
            if (NoAnswer.is(e) || isReadable(open)) {
                throw e;
            }
            disk.requireAnswer(e);
            target.position(position);
            readAgain(open, offset, target);
        }
    }

    /** Returns whether the disk returns the header of the pack. */
    private static boolean isReadable(Input open) {
        try {
            open.forgetCached(0, PackFormat.FIRST_CONTAINER);
            open.readFully(0, ByteBuffer.allocate(PackFormat.FIRST_CONTAINER));
            return true;
        } catch (IOException e) {
            log.debug("the begin of a pack cannot be read", e);
            return false;
        }
    }

    private void readAgain(Input failed, long offset, ByteBuffer target) throws IOException {
        Input other = input;
        if (other != failed) {
            other.readFully(offset, target); // Another thread has opened it.
            return;
        }
        Input again = directory.open(name);
        boolean isUsed = false;
        try {
            again.readFully(offset, target);
            isUsed = use(again, failed);
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
    public long length() throws IOException {
        return input.length();
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
