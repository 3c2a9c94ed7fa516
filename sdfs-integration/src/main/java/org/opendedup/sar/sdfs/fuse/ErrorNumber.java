package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Converts failures to Linux error numbers: no other class does this. */
public final class ErrorNumber {
    private static final Logger LOG = LoggerFactory.getLogger(ErrorNumber.class);

    private ErrorNumber() {}

    /**
     * Returns the error number for a failure. Also logs failures that the caller did not cause: an I/O error with its
     * message, a programming error with its stack trace.
     *
     * @param operation name of the operation, for the log
     */
    public static int of(Throwable failure, String operation) {
        if (failure instanceof PosixException refused) {
            return refused.reason().number();
        }
        if (failure instanceof NoSpaceException) {
            LOG.warn("{}: {}", operation, failure.getMessage());
            return Errno.ENOSPC;
        }
        if (failure instanceof IOException) {
            LOG.error("{}: {}", operation, failure.toString());
            LOG.debug("{}", operation, failure);
            return Errno.EIO;
        }
        LOG.error("{}: internal error", operation, failure);
        return Errno.EIO;
    }
}
