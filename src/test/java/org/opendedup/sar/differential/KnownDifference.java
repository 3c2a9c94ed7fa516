package org.opendedup.sar.differential;

import org.opendedup.sar.differential.Answer.Key;

/**
 * Intended differences of a volume from ext4; any other difference is a defect. The reasons are also in docs/POSIX.md.
 *
 * <p>Two differences would also appear in later calls. So {@code hand.py} immediately sets ext4 to the state of the
 * volume:
 *
 * <ul>
 *   <li>the modification time after truncate(2) to the present size, see {@link #SAME_SIZE};
 *   <li>the capabilities of a file that also has setuid or setgid, after chown(2) of no owner and no group by a user
 *       who may not change the mode. Both refuse it, but the kernel removes the capabilities before it asks a FUSE
 *       service.
 * </ul>
 *
 * <p>{@link OpLines} says which calls it omits.
 */
enum KnownDifference {
    /** There is no file of entries behind a directory. */
    DIRECTORY_SIZE {
        @Override
        boolean covers(Call call, Key key) {
            return key.field().equals("directory size") && !call.found(key).matches("[1-9].*");
        }
    },
    /**
     * truncate(2) to the present size does not change the times, as on XFS: Linux asks a file system to set them only
     * if the size changes. ({@code hand.py} makes the modification times equal again.)
     */
    SAME_SIZE {
        @Override
        boolean covers(Call call, Key key) {
            return call.is("truncate")
                    && key.field().equals("ctime")
                    && call.expected(key).equals("now")
                    && call.found(key).equals(Answer.AS_BEFORE)
                    && call.changes("size").isEmpty();
        }
    },
    /**
     * Setting an extended attribute to its present value, or removing a missing access list, sets the change time; for
     * regular files the kernel does this itself.
     */
    SAME_ATTRIBUTE {
        @Override
        boolean covers(Call call, Key key) {
            return (call.is("setxattr") || call.is("fsetxattr") || call.is("removexattr"))
                    && key.field().equals("ctime")
                    && call.expected(key).equals(Answer.AS_BEFORE)
                    && call.found(key).equals("now")
                    && call.succeeds();
        }
    },
    /**
     * If a file is allocated, copied into, opened with O_TRUNC or written past the page cache, both the kernel and the
     * volume set the times. If the kernel sends its own during that, for example because of sync(2), the volume's times
     * stay, which are a little later.
     */
    TIME_SET_TWICE {
        @Override
        boolean covers(Call call, Key key) {
            return call.op().equals(Trial.REMOUNT)
                    && (key.field().equals("mtime") || key.field().equals("ctime"))
                    && isLittleLater(call.expected(key), call.found(key));
        }

        private static boolean isLittleLater(String before, String after) {
            return before.matches("\\d+")
                    && after.matches("\\d+")
                    && Math.abs(Long.parseLong(after) - Long.parseLong(before)) < 1_000_000_000;
        }
    };

    /** Whether this explains the different values of a field on ext4 and on the volume. */
    abstract boolean covers(Call call, Key key);

    static boolean explains(Call call, Key key) {
        for (KnownDifference known : values()) {
            if (known.covers(call, key)) {
                return true;
            }
        }
        return false;
    }
}
