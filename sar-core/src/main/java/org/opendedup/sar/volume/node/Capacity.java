package org.opendedup.sar.volume.node;

import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.volume.store.DeviceSpaces;

/**
 * The volume's capacity in bytes, and how much of it the files use: bytes that are stored in chunks according to the
 * recipes, accepted bytes that are not stored yet, and raw files. Holes use nothing. The capacity that a write needs is
 * taken before the write is accepted, all or nothing; storing the bytes later takes no more. Knows nothing of devices:
 * {@link DeviceSpaces} tracks those.
 *
 * <p>A share of the capacity is reserved for root. All callers that take or release capacity know the inode, so that
 * usage can also be tracked by owner.
 */
public final class Capacity {
    private long capacityBytes;
    private long usersBytes;
    private long takenBytes;
    /** Bytes of raw files that are in no recipe: as measured last, and what was taken since. */
    private long rawBytes;

    /**
     * @param usersPercent share of the capacity that users other than root can take, in percent
     * @param takenBytes bytes that the files use already
     */
    public Capacity(long capacityBytes, int usersPercent, long takenBytes) {
        this.takenBytes = takenBytes;
        setLimits(capacityBytes, usersPercent);
    }

    private void setLimits(long bytes, int usersPercent) {
        capacityBytes = bytes;
        usersBytes = bytes / 100 * usersPercent + bytes % 100 * usersPercent / 100;
    }

    /**
     * Changes the capacity, from the next write on.
     *
     * @param bytes the new capacity
     * @param usersPercent share of it that users other than root can take, in percent
     * @throws NoSpaceException if the files use more; then nothing is changed
     */
    public synchronized void resize(long bytes, int usersPercent) throws NoSpaceException {
        long used = takenBytes + rawBytes;
        if (bytes < used) {
            throw new NoSpaceException("the files use " + used + " bytes: the capacity cannot be " + bytes);
        }
        setLimits(bytes, usersPercent);
    }

    /**
     * Takes {@code bytes} more bytes if they are free.
     *
     * @param mayUseReserve whether the caller may use root's share
     * @return whether the bytes were taken
     */
    public synchronized boolean tryTake(long bytes, boolean mayUseReserve) {
        if (bytes > 0 && bytes > limitBytes(mayUseReserve) - takenBytes - rawBytes) {
            return false;
        }
        takenBytes += bytes;
        return true;
    }

    /** Takes bytes for a raw file until they are measured, as {@link #take} does. */
    synchronized void takeRaw(long bytes, boolean mayUseReserve) throws NoSpaceException {
        check(bytes, mayUseReserve);
        rawBytes += bytes;
    }

    /** Sets the bytes of raw files that are in no recipe. */
    synchronized void measuredRaw(long bytes) {
        rawBytes = bytes;
    }

    /** Takes bytes as {@link #tryTake} does; ENOSPC if not enough are free. */
    public void take(long bytes, boolean mayUseReserve) throws NoSpaceException {
        if (!tryTake(bytes, mayUseReserve)) {
            throw tooLittle(bytes, mayUseReserve);
        }
    }

    /** Checks that {@code bytes} bytes could be taken now, and takes nothing. */
    public void check(long bytes, boolean mayUseReserve) throws NoSpaceException {
        if (bytes > freeBytes(mayUseReserve)) {
            throw tooLittle(bytes, mayUseReserve);
        }
    }

    public synchronized NoSpaceException tooLittle(long bytes, boolean mayUseReserve) {
        return new NoSpaceException("the volume is full: " + bytes + " bytes more are wanted, and "
                + freeBytes(mayUseReserve) + " of " + limitBytes(mayUseReserve) + " are free");
    }

    /** Changes the number of taken bytes; negative values release bytes. */
    public synchronized void change(long bytes) {
        takenBytes += bytes;
    }

    public void giveBack(long bytes) {
        change(-bytes);
    }

    private long limitBytes(boolean mayUseReserve) {
        return mayUseReserve ? capacityBytes : usersBytes;
    }

    /** Returns the bytes of the whole capacity, free or not. */
    public synchronized long capacityBytes() {
        return capacityBytes;
    }

    public synchronized long takenBytes() {
        return takenBytes;
    }

    /** Returns the number of bytes that can still be taken. */
    public synchronized long freeBytes(boolean mayUseReserve) {
        return Math.max(0, limitBytes(mayUseReserve) - takenBytes - rawBytes);
    }
}
