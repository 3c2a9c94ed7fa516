package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;

/**
 * A POSIX access control list (POSIX.1e draft 17, section 23), as the attributes {@code system.posix_acl_access} and {@code
 * system.posix_acl_default} hold it.
 *
 * <p>Format ({@code linux/posix_acl_xattr.h}), little-endian: version 2 in 4 bytes, then entries of tag 2, permissions 2, id
 * 4. The entries: the owner, users, the group, groups, a mask, others. With a user or a group there must be a mask. Those
 * for owner, group (or mask, where there is one) and others are the nine bits of a mode.
 */
final class AccessControlList {
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

    /** Never changed once it is made. */
    private final ByteBuffer bytes;

    private AccessControlList(ByteBuffer bytes) {
        this.bytes = bytes;
    }

    /** The name of the attribute that holds a file's own list. */
    static byte[] accessName() {
        return ACCESS_NAME.clone();
    }

    /** The name of the attribute that holds the list a directory gives on. */
    static byte[] defaultName() {
        return DEFAULT_NAME.clone();
    }

    static boolean isAccessName(byte[] name) {
        return Arrays.equals(name, ACCESS_NAME);
    }

    static boolean isDefaultName(byte[] name) {
        return Arrays.equals(name, DEFAULT_NAME);
    }

    /** Checks a list. EINVAL, EOPNOTSUPP for another version. */
    static AccessControlList parse(byte[] value) throws PosixException {
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

    /** The tags rise as they are numbered; only users and groups repeat, and they need a mask. */
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

    /** As the attribute holds it. */
    byte[] toBytes() {
        return bytes.array().clone();
    }

    /** Whether it says no more than a mode does, so that it need not be kept. */
    boolean isMode() {
        return bytes.capacity() == HEADER_BYTES + 3 * ENTRY_BYTES;
    }

    /** The mode with its nine permission bits replaced by what the list says. */
    int applyTo(int mode) {
        int result = mode & ~0777;
        for (int at = HEADER_BYTES; at < bytes.capacity(); at += ENTRY_BYTES) {
            int shift = modeShift(tagAt(at));
            result |= shift < 0 ? 0 : permissionsAt(at) << shift;
        }
        return result;
    }

    /** The list after chmod: the mode's nine bits stand in it. */
    AccessControlList withMode(int mode) {
        return withPermissions(mode, false);
    }

    /** What a new file gets of a directory's default list: nothing that {@code mode} does not ask for. */
    AccessControlList limitedTo(int mode) {
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

    /** Where an entry's permissions stand in a mode; -1 if they don't. */
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
