package org.opendedup.sar.sdfs.fuse;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Arrays;
import java.util.List;
import org.opendedup.sar.common.PosixException;

/** The names extended attributes may have, and who sees them (xattr(7)). */
public final class ExtendedAttributeName {
    private static final byte[] TRUSTED = bytes("trusted.");
    private static final List<byte[]> PREFIXES = List.of(bytes("user."), bytes("security."), TRUSTED);
    /** The only ones of the kernel's own that are kept: access control lists. */
    private static final List<byte[]> SYSTEM =
            List.of(bytes("system.posix_acl_access"), bytes("system.posix_acl_default"));

    private ExtendedAttributeName() {}

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    /** @throws PosixException EOPNOTSUPP for a name of no known kind, EINVAL for nothing but a kind */
    public static void check(byte[] name) throws PosixException {
        for (byte[] prefix : PREFIXES) {
            if (startsWith(name, prefix)) {
                if (name.length == prefix.length) {
                    throw new PosixException(PosixException.Reason.EINVAL, "an extended attribute without a name");
                }
                return;
            }
        }
        for (byte[] known : SYSTEM) {
            if (Arrays.equals(name, known)) {
                return;
            }
        }
        throw new PosixException(
                PosixException.Reason.EOPNOTSUPP, "the extended attribute " + new String(name, ISO_8859_1));
    }

    /** Whether a list of names shows this one to a user: trusted ones only to root. */
    public static boolean isShownTo(int uid, byte[] name) {
        return uid == 0 || !startsWith(name, TRUSTED);
    }

    private static boolean startsWith(byte[] name, byte[] prefix) {
        return name.length >= prefix.length && Arrays.equals(name, 0, prefix.length, prefix, 0, prefix.length);
    }
}
