package org.opendedup.sar.volume.node;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.metadata.quota.Account;

/**
 * How much raw files may grow: what the volume's capacity and the device of the fast tier leave, as measured each
 * second, less what was granted since. Knows nothing of bytes that the kernel writes itself before they are measured.
 */
public final class RawSpace {
    /** Bytes of the capacity below which the kernel gets no file to write itself any more: so each write is checked. */
    private static final long AMPLE_BYTES = 1L << 30;

    private final Capacity capacity;
    private final AtomicLong grantedBytes = new AtomicLong();
    private volatile Measure last;

    /**
     * What was found on the fast tier.
     *
     * @param shareLeftBytes what raw files may take until their share of the fast tier is used
     * @param deviceLeftBytes what they may take of its device
     * @param onlyThereBytes bytes of raw files that are in no recipe, by account
     * @param hasRoomForPins whether more files may be pinned by users other than root
     */
    public record Measure(
            long shareLeftBytes, long deviceLeftBytes, Map<Account, Long> onlyThereBytes, boolean hasRoomForPins) {}

    /** @param shareBytes what raw files may take of the fast tier together */
    public RawSpace(Capacity capacity, long shareBytes) {
        this.capacity = capacity;
        last = new Measure(shareBytes, Long.MAX_VALUE, Map.of(), true);
    }

    public void measured(Measure found) {
        last = found;
        grantedBytes.set(0);
        capacity.measuredRaw(found.onlyThereBytes);
    }

    /** Returns whether a user may make a raw file. */
    public boolean hasCapacity(boolean mayUseReserve) {
        return capacity.freeBytes(mayUseReserve) > 0;
    }

    /**
     * Returns whether so much of the capacity, and of the quotas of an account, is left that the kernel may write a
     * file without asking.
     */
    boolean isAmple(Account account) {
        return capacity.leftBytes(account) >= AMPLE_BYTES;
    }

    /** Returns whether a file of a user other than root may be pinned. */
    public boolean hasRoomForPins() {
        return last.hasRoomForPins;
    }

    /** Returns whether an allocation is within the raw files' share of the fast tier. */
    boolean isInShare(long bytes) {
        return bytes <= last.shareLeftBytes - grantedBytes.get();
    }

    /**
     * Grants bytes that a raw file is going to take. ENOSPC if the capacity or the device does not have them, EDQUOT if
     * a quota does not admit them.
     *
     * @param mayUseReserve whether the caller may use root's share, and exceed quotas
     */
    public void grant(Account account, long bytes, boolean mayUseReserve) throws IOException {
        if (bytes <= 0) {
            return;
        }
        long left = last.deviceLeftBytes - grantedBytes.get();
        if (bytes > left) {
            throw new NoSpaceException(
                    "a file on the fast tier wants " + bytes + " bytes more, and its device has " + Math.max(0, left));
        }
        capacity.takeRaw(account, bytes, mayUseReserve);
        grantedBytes.addAndGet(bytes);
    }
}
