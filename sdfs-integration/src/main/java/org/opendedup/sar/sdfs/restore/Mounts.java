package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which mount something open lies in, and whose that is. The server of a FUSE file system says what it likes of owners, modes and inode
 * numbers, and sees all bytes: so such a one must be root's or the user's own. An open file keeps its mount, so the number cannot come
 * to mean another one.
 */
final class Mounts {
    private static final Path TABLE = Path.of("/proc/self/mountinfo");
    private static final String ID = "mnt_id:";
    private static final String USER = "user_id=";
    /** Ends the optional fields of a line, which begin at this one; see proc(5). */
    private static final String SEPARATOR = "-";

    private static final int OPTIONAL_FIELDS_AT = 6;
    private static final int ROOT = 0;

    private Mounts() {}

    /** The number of the mount that something open lies in. */
    static long id(Handle handle) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/fdinfo/" + handle.fd()))) {
            if (line.startsWith(ID)) {
                return Long.parseLong(line.substring(ID.length()).strip());
            }
        }
        throw new IOException("the kernel does not tell which mount " + handle + " lies in");
    }

    /** @throws IOException if something open lies in the FUSE mount of a user who is neither root nor this one */
    static void checkTrusted(Handle handle, int user) throws IOException {
        checkTrusted(Files.readAllBytes(TABLE), id(handle), user, handle.toString());
    }

    /** @param table bytes, since any user may have mounted something under a name that is no text */
    static void checkTrusted(byte[] table, long id, int user, String shown) throws IOException {
        List<String> fields = fields(table, id);
        if (fields == null) {
            throw new IOException(shown + " lies in a file system that is mounted nowhere any more");
        }
        int type = fields.subList(OPTIONAL_FIELDS_AT, fields.size()).indexOf(SEPARATOR) + OPTIONAL_FIELDS_AT + 1;
        if (!fields.get(type).startsWith("fuse")) {
            return;
        }
        List<String> trusted = List.of(USER + ROOT, USER + Integer.toUnsignedString(user));
        for (String option : fields.get(type + 2).split(",")) {
            if (option.startsWith(USER) && !trusted.contains(option)) {
                throw new IOException(shown + " lies in a file system that user " + option.substring(USER.length())
                        + " has mounted; a restore does not write there");
            }
        }
    }

    private static @Nullable List<String> fields(byte[] table, long id) {
        // One character for each byte: nothing is lost, and what separates the fields is ASCII.
        for (String line : new String(table, StandardCharsets.ISO_8859_1).split("\n")) {
            if (line.startsWith(id + " ")) {
                return Arrays.asList(line.split(" "));
            }
        }
        return null;
    }
}
