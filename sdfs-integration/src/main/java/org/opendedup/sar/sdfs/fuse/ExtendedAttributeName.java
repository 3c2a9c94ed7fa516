package org.opendedup.sar.sdfs.fuse;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.raw.Placement;

/** Checks the names of extended attributes, and selects those that a user may list (xattr(7)). */
public final class ExtendedAttributeName {
    private static final byte[] TRUSTED = bytes("trusted.");
    private static final List<byte[]> PREFIXES = List.of(bytes("user."), bytes("security."), TRUSTED);
    private static final byte[] OWN_ACCESS_LIST = bytes("system.posix_acl_access");
    private static final List<byte[]> ACCESS_LISTS = List.of(OWN_ACCESS_LIST, bytes("system.posix_acl_default"));

    private static final byte[] PLACEMENT = bytes(Placement.ATTRIBUTE);
    private static final byte[] SELINUX_LABEL = bytes("security.selinux");

    private ExtendedAttributeName() {}

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    /** @throws PosixException EOPNOTSUPP if the prefix is not supported, EINVAL if nothing follows the prefix */
    public static void check(byte[] name) throws PosixException {
        for (byte[] prefix : PREFIXES) {
            if (startsWith(name, prefix)) {
                if (name.length == prefix.length) {
                    throw new PosixException(PosixException.Reason.EINVAL, "an extended attribute without a name");
                }
                return;
            }
        }
        // The only names of the prefix "system." that are stored.
        if (isAccessList(name)) {
            return;
        }
        throw new PosixException(
                PosixException.Reason.EOPNOTSUPP, "the extended attribute " + new String(name, ISO_8859_1));
    }

    /** Returns whether the name is one of the two that hold a POSIX access control list. */
    public static boolean isAccessList(byte[] name) {
        return ACCESS_LISTS.stream().anyMatch(known -> Arrays.equals(name, known));
    }

    /** Returns whether the name holds the access list of the file itself (not the default list of a directory). */
    public static boolean isOwnAccessList(byte[] name) {
        return Arrays.equals(name, OWN_ACCESS_LIST);
    }

    /** Returns whether the value of this name pins files to the fast tier. */
    public static boolean pins(byte[] name, byte[] value) {
        return Arrays.equals(name, PLACEMENT) && Placement.of(value) == Placement.PIN;
    }

    /** Returns whether the name is that of SELinux's label. */
    public static boolean isSelinuxLabel(byte[] name) {
        return Arrays.equals(name, SELINUX_LABEL);
    }

    /** Returns the reply to listxattr(2): each name followed by a 0 byte. Lists trusted names for root only. */
    public static byte[] listFor(int uid, List<byte[]> names) {
        ByteArrayOutputStream list = new ByteArrayOutputStream();
        for (byte[] name : names) {
            if (uid == 0 || !startsWith(name, TRUSTED)) {
                list.writeBytes(name);
                list.write(0);
            }
        }
        return list.toByteArray();
    }

    private static boolean startsWith(byte[] name, byte[] prefix) {
        return name.length >= prefix.length && Arrays.equals(name, 0, prefix.length, prefix, 0, prefix.length);
    }
}
