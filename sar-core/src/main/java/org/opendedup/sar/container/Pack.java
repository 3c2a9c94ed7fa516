package org.opendedup.sar.container;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Output;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pack being written: a file to which open containers are appended, one after another. A container is written when
 * the one before it is complete; until then its frames wait in memory. So the containers of one stream lie in one piece
 * of the disk, in the order in which they were written.
 *
 * <p>A pack that fails is not written any more. All its containers that are not sealed fail with it, and
 * {@link OpenContainer#revive} writes each to another pack. A pack that finds the disk full makes all of them wait.
 *
 * <p>The lock of the pack ({@link #lock}) is held by the thread that appends to the file. It also guards the places of
 * the containers. A thread that finds it held does not wait for it to write a frame, but leaves the frame to the
 * holder. So each method that releases the lock, or makes a frame ready otherwise, calls {@link #drain} afterwards.
 */
final class Pack {
    private static final Logger log = LoggerFactory.getLogger(Pack.class);

    /**
     * Length at which a pack gets no further containers, in bytes. Long enough that the seek to it does not count,
     * short enough to be copied where a file system cannot free a part of a file.
     */
    static final long FULL_BYTES = 256 << 20;

    /** Smaller pieces are not reserved: the disk is nearly full. */
    private static final long MIN_RESERVED_BYTES = 1 << 20;

    /** A reservation takes at most this part of the free space: the disk may serve other purposes. */
    private static final int RESERVED_PART = 64;

    /** A container that is not sealed, as its pack sees it. */
    interface Member {
        /**
         * Returns whether nothing is written to this container any more, so that the next one of the pack may begin.
         */
        boolean isWritten();

        /**
         * Returns whether {@link #writeNext} has something to write or drop. The container is the first of its pack.
         */
        boolean canWrite();

        /** Writes or drops the next frame, or completes the container. The caller holds the pack's lock. */
        void writeNext();

        /** Has the frames wait, because the disk is full. */
        void beginShortage(NoSpaceException cause);

        /** Ends the wait for space. */
        void endShortage();

        /**
         * Fails the container because the disk did.
         *
         * @param keepWritten whether the bytes that are in the file and not forced yet can still be relied on
         */
        void diskFailed(IOException cause, boolean keepWritten);

        /** Reads the frames whose force failed into memory. The caller holds the pack's lock. */
        void keepUnforced();

        /** Returns what is in the file, or null if all of it was forced already. The caller holds the pack's lock. */
        @Nullable
        WrittenExtent unforced();

        /** Notes that this much of the container was forced. The caller holds the pack's lock. */
        void noteForced(WrittenExtent extent);
    }

    private final Directory directory;
    private final long number;
    private final Output output;
    private final ReentrantLock lock = new ReentrantLock();

    /** Containers that are not complete, in their order in the file. Guarded by itself. */
    private final ArrayDeque<Member> waiting = new ArrayDeque<>();
    /**
     * Containers that are not sealed: those that wait, and those whose completion is not durable. Guarded by waiting.
     */
    private final Set<Member> unsealed = new LinkedHashSet<>();

    /** Held while the file is forced: a later force may report the success of a failed one. Before the lock. */
    private final Object forcing = new Object();

    /** Why the file is not written any more; null while it is. Guarded by waiting. */
    private @Nullable IOException failure;
    /** Whether bytes that were not forced may be lost, so that no later force can be relied on. Guarded by waiting. */
    private boolean inDoubt;
    /** Why the disk took no more bytes, until the next retry; null if it did. Guarded by waiting. */
    private @Nullable NoSpaceException shortage;
    /** Whether no container is added any more. Guarded by waiting. */
    private boolean retired;
    /** Guarded by waiting. */
    private boolean closed;
    /** Whether the file's name is durable. */
    private volatile boolean named;

    /** Length of the file after the last append, for threads without the lock. */
    private volatile long length;

    /** Length up to which space was asked for. Guarded by the lock. */
    private long reserved;

    private Pack(Directory directory, long number, Output output) {
        this.directory = directory;
        this.number = number;
        this.output = output;
    }

    /**
     * Creates the file and writes its header. Deletes the file again if the header cannot be written.
     *
     * @throws FileAlreadyExistsException if there is a pack of this number: it is never overwritten
     */
    static Pack create(Directory directory, long number) throws IOException {
        return create(directory, number, directory::create);
    }

    /** As {@link #create}, with a number that no other pack can have; see {@link Directory#createFresh}. */
    static Pack createFresh(Directory directory, long number) throws IOException {
        return create(directory, number, directory::createFresh);
    }

    /** Makes a file. */
    @FunctionalInterface
    private interface Creation {
        Output create(String name) throws IOException;
    }

    private static Pack create(Directory directory, long number, Creation creation) throws IOException {
        String name = PackFormat.fileName(number);
        Output output = creation.create(name);
        try {
            output.append(PackFormat.header(number).buffer());
            return new Pack(directory, number, output);
        } catch (IOException | RuntimeException | Error e) {
            Closing.after(e, () -> {
                output.close();
                directory.delete(name);
            });
            throw e;
        }
    }

    long number() {
        return number;
    }

    /** The lock of the file; see the class. */
    ReentrantLock lock() {
        return lock;
    }

    /** Returns the length of the file. The caller holds the lock. */
    long position() {
        return output.position();
    }

    /** Appends bytes; returns the offset in the file at which they begin. The caller holds the lock. */
    long append(ByteBuffer bytes) throws IOException {
        reserve(output.position() + bytes.remaining());
        long offset = output.append(bytes);
        length = output.position();
        return offset;
    }

    /**
     * Has the system begin to write what was appended, so that the disk is not idle until the next commit. The caller
     * holds the lock.
     */
    void startWriting() {
        output.startWriting();
    }

    /**
     * Reserves space ahead of an append that ends at {@code end}, unless that was done: a pack's whole length, so that
     * streams which are written at the same time do not alternate on the disk.
     */
    private void reserve(long end) {
        if (end <= reserved) {
            return;
        }
        try {
            long piece = Math.min(FULL_BYTES, directory.usableBytes() / RESERVED_PART);
            if (piece >= MIN_RESERVED_BYTES && output.reserve(end + piece)) {
                reserved = end + piece;
                return;
            }
        } catch (IOException e) {
            log.debug("{}: no space is reserved", this, e);
        }
        // Asks again after some more bytes: there may be space then.
        reserved = end + MIN_RESERVED_BYTES;
    }

    /** Gives reserved space after the last appended byte back; the next append reserves anew. */
    void giveReservedBack() throws IOException {
        lock.lock();
        try {
            if (!isClosed()) {
                output.trim();
                reserved = 0;
            }
        } finally {
            lock.unlock();
            drain();
        }
    }

    /** Returns whether the pack is short enough for a further container. */
    boolean hasRoom() {
        return length < FULL_BYTES;
    }

    /** Returns whether a further container with this id may be added. */
    boolean accepts(long container) {
        synchronized (waiting) {
            return failure == null && !retired && container <= number && hasRoom();
        }
    }

    /**
     * Adds a container, which is written after all others. If the pack has failed meanwhile, or waits for space, so
     * does the container: otherwise a thread would wait for frames that nobody writes.
     */
    void add(Member container) {
        synchronized (waiting) {
            waiting.add(container);
            unsealed.add(container);
            if (failure != null) {
                container.diskFailed(failure, true);
            } else if (shortage != null) {
                container.beginShortage(shortage);
            }
        }
    }

    /** Removes a container that is sealed, or is written to another pack. Closes the file after the last one. */
    void remove(Member container) {
        synchronized (waiting) {
            waiting.remove(container);
            unsealed.remove(container);
        }
        closeIfDone();
    }

    /** Adds no container any more. Closes the file once all containers are sealed. */
    void retire() {
        synchronized (waiting) {
            retired = true;
        }
        closeIfDone();
    }

    private void closeIfDone() {
        synchronized (waiting) {
            if (closed || !retired || !unsealed.isEmpty()) {
                return;
            }
        }
        close();
    }

    /** Closes the file without forcing it. Gives reserved space back. Idempotent. */
    void close() {
        synchronized (waiting) {
            if (closed) {
                return;
            }
            closed = true;
        }
        lock.lock();
        try {
            output.trim();
        } catch (IOException e) {
            log.debug("{}: reserved space could not be given back", this, e);
        } finally {
            lock.unlock();
            drain();
        }
        try {
            output.close();
        } catch (IOException e) {
            log.debug("{} could not be closed", this, e);
        }
    }

    /** Returns the container to write to, or null if all are complete. */
    private @Nullable Member head() {
        synchronized (waiting) {
            while (!waiting.isEmpty() && waiting.element().isWritten()) {
                waiting.remove();
            }
            return waiting.peek();
        }
    }

    boolean isClosed() {
        synchronized (waiting) {
            return closed;
        }
    }

    private @Nullable Member writableHead() {
        Member head = head();
        return head != null && head.canWrite() ? head : null;
    }

    /** Writes what can be written, in order. Does nothing if another thread is writing: that thread writes it. */
    void drain() {
        while (writableHead() != null && lock.tryLock()) {
            try {
                writeAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Writes what can be written. The caller holds the lock. */
    private void writeAll() {
        for (Member head = writableHead(); head != null; head = writableHead()) {
            head.writeNext();
        }
    }

    private List<Member> unsealed() {
        synchronized (waiting) {
            return new ArrayList<>(unsealed);
        }
    }

    /** Has all containers wait, because the disk is full. */
    void beginShortage(NoSpaceException cause) {
        synchronized (waiting) {
            shortage = cause;
            unsealed.forEach(container -> container.beginShortage(cause));
        }
    }

    /** Retries the writes that the disk had no space for. */
    void retry() {
        synchronized (waiting) {
            shortage = null;
            unsealed.forEach(Member::endShortage);
        }
        drain();
    }

    /**
     * Fails all containers that are not sealed, because the disk failed.
     *
     * @param keepWritten whether the bytes that are in the file and not forced yet can still be relied on
     */
    void fail(IOException cause, boolean keepWritten) {
        synchronized (waiting) {
            failure = cause;
            inDoubt |= !keepWritten;
            unsealed.forEach(container -> container.diskFailed(cause, keepWritten));
        }
        drain();
    }

    /**
     * Forces all that was written before the call, also after a failed append. A failure is recorded with each
     * container, not thrown: see {@link OpenFrames#reportLoss}. Appends go on meanwhile.
     */
    void force() {
        synchronized (forcing) {
            Map<Member, WrittenExtent> forced = unforced();
            drain();
            if (forced.isEmpty() || isInDoubt()) {
                return;
            }
            try {
                output.force();
                noteForced(forced);
            } catch (IOException e) {
                forceFailed(e);
            }
        }
        drain();
    }

    /** Writes what can be written. Returns what is in the file and not forced. */
    private Map<Member, WrittenExtent> unforced() {
        Map<Member, WrittenExtent> unforced = new LinkedHashMap<>();
        lock.lock();
        try {
            writeAll();
            for (Member container : unsealed()) {
                WrittenExtent extent = container.unforced();
                if (extent != null) {
                    unforced.put(container, extent);
                }
            }
        } finally {
            lock.unlock();
        }
        return unforced;
    }

    private void noteForced(Map<Member, WrittenExtent> forced) {
        lock.lock();
        try {
            if (!isInDoubt()) {
                forced.forEach(Member::noteForced);
            }
        } finally {
            lock.unlock();
        }
    }

    private void forceFailed(IOException cause) {
        lock.lock();
        try {
            fail(cause, false);
            unsealed().forEach(Member::keepUnforced);
        } finally {
            lock.unlock();
        }
    }

    private boolean isInDoubt() {
        synchronized (waiting) {
            return inDoubt;
        }
    }

    /** Forces the file of a pack that no other thread knows yet. */
    void forceNow() throws IOException {
        output.force();
    }

    /** Throws if a sync of the directory failed since the file was made, also if it was that of another caller. */
    void checkName() throws IOException {
        directory.checkName(PackFormat.fileName(number));
    }

    /** Makes the name of the file durable. */
    void syncName() throws IOException {
        directory.sync();
        checkName();
    }

    /** Notes that the directory was synced after {@link #force}. */
    void nameIsDurable() {
        named = true;
    }

    /** Notes that the directory could not be synced. Does nothing if the name of the file was durable before. */
    void nameIsInDoubt(IOException cause) {
        if (!named) {
            fail(cause, false);
        }
    }

    @Override
    public String toString() {
        return directory + "/" + PackFormat.fileName(number);
    }
}
