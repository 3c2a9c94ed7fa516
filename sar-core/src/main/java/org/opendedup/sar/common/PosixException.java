package org.opendedup.sar.common;

import java.io.IOException;

/**
 * A file system call was refused for a reason that has a POSIX name. Carries no stack trace: a lookup that finds
 * nothing is a normal result, and happens thousands of times a second.
 */
public final class PosixException extends IOException {
    private static final long serialVersionUID = 1;

    /** The reasons, by their POSIX names. */
    public enum Reason {
        EPERM(Errno.EPERM),
        ENOENT(Errno.ENOENT),
        EIO(Errno.EIO),
        ENXIO(Errno.ENXIO),
        E2BIG(Errno.E2BIG),
        EBADF(Errno.EBADF),
        EAGAIN(Errno.EAGAIN),
        EACCES(Errno.EACCES),
        EBUSY(Errno.EBUSY),
        EEXIST(Errno.EEXIST),
        EXDEV(Errno.EXDEV),
        ENODEV(Errno.ENODEV),
        ENOTDIR(Errno.ENOTDIR),
        EISDIR(Errno.EISDIR),
        EINVAL(Errno.EINVAL),
        EFBIG(Errno.EFBIG),
        ENOSPC(Errno.ENOSPC),
        EROFS(Errno.EROFS),
        EMLINK(Errno.EMLINK),
        ENFILE(Errno.ENFILE),
        ERANGE(Errno.ERANGE),
        ENAMETOOLONG(Errno.ENAMETOOLONG),
        ENOSYS(Errno.ENOSYS),
        ENOTEMPTY(Errno.ENOTEMPTY),
        ELOOP(Errno.ELOOP),
        ENODATA(Errno.ENODATA),
        EOVERFLOW(Errno.EOVERFLOW),
        EOPNOTSUPP(Errno.EOPNOTSUPP),
        ESTALE(Errno.ESTALE),
        EDQUOT(Errno.EDQUOT);

        private final int number;

        Reason(int number) {
            this.number = number;
        }

        /** Returns the error number of Linux. */
        public int number() {
            return number;
        }
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
