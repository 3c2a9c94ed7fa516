package org.opendedup.sar.common;

import java.io.IOException;

/**
 * A file system call was refused for a reason that has a POSIX name. Carries no stack trace: a lookup that finds
 * nothing is a normal result, and happens thousands of times a second.
 */
public final class PosixException extends IOException {
    private static final long serialVersionUID = 1;

    /** The reasons, by their POSIX names; the front ends map them to numbers. */
    public enum Reason {
        EPERM,
        ENOENT,
        EIO,
        ENXIO,
        E2BIG,
        EBADF,
        EAGAIN,
        EACCES,
        EBUSY,
        EEXIST,
        EXDEV,
        ENODEV,
        ENOTDIR,
        EISDIR,
        EINVAL,
        EFBIG,
        ENOSPC,
        EROFS,
        EMLINK,
        ENFILE,
        ERANGE,
        ENAMETOOLONG,
        ENOSYS,
        ENOTEMPTY,
        ELOOP,
        ENODATA,
        EOVERFLOW,
        EOPNOTSUPP,
        ESTALE,
        EDQUOT
    }

    private final Reason reason;

    public PosixException(Reason reason, String detail) {
        super(reason + ": " + detail);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
