package org.opendedup.sar.cluster;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.opendedup.sar.common.CorruptionException;

/**
 * A file, folder or symbolic link of an archive.
 *
 * @param path its path below what was archived, with slashes; empty for that itself
 * @param mode the lower twelve bits of its mode
 * @param uid number of its owner
 * @param gid number of its group
 * @param seconds when its bytes changed last, in seconds since 1970
 * @param nanos the rest of that time, in nanoseconds
 * @param offset where its bytes begin among those of all files of the archive
 * @param bytes its length in bytes; 0 unless it is a file
 * @param target where a link leads; empty for others
 */
public record ArchiveEntry(
        Kind kind,
        String path,
        int mode,
        int uid,
        int gid,
        long seconds,
        int nanos,
        long offset,
        long bytes,
        String target) {
    /** What an entry is. The order of the constants is that of the stored format. */
    public enum Kind {
        FILE,
        FOLDER,
        LINK
    }

    /** The kind of the record that has a {@link BlockRef} instead of an entry. */
    static final int BLOCK = Kind.values().length;

    private static final int MOST_PATH_BYTES = 1 << 16;

    /** Returns whether this is {@code folder} or lies below it; everything lies below the empty path. */
    public boolean isBelow(String folder) {
        return folder.isEmpty() || path.equals(folder) || path.startsWith(folder + "/");
    }

    /**
     * Returns the record; {@link ArchiveHeader} has its format. Of path and target, length:u32 comes before the UTF-8.
     */
    byte[] encode() {
        ByteArrayOutputStream bytesOut = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytesOut)) {
            out.writeByte(kind.ordinal());
            out.writeShort(mode);
            out.writeInt(uid);
            out.writeInt(gid);
            out.writeLong(seconds);
            out.writeInt(nanos);
            out.writeLong(offset);
            out.writeLong(bytes);
            writeText(out, path);
            writeText(out, target);
        } catch (IOException e) {
            throw new AssertionError("an array takes all bytes", e);
        }
        return bytesOut.toByteArray();
    }

    private static void writeText(DataOutputStream out, String text) throws IOException {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(encoded.length);
        out.write(encoded);
    }

    /**
     * Reads the record behind its kind.
     *
     * @throws IOException if the bytes end early, or are no record
     */
    static ArchiveEntry decode(int kind, DataInputStream in) throws IOException {
        int mode = in.readUnsignedShort();
        int uid = in.readInt();
        int gid = in.readInt();
        long seconds = in.readLong();
        int nanos = in.readInt();
        long offset = in.readLong();
        long bytes = in.readLong();
        String path = readText(in);
        String target = readText(in);
        if (kind >= BLOCK || offset < 0 || bytes < 0 || nanos < 0 || nanos > 999_999_999 || leadsOut(path)) {
            throw new CorruptionException("the list of an archive", -1, "an entry", "kind " + kind + ", path " + path);
        }
        return new ArchiveEntry(Kind.values()[kind], path, mode, uid, gid, seconds, nanos, offset, bytes, target);
    }

    /** Returns whether a path could name something outside of what is restored. */
    private static boolean leadsOut(String path) {
        return !path.isEmpty() && (path.indexOf('\0') >= 0 || ("/" + path + "/").matches("(?s).*/(\\.|\\.\\.)?/.*"));
    }

    private static String readText(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > MOST_PATH_BYTES) {
            throw new CorruptionException(
                    "the list of an archive", -1, "at most " + MOST_PATH_BYTES + " bytes of a path", length + " bytes");
        }
        byte[] encoded = new byte[length];
        in.readFully(encoded);
        return new String(encoded, StandardCharsets.UTF_8);
    }
}
