package org.opendedup.sar.container.format;

import java.util.HexFormat;
import java.util.OptionalLong;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * The pack, a file in which containers lie one after another: its name and header, as docs/FORMAT.md specifies them.
 *
 * <pre>
 * pack   = header padding ( container padding )*
 * header = magic:u32 version:u16 zero:u16 number:u64 crc:u32
 * </pre>
 *
 * Each container begins at a multiple of {@link #ALIGNMENT} bytes. So the file system can free the blocks of one
 * container without those of its neighbours, and no write to a container changes a block of another one.
 *
 * <p>A pack's number is not less than the id of any container in it. So the highest number in a folder is a bound on
 * the container ids that were ever used there.
 */
public final class PackFormat {
    static final int VERSION = 1;

    /** Alignment of containers in a pack, in bytes: the usual block size of file systems. */
    public static final int ALIGNMENT = 4096;

    /** Offset of the first container, in bytes. */
    public static final int FIRST_CONTAINER = ALIGNMENT;

    private static final int HEADER_BYTES = 20;
    private static final String SUFFIX = ".pack";
    /** {@code SARP}, as these bytes appear in the file. */
    private static final int MAGIC = 0x50524153;

    private static final int FOLDER_BITS = 16;
    /** Length of the folder part of a name, in characters: eight digits and a slash. */
    private static final int FOLDER_LENGTH = 9;

    private static final int DIGITS = 12;

    private PackFormat() {}

    /** Returns the name of a pack's file. 65 536 consecutive numbers share a folder. */
    public static String fileName(long pack) {
        HexFormat hex = HexFormat.of();
        return hex.toHexDigits(pack >>> FOLDER_BITS, FOLDER_LENGTH - 1) + "/" + hex.toHexDigits(pack, DIGITS) + SUFFIX;
    }

    /** Returns whether this is the name of a folder of packs. */
    public static boolean isFolder(String name) {
        return name.length() == FOLDER_LENGTH - 1 && name.chars().allMatch(HexFormat::isHexDigit);
    }

    /** Returns whether this is the name of a pack's file. */
    public static boolean isPack(String fileName) {
        return numberOf(fileName).isPresent();
    }

    /** Returns the number of the pack with this file name; empty if it is not the name of a pack. */
    public static OptionalLong numberOf(String fileName) {
        if (fileName.length() != FOLDER_LENGTH + DIGITS + SUFFIX.length() || !fileName.endsWith(SUFFIX)) {
            return OptionalLong.empty();
        }
        try {
            long number = Long.parseLong(fileName, FOLDER_LENGTH, FOLDER_LENGTH + DIGITS, 16);
            boolean valid = number > 0
                    && number <= ChunkId.MAX_CONTAINER
                    && fileName(number).equals(fileName);
            return valid ? OptionalLong.of(number) : OptionalLong.empty();
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    /** Returns the least multiple of {@link #ALIGNMENT} that is not less than {@code offset}. */
    public static long align(long offset) {
        return (offset + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /** Returns the header and the padding after it: all bytes before the first container. */
    public static Bytes header(long pack) {
        Bytes out = new Bytes(FIRST_CONTAINER);
        out.putInt(MAGIC);
        out.putShort(VERSION);
        out.putShort(0);
        out.putLong(pack);
        out.putCrc(0);
        out.advance(FIRST_CONTAINER - out.length());
        return out;
    }

    /** Checks the header of a pack; {@code header} has its first {@link #FIRST_CONTAINER} bytes. */
    public static void checkHeader(byte[] header, long pack) throws CorruptionException, UnsupportedFormatException {
        String place = fileName(pack);
        if (Bytes.getInt(header, 0) != MAGIC) {
            throw new CorruptionException(
                    place, 0, "magic " + Integer.toHexString(MAGIC), Integer.toHexString(Bytes.getInt(header, 0)));
        }
        ContainerFormat.checkCrc(header, 0, HEADER_BYTES - Integer.BYTES, place, 0);
        int version = Bytes.getShort(header, 4);
        if (version != VERSION) {
            throw new UnsupportedFormatException(place, version, VERSION);
        }
        long found = Bytes.getLong(header, 8);
        if (found != pack) {
            throw new CorruptionException(place, 8, "pack number " + pack, Long.toString(found));
        }
    }
}
