package org.opendedup.sar.sdfs.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.sdfs.restore.RestoreJournal.State;

class RestoreJournalTest {
    private static final State STATE = new State(
            "123e4567-e89b-12d3-a456-426614174000", "61c3a4", "00ff", "ff00", 4711, 17, 1L << 40, 2, 3, 4, false);
    /** Version 3, as docs/FORMAT.md describes it. */
    private static final String GOLDEN = """
            sdfs-restore 3
            volume 123e4567-e89b-12d3-a456-426614174000
            source 61c3a4
            tree 00ff
            contents ff00
            root 4711
            nextContainer 17
            bytes 1099511627776
            damaged 2
            lost 3
            missing 4
            onlyRootLeft false
            """;

    private static final String GOLDEN_CRC = "902c237d";

    @TempDir
    Path folder;

    private Path file;
    private RestoreJournal journal;

    @BeforeEach
    void open() {
        file = folder.resolve("journal");
        journal = new RestoreJournal(file, file.toString());
    }

    @Test
    void theFormatStaysAsItIs() throws IOException {
        journal.write(STATE);
        assertEquals(GOLDEN + "crc " + GOLDEN_CRC + "\n", Files.readString(file));
        assertEquals(Optional.of(STATE), journal.read());
    }

    @Test
    void noJournalIsNone() throws IOException {
        assertEquals(Optional.empty(), journal.read());
    }

    @Test
    void anyOtherByteIsRefused() throws IOException {
        journal.write(STATE);
        String text = Files.readString(file);
        for (int i = 0; i < text.length(); i++) {
            Files.writeString(file, text.substring(0, i) + (char) (text.charAt(i) ^ 1) + text.substring(i + 1));
            assertThrows(IOException.class, journal::read);
            Files.writeString(file, text.substring(0, i));
            assertThrows(IOException.class, journal::read);
        }
    }

    @Test
    void damageIsNamed() throws IOException {
        journal.write(STATE);
        Files.writeString(file, Files.readString(file).replace("bytes 1", "bytes 2"));
        assertThrows(CorruptionException.class, journal::read);
    }

    @Test
    void anotherVersionIsNamed() throws IOException {
        Files.writeString(file, "sdfs-restore 2\nanything\n");
        var e = assertThrows(IOException.class, journal::read);
        assertTrue(e.getMessage().contains("another version"), e.getMessage());
    }

    @Test
    void aFileThatIsTooLongForAJournalIsNotTakenIntoMemory() throws IOException {
        journal.write(STATE);
        try (RandomAccessFile grown = new RandomAccessFile(file.toFile(), "rw")) {
            grown.setLength(3L << 30);
        }
        assertThrows(CorruptionException.class, journal::read);
    }

    @Test
    void theLongestSourceIsReadAgain() throws IOException {
        State state = State.begin("a", "ä".repeat(32 << 10));
        journal.write(state);
        assertEquals(Optional.of(state), journal.read());
    }

    @Test
    void aSourceIsTheSameOnlyInTheSameVolume() {
        State begun = State.begin("a", "path/ä");
        assertTrue(begun.isOfSame(State.begin("a", "path/ä")));
        assertFalse(begun.isOfSame(State.begin("b", "path/ä")));
        assertFalse(begun.isOfSame(State.begin("a", "path")));
    }
}
