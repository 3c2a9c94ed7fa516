package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import org.opendedup.sar.common.PosixException;

/**
 * The decoded mode of fallocate(2). Supported modes: 0, KEEP_SIZE, PUNCH_HOLE with KEEP_SIZE, and ZERO_RANGE with or
 * without KEEP_SIZE.
 *
 * @param zeroes true: the range reads as zeros afterwards; false: the range is only allocated
 * @param keepsSize true: a range beyond the end of the file does not extend the file
 */
public record FallocateMode(boolean zeroes, boolean keepsSize) {
    /** {@code FALLOC_FL_*} of {@code linux/falloc.h}. */
    private static final int KEEP_SIZE = 1;

    private static final int PUNCH_HOLE = 1 << 1;
    private static final int ZERO_RANGE = 1 << 4;

    /** @throws PosixException EOPNOTSUPP if the mode is not supported */
    public static FallocateMode of(int mode) throws PosixException {
        return switch (mode) {
            case 0, KEEP_SIZE -> new FallocateMode(false, mode == KEEP_SIZE);
            case PUNCH_HOLE | KEEP_SIZE, ZERO_RANGE | KEEP_SIZE -> new FallocateMode(true, true);
            case ZERO_RANGE -> new FallocateMode(true, false);
            default -> throw new PosixException(PosixException.Reason.EOPNOTSUPP, "fallocate with mode " + mode);
        };
    }

    /** Applies the mode to {@code length} bytes of an open file, from byte {@code offset}. */
    public void apply(FuseFileSystem operations, long handle, long offset, long length) throws IOException {
        if (zeroes) {
            operations.zero(handle, offset, length, keepsSize);
        } else {
            operations.allocate(handle, offset, length, keepsSize);
        }
    }
}
