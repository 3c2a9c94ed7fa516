package org.opendedup.sar.volume.node;

import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.quota.Quotas;
import org.opendedup.sar.volume.store.DeviceSpaces;

/**
 * The volume's capacity in bytes, and how much of it the files use: bytes that are stored in chunks according to the
 * recipes, accepted bytes that are not stored yet, and raw files. Holes use nothing. The capacity that a write needs is
 * taken before the write is accepted, all or nothing; storing the bytes later takes no more. Knows nothing of devices:
 * {@link DeviceSpaces} tracks those.
 *
 * <p>A share of the capacity is reserved for root, who is exempt from quotas. Whoever takes or releases bytes says for
 * which account: the quotas count the same bytes as the capacity, in the same steps.
 */
public final class Capacity {
    private final Quotas quotas;
    private long capacityBytes;
    private long usersBytes;
    private long takenBytes;
    /** Bytes of raw files that are in no recipe: as measured last, and what was taken since. */
    private long rawBytes;

    /**
     * @param usersPercent share of the capacity that users other than root can take, in percent
     * @param takenBytes bytes that the files use already
     */
    public Capacity(long capacityBytes, int usersPercent, long takenBytes, Quotas quotas) {
        this.quotas = quotas;
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
     * Takes {@code bytes} more bytes for a file if they are free, and its quotas admit them.
     *
     * @param mayUseReserve whether the caller may use root's share, and exceed quotas
     * @return whether the bytes were taken
     */
    public synchronized boolean tryTake(Account account, long bytes, boolean mayUseReserve) {
        if (bytes > 0 && bytes > limitBytes(mayUseReserve) - takenBytes - rawBytes) {
            return false;
        }
        if (!mayUseReserve) {
            if (!quotas.tryTake(account, bytes)) {
                return false;
            }
        } else {
            quotas.change(account, bytes);
        }
        takenBytes += bytes;
        return true;
    }

    /** Takes bytes for a raw file until they are measured, as {@link #take} does. */
    synchronized void takeRaw(Account account, long bytes, boolean mayUseReserve) throws IOException {
        check(account, bytes, mayUseReserve);
        rawBytes += bytes;
        quotas.changeMeasured(account, bytes);
    }

    /** Sets the bytes of raw files that are in no recipe, by account. */
    synchronized void measuredRaw(Map<Account, Long> bytes) {
        rawBytes = bytes.values().stream().mapToLong(Long::longValue).sum();
        quotas.measured(bytes);
    }

    /** Takes bytes as {@link #tryTake} does; ENOSPC if not enough are free, EDQUOT if a quota does not admit them. */
    public void take(Account account, long bytes, boolean mayUseReserve) throws IOException {
        if (!tryTake(account, bytes, mayUseReserve)) {
            throw tooLittle(account, bytes, mayUseReserve);
        }
    }

    /** Checks that {@code bytes} bytes could be taken now, as {@link #take} does, and takes nothing. */
    public synchronized void check(Account account, long bytes, boolean mayUseReserve) throws IOException {
        if (bytes > freeBytes(mayUseReserve)) {
            throw full(bytes, mayUseReserve);
        }
        if (!mayUseReserve) {
            quotas.check(account, bytes);
        }
    }

    /** Returns why bytes could not be taken: EDQUOT if a quota is the reason, else ENOSPC. */
    public synchronized IOException tooLittle(Account account, long bytes, boolean mayUseReserve) {
        try {
            check(account, bytes, mayUseReserve);
        } catch (IOException e) {
            return e;
        }
        return full(bytes, mayUseReserve);
    }

    private NoSpaceException full(long bytes, boolean mayUseReserve) {
        return new NoSpaceException("the volume is full: " + bytes + " bytes more are wanted, and "
                + freeBytes(mayUseReserve) + " of " + limitBytes(mayUseReserve) + " are free");
    }

    /** Changes the number of taken bytes of an account; negative values release bytes. */
    public synchronized void change(Account account, long bytes) {
        takenBytes += bytes;
        quotas.change(account, bytes);
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

    /** Returns the number of bytes that a user other than root can still take for an account. */
    public synchronized long leftBytes(Account account) {
        return Math.min(freeBytes(false), quotas.leftBytes(account));
    }

    /** Returns the number of bytes that can still be taken. */
    public synchronized long freeBytes(boolean mayUseReserve) {
        return Math.max(0, limitBytes(mayUseReserve) - takenBytes - rawBytes);
    }
}
