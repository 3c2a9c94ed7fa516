package org.opendedup.sar.sdfs.fuse;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.FairShares;
import org.opendedup.sar.common.PosixException;

/** Gives open files their handles, numbers that are never used again. Users have {@link FairShares} of the table. */
public final class HandleTable<T> {
    /** Limit of any table, in open files: 1 Mi, more than Linux lets one process open. */
    static final int MAX_HANDLES = 1 << 20;

    private final Map<Long, Held<T>> open = new ConcurrentHashMap<>();
    private final AtomicLong next = new AtomicLong();
    private final FairShares shares;

    /** An open file, and the user who has it. */
    private record Held<T>(T value, int user) {}

    /** @param maxHandles how many files may be open at a time */
    HandleTable(int maxHandles) {
        shares = new FairShares("open files", Math.min(maxHandles, MAX_HANDLES));
    }

    /**
     * Adds a file that a user has opened.
     *
     * @throws PosixException ENFILE if the table is full, or the user has too large a share of it
     */
    public long add(T value, int user) throws PosixException {
        shares.take(user);
        long handle = next.getAndIncrement();
        open.put(handle, new Held<>(value, user));
        return handle;
    }

    /** @throws PosixException EBADF if no open file has this handle */
    public T get(long handle) throws PosixException {
        return known(open.get(handle), handle).value;
    }

    /**
     * Puts another file of the same user in the place of one, which is closed.
     *
     * @throws PosixException EBADF if no open file has this handle
     */
    public void replace(long handle, T value) throws PosixException {
        open.put(handle, new Held<>(value, known(open.get(handle), handle).user));
    }

    /**
     * Removes a file and returns it. The caller closes it.
     *
     * @throws PosixException EBADF if no open file has this handle
     */
    public T remove(long handle) throws PosixException {
        Held<T> removed = known(open.remove(handle), handle);
        shares.giveBack(removed.user);
        return removed.value;
    }

    private static <T> Held<T> known(@Nullable Held<T> found, long handle) throws PosixException {
        if (found == null) {
            throw new PosixException(PosixException.Reason.EBADF, "no open file " + handle);
        }
        return found;
    }

    /** Returns the files that are open. */
    public List<T> values() {
        return open.values().stream().map(Held::value).toList();
    }

    /** Removes all files and returns them. */
    public List<T> removeAll() {
        List<T> all = new ArrayList<>();
        open.forEach((handle, held) -> {
            if (open.remove(handle, held)) {
                shares.giveBack(held.user);
                all.add(held.value);
            }
        });
        return all;
    }
}
