package org.opendedup.sar.sim.device;

/**
 * A request to a device.
 *
 * @param isWrite false: a read
 * @param offset offset of the first byte on the device
 * @param bytes length, greater than 0
 */
public record Transfer(boolean isWrite, long offset, long bytes) {
    /** @throws IllegalArgumentException if there is nothing to transfer, or the offset is negative */
    public Transfer {
        if (offset < 0 || bytes <= 0) {
            throw new IllegalArgumentException("a transfer of " + bytes + " bytes at " + offset);
        }
    }

    public static Transfer read(long offset, long bytes) {
        return new Transfer(false, offset, bytes);
    }

    public static Transfer write(long offset, long bytes) {
        return new Transfer(true, offset, bytes);
    }

    /** Returns the offset after the last byte. */
    public long end() {
        return offset + bytes;
    }
}
