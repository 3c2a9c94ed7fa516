package org.opendedup.sar.sim.block;

/**
 * One line of an FIU trace: {@code time(ns) pid process lba size(sectors) R|W major minor digest}. The digest is one
 * MD5 of 4 KiB (web-vm, mail) or eight MD5s of 512 bytes (homes). Parsed from both ends, because the name of a process
 * may contain blanks. Allocates nothing. For one thread.
 */
final class FiuLine {
    private static final int SECTORS_PER_BLOCK = 8;
    private static final int DIGEST_DIGITS = 32;
    private static final int SECTOR_DIGESTS_DIGITS = SECTORS_PER_BLOCK * DIGEST_DIGITS;
    /** Hexadecimal digits of a {@code long}. */
    private static final int CONTENT_DIGITS = 16;

    /** First 64 bits of the MD5 of 4 KiB, and of 512 bytes, of zeros. */
    private static final long ZERO_BLOCK = 0x3df1244f6143869fL;

    private static final long ZERO_SECTOR = 0xbf619eac0cdf3f68L;
    private static final byte[] HEX = hexDigits();
    private static final long NO_NUMBER = -1;
    private static final long MAX_TENTH = Long.MAX_VALUE / 10 - 1;
    private static final long MAX_LBA = (1L << BlockRequest.DEVICE_BITS) * SECTORS_PER_BLOCK - 1;
    private static final long MAX_DEVICE_NUMBER = 0xfffff;

    long timeNanos;
    long pid;
    boolean isWrite;
    /** Number of the block on its device, in blocks of 4 KiB. */
    long block;
    /** Major and minor number. */
    long device;

    long content;

    private byte[] bytes = new byte[0];
    /** Range of the line that is not yet parsed. */
    private int start;

    private int end;

    /** Parses a line; returns false if it is not a line of a trace. */
    boolean parse(byte[] line, int from, int to) {
        bytes = line;
        start = from;
        end = to;
        trim();
        return parseEnd() && parseStart();
    }

    private void trim() {
        while (end > start && isBlank(bytes[end - 1])) {
            end--;
        }
        while (start < end && isBlank(bytes[start])) {
            start++;
        }
    }

    private static boolean isBlank(byte character) {
        return character == ' ' || character == '\t' || character == '\r';
    }

    private boolean parseEnd() {
        int digest = lastWord();
        if (!parseDigest(digest, end)) {
            return false;
        }
        cutTo(digest);
        long minor = lastNumber();
        long major = lastNumber();
        device = major << 20 | minor;
        int operation = lastWord();
        if (minor < 0 || minor > MAX_DEVICE_NUMBER || major < 0 || major > MAX_DEVICE_NUMBER || end - operation != 1) {
            return false;
        }
        isWrite = bytes[operation] == 'W';
        if (!isWrite && bytes[operation] != 'R') {
            return false;
        }
        cutTo(operation);
        long sectors = lastNumber();
        long lba = lastNumber();
        block = lba / SECTORS_PER_BLOCK;
        return sectors == SECTORS_PER_BLOCK && lba >= 0 && lba <= MAX_LBA;
    }

    private boolean parseStart() {
        timeNanos = firstNumber();
        pid = firstNumber();
        return timeNanos >= 0 && pid >= 0;
    }

    private boolean parseDigest(int from, int to) {
        if (!isHex(from, to)) {
            return false;
        }
        if (to - from == DIGEST_DIGITS) {
            long digest = hex(from);
            setContent(digest, digest == ZERO_BLOCK);
            return true;
        }
        if (to - from == SECTOR_DIGESTS_DIGITS) {
            parseSectorDigests(from);
            return true;
        }
        return false;
    }

    /** Identifies a block by the digests of its sectors, mixed in their order. */
    private void parseSectorDigests(int from) {
        boolean allZero = true;
        long mixed = 0;
        for (int i = 0; i < SECTORS_PER_BLOCK; i++) {
            long sector = hex(from + i * DIGEST_DIGITS);
            allZero &= sector == ZERO_SECTOR;
            mixed = Mixing.mix(mixed + sector);
        }
        setContent(mixed, allZero);
    }

    private void setContent(long value, boolean isZero) {
        content = isZero ? BlockRequest.ZERO_CONTENT : value == BlockRequest.ZERO_CONTENT ? 1 : value;
    }

    private boolean isHex(int from, int to) {
        int all = 0;
        for (int i = from; i < to; i++) {
            all |= HEX[bytes[i] & 0xff];
        }
        return all >= 0;
    }

    /** Returns the number that the first digits represent. */
    private long hex(int from) {
        long value = 0;
        for (int i = from; i < from + CONTENT_DIGITS; i++) {
            value = value << 4 | HEX[bytes[i] & 0xff];
        }
        return value;
    }

    /** Returns the value of each character as a digit; negative if it is not a digit. */
    private static byte[] hexDigits() {
        byte[] values = new byte[256];
        for (int character = 0; character < values.length; character++) {
            values[character] = (byte) Character.digit((char) character, 16);
        }
        return values;
    }

    /** Returns the start of the last word. */
    private int lastWord() {
        int word = end;
        while (word > start && !isBlank(bytes[word - 1])) {
            word--;
        }
        return word;
    }

    private void cutTo(int to) {
        end = to;
        while (end > start && isBlank(bytes[end - 1])) {
            end--;
        }
    }

    private long lastNumber() {
        int word = lastWord();
        long number = number(word, end);
        cutTo(word);
        return number;
    }

    private long firstNumber() {
        int word = start;
        while (start < end && !isBlank(bytes[start])) {
            start++;
        }
        long number = number(word, start);
        while (start < end && isBlank(bytes[start])) {
            start++;
        }
        return number;
    }

    private long number(int from, int to) {
        long value = 0;
        for (int i = from; i < to; i++) {
            int digit = bytes[i] - '0';
            if (digit < 0 || digit > 9 || value > MAX_TENTH) {
                return NO_NUMBER;
            }
            value = 10 * value + digit;
        }
        return from == to ? NO_NUMBER : value;
    }
}
