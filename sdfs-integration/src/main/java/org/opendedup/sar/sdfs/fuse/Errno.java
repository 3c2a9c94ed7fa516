package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Converts failures to Linux error numbers ({@code asm-generic/errno.h}). No other class does this. */
public final class Errno {
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int ENXIO = 6;
    public static final int E2BIG = 7;
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int EACCES = 13;
    public static final int EBUSY = 16;
    public static final int EEXIST = 17;
    public static final int EXDEV = 18;
    public static final int ENODEV = 19;
    public static final int ENOTDIR = 20;
    public static final int EISDIR = 21;
    public static final int EINVAL = 22;
    public static final int ENFILE = 23;
    public static final int ENOTTY = 25;
    public static final int EFBIG = 27;
    public static final int ENOSPC = 28;
    public static final int EROFS = 30;
    public static final int EMLINK = 31;
    public static final int ERANGE = 34;
    public static final int ENAMETOOLONG = 36;
    public static final int ENOSYS = 38;
    public static final int ENOTEMPTY = 39;
    public static final int ELOOP = 40;
    public static final int ENODATA = 61;
    public static final int EOVERFLOW = 75;
    public static final int EOPNOTSUPP = 95;
    public static final int ECONNABORTED = 103;
    public static final int ESTALE = 116;
    public static final int EDQUOT = 122;

    private static final Logger LOG = LoggerFactory.getLogger(Errno.class);

    private Errno() {}

    /**
     * Returns the error number for a failure. Also logs failures that the caller did not cause: an I/O error with its
     * message, a programming error with its stack trace.
     *
     * @param operation name of the operation, for the log
     */
    public static int of(Throwable failure, String operation) {
        if (failure instanceof PosixException refused) {
            return of(refused.reason());
        }
        if (failure instanceof NoSpaceException) {
            LOG.warn("{}: {}", operation, failure.getMessage());
            return ENOSPC;
        }
        if (failure instanceof IOException) {
            LOG.error("{}: {}", operation, failure.toString());
            LOG.debug("{}", operation, failure);
            return EIO;
        }
        LOG.error("{}: internal error", operation, failure);
        return EIO;
    }

    private static int of(PosixException.Reason reason) {
        return switch (reason) {
            case EPERM -> EPERM;
            case ENOENT -> ENOENT;
            case EIO -> EIO;
            case ENXIO -> ENXIO;
            case E2BIG -> E2BIG;
            case EBADF -> EBADF;
            case EAGAIN -> EAGAIN;
            case EACCES -> EACCES;
            case EBUSY -> EBUSY;
            case EEXIST -> EEXIST;
            case EXDEV -> EXDEV;
            case ENODEV -> ENODEV;
            case ENOTDIR -> ENOTDIR;
            case EISDIR -> EISDIR;
            case EINVAL -> EINVAL;
            case EFBIG -> EFBIG;
            case ENOSPC -> ENOSPC;
            case EROFS -> EROFS;
            case EMLINK -> EMLINK;
            case ENFILE -> ENFILE;
            case ERANGE -> ERANGE;
            case ENAMETOOLONG -> ENAMETOOLONG;
            case ENOSYS -> ENOSYS;
            case ENOTEMPTY -> ENOTEMPTY;
            case ELOOP -> ELOOP;
            case ENODATA -> ENODATA;
            case EOVERFLOW -> EOVERFLOW;
            case EOPNOTSUPP -> EOPNOTSUPP;
            case ESTALE -> ESTALE;
            case EDQUOT -> EDQUOT;
        };
    }
}
