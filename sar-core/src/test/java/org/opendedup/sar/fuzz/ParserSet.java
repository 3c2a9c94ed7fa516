package org.opendedup.sar.fuzz;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * Several parsers as one target of a fuzzer. The first byte of an input chooses the parser, the others are what it
 * parses. A parser may return, or throw an error that it declares; any other exception goes to the fuzzer, which
 * reports it. Memory that a length field claims must not be allocated before the length is checked: an input may
 * allocate at most a fixed number of bytes and a multiple of its own length.
 */
public final class ParserSet {
    /** Bytes that any input may allocate: messages of exceptions, and buffers of a fixed size. */
    private static final long MOST_FIXED_BYTES = 24 << 20;

    /** Bytes that may be allocated for each byte of input: a tree of objects, and arrays that grow by doubling. */
    private static final long MOST_BYTES_PER_BYTE = 4096;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Parses bytes; checks what it gets, and throws an AssertionError if that is wrong. */
    @FunctionalInterface
    public interface Parser {
        void parse(byte[] bytes) throws IOException;
    }

    private record Named(String name, Parser parser, List<Class<? extends Exception>> declared, List<byte[]> seeds) {}

    private final List<Named> parsers = new ArrayList<>();

    /**
     * Adds a parser of bytes that programs of the project wrote: damage is a CorruptionException or another version.
     */
    public ParserSet add(String name, Parser parser, byte[]... seeds) {
        return addDeclaring(name, List.of(CorruptionException.class, UnsupportedFormatException.class), parser, seeds);
    }

    /** Adds a parser with the exceptions that it may throw, subclasses included. */
    public ParserSet addDeclaring(
            String name, List<Class<? extends Exception>> declared, Parser parser, byte[]... seeds) {
        parsers.add(new Named(name, parser, declared, List.of(seeds)));
        return this;
    }

    /**
     * Parses an input.
     *
     * @throws AssertionError if the parser throws what it does not declare, or allocates too much
     */
    public void parse(byte[] input) {
        if (input.length == 0) {
            return;
        }
        Named chosen = parsers.get((input[0] & 0xff) % parsers.size());
        byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
        long most = MOST_FIXED_BYTES + MOST_BYTES_PER_BYTE * bytes.length;
        // The first run may load classes, which an agent of a fuzzer changes on this thread.
        if (allocatedBy(chosen, bytes) > most) {
            long allocated = allocatedBy(chosen, bytes);
            if (allocated > most) {
                throw new AssertionError(chosen.name + ": " + bytes.length + " bytes made it allocate " + allocated);
            }
        }
    }

    /** Parses; returns the bytes that were allocated. */
    private static long allocatedBy(Named chosen, byte[] bytes) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        try {
            chosen.parser.parse(bytes.clone());
        } catch (IOException | RuntimeException e) {
            if (chosen.declared.stream().noneMatch(declared -> declared.isInstance(e))) {
                throw new AssertionError(chosen.name + ": " + e, e);
            }
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    /** Returns the seeds of all parsers, each with the byte that chooses its parser. */
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        for (int parser = 0; parser < parsers.size(); parser++) {
            for (byte[] seed : parsers.get(parser).seeds) {
                byte[] input = new byte[1 + seed.length];
                input[0] = (byte) parser;
                System.arraycopy(seed, 0, input, 1, seed.length);
                seeds.add(input);
            }
        }
        return seeds;
    }

    /** Returns the names of all parsers, in the order of the bytes that choose them. */
    List<String> names() {
        return parsers.stream().map(Named::name).toList();
    }

    public static byte[] unhex(String text) {
        return HexFormat.of().parseHex(text);
    }

    /**
     * Returns a copy whose four bytes at {@code at} are the CRC-32C of the bytes before them. A fuzzer does not guess
     * checksums: with this, it reaches what lies behind them.
     *
     * @param at where the checksum lies; a negative number counts from the end
     */
    public static byte[] withCrc(byte[] bytes, int at) {
        int place = at < 0 ? bytes.length + at : at;
        if (place < 0 || place + Integer.BYTES > bytes.length) {
            return bytes;
        }
        byte[] result = bytes.clone();
        putInt(result, place, crc(result, place));
        return result;
    }

    public static int crc(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    public static void putInt(byte[] bytes, int at, int value) {
        for (int i = 0; i < Integer.BYTES; i++) {
            bytes[at + i] = (byte) (value >>> 8 * i);
        }
    }
}
