package org.opendedup.sar.volume.posix;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;

/**
 * A POSIX access control list (POSIX.1e draft 17, section 23), in the format of the attributes
 * {@code system.posix_acl_access} and {@code system.posix_acl_default}.
 *
 * <p>Format ({@code linux/posix_acl_xattr.h}), little-endian: version 2 in 4 bytes, then entries of tag (2 bytes),
 * permissions (2 bytes) and id (4 bytes). The entries: the owner, users, the group, groups, a mask, others. A list with
 * a user or a group must have a mask. The entries for owner, group (or mask, if there is one) and others correspond to
 * the nine bits of a mode.
 */
public final class AccessControlList {
    private static final byte[] ACCESS_NAME = "system.posix_acl_access".getBytes(US_ASCII);
    private static final byte[] DEFAULT_NAME = "system.posix_acl_default".getBytes(US_ASCII);

    private static final int VERSION = 2;
    private static final int HEADER_BYTES = 4;
    private static final int ENTRY_BYTES = 8;
    private static final int ALL = 7;

    private static final int OWNER = 0x01;
    private static final int USER = 0x02;
    private static final int GROUP = 0x04;
    private static final int NAMED_GROUP = 0x08;
    private static final int MASK = 0x10;
    private static final int OTHERS = 0x20;

    /** Never changed after construction. */
    private final ByteBuffer bytes;

    private AccessControlList(ByteBuffer bytes) {
        this.bytes = bytes;
    }

    /** Returns the name of the attribute that holds a file's own list. */
    public static byte[] accessName() {
        return ACCESS_NAME.clone();
    }

    /** Returns the name of the attribute that holds the list that new files inherit from a directory. */
    public static byte[] defaultName() {
        return DEFAULT_NAME.clone();
    }

    public static boolean isAccessName(byte[] name) {
        return Arrays.equals(name, ACCESS_NAME);
    }

    public static boolean isDefaultName(byte[] name) {
        return Arrays.equals(name, DEFAULT_NAME);
    }

    /** Parses and checks a list. EINVAL if it is malformed, EOPNOTSUPP for another version. */
    public static AccessControlList parse(byte[] value) throws PosixException {
        ByteBuffer bytes = ByteBuffer.wrap(value.clone()).order(ByteOrder.LITTLE_ENDIAN);
        if (value.length < HEADER_BYTES || (value.length - HEADER_BYTES) % ENTRY_BYTES != 0) {
            throw invalid("of " + value.length + " bytes");
        }
        if (bytes.getInt(0) != VERSION) {
            throw new PosixException(Reason.EOPNOTSUPP, "access control list of version " + bytes.getInt(0));
        }
        AccessControlList list = new AccessControlList(bytes);
        list.check();
        return list;
    }

    private static PosixException invalid(String what) {
        return new PosixException(Reason.EINVAL, "access control list " + what);
    }

    /**
     * Checks the entries: the tags must be in rising order. Only users and groups may repeat, and they require a mask.
     */
    private void check() throws PosixException {
        int seen = 0;
        int previous = 0;
        for (int at = HEADER_BYTES; at < bytes.capacity(); at += ENTRY_BYTES) {
            int tag = tagAt(at);
            boolean repeats = tag == previous && (tag == USER || tag == NAMED_GROUP);
            if (Integer.bitCount(tag) != 1 || tag > OTHERS || tag <= previous && !repeats) {
                throw invalid("with entry " + tag + " out of place");
            }
            if (permissionsAt(at) > ALL) {
                throw invalid("with permissions " + permissionsAt(at));
            }
            seen |= tag;
            previous = tag;
        }
        int needed = OWNER | GROUP | OTHERS | ((seen & (USER | NAMED_GROUP)) != 0 ? MASK : 0);
        if ((seen & needed) != needed) {
            throw invalid("that lacks the entry of owner, group, others or mask");
        }
    }

    private int tagAt(int entry) {
        return Short.toUnsignedInt(bytes.getShort(entry));
    }

    private int permissionsAt(int entry) {
        return Short.toUnsignedInt(bytes.getShort(entry + 2));
    }

    /** Returns the list in the format of the attribute. */
    public byte[] toBytes() {
        return bytes.array().clone();
    }

    /** Returns whether the list contains no more than a mode, so that it need not be kept. */
    public boolean isMode() {
        return bytes.capacity() == HEADER_BYTES + 3 * ENTRY_BYTES;
    }

    /** Returns the mode with its nine permission bits replaced by those of the list. */
    public int applyTo(int mode) {
        int result = mode & ~0777;
        for (int at = HEADER_BYTES; at < bytes.capacity(); at += ENTRY_BYTES) {
            int shift = modeShift(tagAt(at));
            result |= shift < 0 ? 0 : permissionsAt(at) << shift;
        }
        return result;
    }

    /** Returns the list after chmod, with the nine permission bits of the mode. */
    public AccessControlList withMode(int mode) {
        return withPermissions(mode, false);
    }

    /**
     * Returns the list that a new file inherits from a directory's default list, limited to the permissions in
     * {@code mode}.
     */
    public AccessControlList limitedTo(int mode) {
        return withPermissions(mode, true);
    }

    private AccessControlList withPermissions(int mode, boolean onlyOwn) {
        ByteBuffer changed = ByteBuffer.wrap(toBytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = HEADER_BYTES; at < bytes.capacity(); at += ENTRY_BYTES) {
            int shift = modeShift(tagAt(at));
            if (shift >= 0) {
                int allowed = onlyOwn ? permissionsAt(at) : ALL;
                changed.putShort(at + 2, (short) (mode >>> shift & allowed));
            }
        }
        return new AccessControlList(changed);
    }

    /** Returns the bit position of an entry's permissions in a mode, or -1 if they are not part of it. */
    private int modeShift(int tag) {
        return switch (tag) {
            case OWNER -> 6;
            case GROUP -> isMode() ? 3 : -1;
            case MASK -> 3;
            case OTHERS -> 0;
            default -> -1;
        };
    }
}
