package org.opendedup.sar.sdfs.fuse;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.FairShares;
import org.opendedup.sar.common.PosixException;

/**
 * Assigns handles (small numbers) to open files. Reuses the handles of closed files. {@link #get} takes no lock; adding
 * and removing lock this object. Users have {@link FairShares} of the table.
 */
public final class HandleTable<T> {
    /** Limit of any table, in open files: 1 Mi, more than Linux lets one process open. */
    static final int MAX_HANDLES = 1 << 20;

    private static final int INITIAL_SLOTS = 64;

    /**
     * Replaced by a longer copy when full. A reader that still has the old array finds all files that were added before
     * the copy.
     */
    private volatile AtomicReferenceArray<@Nullable T> slots = new AtomicReferenceArray<>(INITIAL_SLOTS);

    /** Free handles below {@link #unused}; a stack with the last freed handle on top. */
    private int[] free = new int[INITIAL_SLOTS];

    private int freeCount;
    private int unused;
    /** The user who has each handle. */
    private int[] users = new int[INITIAL_SLOTS];

    private final FairShares shares;

    /** @param maxHandles how many files may be open at a time */
    HandleTable(int maxHandles) {
        shares = new FairShares("open files", Math.min(maxHandles, MAX_HANDLES));
    }

    /**
     * Adds a file that a user has opened.
     *
     * @throws PosixException ENFILE if the table is full, or the user has too large a share of it
     */
    public synchronized long add(T value, int user) throws PosixException {
        shares.take(user);
        int handle = freeCount > 0 ? free[--freeCount] : unused++;
        if (handle >= slots.length()) {
            grow();
        }
        slots.set(handle, value);
        users[handle] = user;
        return handle;
    }

    /** @throws PosixException EBADF if no open file has this handle */
    public T get(long handle) throws PosixException {
        AtomicReferenceArray<@Nullable T> current = slots;
        T value = handle >= 0 && handle < current.length() ? current.get((int) handle) : null;
        if (value == null) {
            throw new PosixException(PosixException.Reason.EBADF, "no open file " + handle);
        }
        return value;
    }

    /**
     * Removes a file and returns it. The caller closes it.
     *
     * @throws PosixException EBADF if no open file has this handle
     */
    public synchronized T remove(long handle) throws PosixException {
        T value = get(handle);
        slots.set((int) handle, null);
        free[freeCount++] = (int) handle;
        shares.giveBack(users[(int) handle]);
        return value;
    }

    /** Removes all files and returns them. */
    public synchronized List<T> removeAll() {
        List<T> all = new ArrayList<>();
        for (int handle = 0; handle < slots.length(); handle++) {
            T value = slots.getAndSet(handle, null);
            if (value != null) {
                all.add(value);
                shares.giveBack(users[handle]);
            }
        }
        freeCount = 0;
        unused = 0;
        return all;
    }

    private void grow() {
        AtomicReferenceArray<@Nullable T> old = slots;
        AtomicReferenceArray<@Nullable T> longer = new AtomicReferenceArray<>(old.length() * 2);
        for (int handle = 0; handle < old.length(); handle++) {
            longer.set(handle, old.get(handle));
        }
        free = Arrays.copyOf(free, longer.length());
        users = Arrays.copyOf(users, longer.length());
        slots = longer;
    }
}
