package org.opendedup.sar.sdfs.restore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.opendedup.sar.sdfs.restore.RestoredVolume.bytes;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.volume.posix.InodeState.Extended;

class EntryLogTest {
    private static final TreeEntry ENTRY = new TreeEntry(
            TreeEntry.NONE,
            bytes("name"),
            7,
            0100644,
            1,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            bytes("target"),
            List.of(new Extended(bytes("user.a"), bytes("value"))));

    @TempDir
    Path folder;

    @Test
    void anEntryIsReadAsItWasAppended() throws IOException {
        try (EntryLog log = new EntryLog(FileDirectory.open(folder))) {
            TreeEntry read = log.read(log.append(ENTRY));
            assertArrayEquals(ENTRY.name(), read.name());
            assertArrayEquals(ENTRY.target(), read.target());
            assertArrayEquals(bytes("value"), read.extendedAttributes().get(0).value());
        }
    }

    /**
     * @param at of the length of all, of name and target, of the number of attributes, of an attribute's name and value
     */
    @ParameterizedTest
    @CsvSource({"0", "72", "80", "90", "94", "104"})
    void aLengthThatCannotBeIsDamageAndNotMemory(int at) throws IOException {
        for (int length : new int[] {Integer.MAX_VALUE, Integer.MAX_VALUE / 2, 1 << 20, 120, -1, Integer.MIN_VALUE}) {
            try (EntryLog log = new EntryLog(FileDirectory.open(folder))) {
                long number = log.append(ENTRY);
                try (RandomAccessFile file =
                        new RandomAccessFile(folder.resolve("entries").toFile(), "rw")) {
                    file.seek(at);
                    file.writeInt(length);
                }
                assertThrows(CorruptionException.class, () -> log.read(number), () -> length + " at " + at);
            }
        }
    }
}
