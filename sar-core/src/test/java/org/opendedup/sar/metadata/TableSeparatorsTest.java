package org.opendedup.sar.metadata;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.metadata.db.TableSeparators;

/** A damaged index of a table gives fewer keys, and neither ends the salvage nor takes all memory. */
class TableSeparatorsTest {
    private static final int FOOTER_BYTES = 53;
    private static final long MAGIC = 0x88e241b785f4cff7L;
    private static final int TRAILER_BYTES = 5;

    @TempDir
    private Path folder;

    /** Appends a number as RocksDB writes it. */
    private static ByteBuffer number(ByteBuffer out, long value) {
        long left = value;
        while (left > 127) {
            out.put((byte) (left & 127 | 128));
            left >>>= 7;
        }
        return out.put((byte) left);
    }

    /** A table that consists of an index block, in which there is one entry, and a footer. */
    private List<byte[]> keys(ByteBuffer entry, long place, int type) throws IOException {
        ByteBuffer table = ByteBuffer.allocate(1000).order(ByteOrder.LITTLE_ENDIAN);
        table.put(entry.flip()).putInt(0).putInt(1);
        int blockBytes = table.position();
        table.put((byte) type).putInt(0);
        int footer = table.position();
        assertEquals(blockBytes + TRAILER_BYTES, footer);
        table.put((byte) 1);
        number(number(table, 0), 0);
        number(number(table, place), blockBytes);
        table.position(footer + FOOTER_BYTES - Long.BYTES);
        table.putLong(MAGIC).flip();
        byte[] bytes = new byte[table.remaining()];
        table.get(bytes);
        Path file = folder.resolve("table.sst");
        Files.write(file, bytes);
        return TableSeparators.of(file);
    }

    /** An entry of an index block: a key of {@code given} bytes, whose length is told as {@code rest}. */
    private static ByteBuffer entry(long shared, long rest, int given) {
        ByteBuffer entry = ByteBuffer.allocate(100);
        number(number(entry, shared), rest);
        entry.put(new byte[given]);
        return number(number(entry, 0), 0);
    }

    @Test
    void theControlAWholeTableHasItsKey() throws IOException {
        List<byte[]> keys = keys(entry(0, 3, 3), 0, 0);
        assertArrayEquals(new byte[3], keys.get(0));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "an index behind the end, 0, 3, 1048576, 0",
        "a compression that does not exist, 0, 3, 0, 9",
        "a length that is longer than the block, 0, 2147483647, 0, 0",
        "a length of more than 32 bits, 0, 8589934592, 0, 0",
        "a shared part that is longer than the key before, 2147483639, 3, 0, 0"
    })
    void aDamagedIndexGivesNoKeys(String damage, long shared, long rest, long place, int type) throws IOException {
        assertEquals(List.of(), keys(entry(shared, rest, 3), place, type), damage);
    }
}
