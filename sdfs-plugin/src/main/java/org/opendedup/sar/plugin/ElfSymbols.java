package org.opendedup.sar.plugin;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the symbols of a native library its own. A C++ compiler marks static variables of inline functions as
 * <em>unique</em>: the dynamic linker then gives all libraries of a process the variable of the library that was loaded
 * first, also if each was loaded for itself. Two versions of RocksDB would share 170 of them, among these ids of
 * methods of the other's Java classes. This changes unique symbols of a namespace into weak ones, which are looked up
 * in the library itself. For 64-bit little-endian ELF files (Tool Interface Standard, ELF specification 1.2; gABI).
 */
final class ElfSymbols {
    private static final int MAGIC = 0x464c457f;
    private static final int CLASS_64 = 2;
    private static final int DATA_LITTLE_ENDIAN = 1;
    private static final int SECTION_TABLE_OFFSET = 0x28;
    private static final int SECTION_ENTRY_BYTES = 0x3a;
    private static final int SECTION_COUNT = 0x3c;
    private static final int DYNAMIC_SYMBOLS = 11;
    private static final int SYMBOL_BYTES = 24;
    private static final int BINDING_UNIQUE = 10;
    private static final int BINDING_WEAK = 2;

    private final ByteBuffer file;

    private ElfSymbols(byte[] library) throws IOException {
        file = ByteBuffer.wrap(library).order(ByteOrder.LITTLE_ENDIAN);
        if (library.length < 64
                || file.getInt(0) != MAGIC
                || library[4] != CLASS_64
                || library[5] != DATA_LITTLE_ENDIAN) {
            throw new IOException("a native library is not a 64-bit little-endian ELF file");
        }
    }

    /** Makes the unique symbols whose names contain {@code part} weak, in place. Returns their number. */
    static int separate(byte[] library, String part) throws IOException {
        ElfSymbols symbols = new ElfSymbols(library);
        List<Integer> unique = symbols.unique(part);
        for (int symbol : unique) {
            byte info = library[symbol + 4];
            library[symbol + 4] = (byte) (BINDING_WEAK << 4 | info & 0xf);
        }
        return unique.size();
    }

    /** Returns the number of unique symbols whose names contain {@code part}. */
    static int countUnique(byte[] library, String part) throws IOException {
        return new ElfSymbols(library).unique(part).size();
    }

    /** Returns the offsets of the symbols in the file. */
    private List<Integer> unique(String part) throws IOException {
        List<Integer> found = new ArrayList<>();
        try {
            int table = Math.toIntExact(file.getLong(SECTION_TABLE_OFFSET));
            int entryBytes = Short.toUnsignedInt(file.getShort(SECTION_ENTRY_BYTES));
            int sections = Short.toUnsignedInt(file.getShort(SECTION_COUNT));
            for (int section = 0; section < sections; section++) {
                int at = table + section * entryBytes;
                if (file.getInt(at + 4) == DYNAMIC_SYMBOLS) {
                    int names = table + file.getInt(at + 0x28) * entryBytes;
                    addUnique(at, Math.toIntExact(file.getLong(names + 0x18)), part, found);
                }
            }
        } catch (IndexOutOfBoundsException | ArithmeticException e) {
            throw new IOException("the symbols of a native library cannot be read", e);
        }
        return found;
    }

    private void addUnique(int section, int names, String part, List<Integer> found) {
        int first = Math.toIntExact(file.getLong(section + 0x18));
        int end = first + Math.toIntExact(file.getLong(section + 0x20));
        for (int symbol = first; symbol + SYMBOL_BYTES <= end; symbol += SYMBOL_BYTES) {
            if ((file.get(symbol + 4) >> 4 & 0xf) == BINDING_UNIQUE
                    && name(names + file.getInt(symbol)).contains(part)) {
                found.add(symbol);
            }
        }
    }

    private String name(int from) {
        int end = from;
        while (file.get(end) != 0) {
            end++;
        }
        return new String(file.array(), from, end - from, StandardCharsets.ISO_8859_1);
    }
}
