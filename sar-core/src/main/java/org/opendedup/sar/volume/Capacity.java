package org.opendedup.sar.volume;

import org.opendedup.sar.common.NoSpaceException;

/**
 * How much of the volume's capacity the files take: the bytes that chunks give by their recipes, and those that were accepted and are
 * not stored yet. Holes take nothing. What a write needs is taken before it is accepted, all or nothing; storing it later takes no
 * more. Knows nothing of devices: those are {@link DeviceSpaces}'s.
 *
 * <p>A share of the capacity is kept for root. Whoever takes or gives back knows the inode, so that amounts by owner can be kept too.
 */
final class Capacity {
    private final long capacityBytes;
    private final long usersBytes;
    private long takenBytes;

    /**
     * @param usersPercent share of the capacity that others than root can take
     * @param takenBytes what the files have
     */
    Capacity(long capacityBytes, int usersPercent, long takenBytes) {
        this.capacityBytes = capacityBytes;
        this.usersBytes = capacityBytes / 100 * usersPercent + capacityBytes % 100 * usersPercent / 100;
        this.takenBytes = takenBytes;
    }

    /**
     * Takes so many bytes more if there are so many.
     *
     * @param mayUseReserve whether root's share is there for the caller
     */
    synchronized boolean tryTake(long bytes, boolean mayUseReserve) {
        if (bytes > 0 && bytes > limitBytes(mayUseReserve) - takenBytes) {
            return false;
        }
        takenBytes += bytes;
        return true;
    }

    /** As {@link #tryTake}; ENOSPC if there is too little. */
    void take(long bytes, boolean mayUseReserve) throws NoSpaceException {
        if (!tryTake(bytes, mayUseReserve)) {
            throw tooLittle(bytes, mayUseReserve);
        }
    }

    /** Makes sure that so many bytes could be taken now, and takes nothing. */
    void check(long bytes, boolean mayUseReserve) throws NoSpaceException {
        if (bytes > freeBytes(mayUseReserve)) {
            throw tooLittle(bytes, mayUseReserve);
        }
    }

    synchronized NoSpaceException tooLittle(long bytes, boolean mayUseReserve) {
        return new NoSpaceException("the volume is full: " + bytes + " bytes more are wanted, and "
                + freeBytes(mayUseReserve) + " of " + limitBytes(mayUseReserve) + " are free");
    }

    /** What was taken has become so many bytes more, or fewer if negative. */
    synchronized void change(long bytes) {
        takenBytes += bytes;
    }

    void giveBack(long bytes) {
        change(-bytes);
    }

    private long limitBytes(boolean mayUseReserve) {
        return mayUseReserve ? capacityBytes : usersBytes;
    }

    synchronized long takenBytes() {
        return takenBytes;
    }

    /** What can still be taken. */
    synchronized long freeBytes(boolean mayUseReserve) {
        return Math.max(0, limitBytes(mayUseReserve) - takenBytes);
    }
}
