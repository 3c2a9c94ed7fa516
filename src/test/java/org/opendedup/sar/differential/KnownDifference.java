package org.opendedup.sar.differential;

import org.opendedup.sar.differential.Answer.Key;

/**
 * What a volume does otherwise than ext4, on purpose: what is not here and differs is a defect. The reasons are in
 * docs/POSIX.md too.
 *
 * <p>Two differences would show in later calls as well. So {@code hand.py} puts ext4 into the state of the volume at
 * once:
 *
 * <ul>
 *   <li>the modification time after truncate(2) to the size there is, see {@link #SAME_SIZE};
 *   <li>the capabilities of a file that has setuid or setgid too, after chown(2) of no owner and no group by a user who
 *       may not change the mode. Both refuse it, but the kernel takes the capabilities away before it asks a FUSE
 *       service.
 * </ul>
 *
 * <p>What {@link OpLines} leaves out is said there.
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
     * truncate(2) to the size there is leaves the times alone, as on XFS: Linux asks a file system to set them only
     * where the size changes. (The modification time is made the same again by {@code hand.py}.)
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
     * An extended attribute set to the value that it has, and an access list removed that is not there: the change time
     * is set, by the kernel itself for regular files.
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
     * Of a file that is allocated, copied into, opened with O_TRUNC or written past the page cache, both the kernel and
     * the volume set the times. If the kernel sends its own in the middle of that, as sync(2) makes it, the volume's
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

    /** Whether this explains that a field is one thing on ext4 and another on the volume. */
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
