package org.opendedup.sar.metadata.db;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.io.LockFile;

class AcknowledgedSequenceTest {
    @TempDir
    Path folder;

    /** Like a program that copies the folder or opens the file. */
    @Test
    void aDatabaseStaysLockedWhenTheFileIsReadElsewhereInTheProcess() throws IOException {
        Path file = folder.resolve(AcknowledgedSequence.NAME);
        try (AcknowledgedSequence used = AcknowledgedSequence.open(folder, true)) {
            used.raise(7);
            assertTrue(LockFile.isHeld(file));
            Files.readAllBytes(file);
            assertTrue(LockFile.isHeld(file));
            IOException inUse = assertThrows(IOException.class, () -> AcknowledgedSequence.open(folder, false));
            assertTrue(inUse.getMessage().contains("is in use"), inUse.getMessage());
            assertTrue(LockFile.isHeld(file), "after another was refused");
        }
        assertFalse(LockFile.isHeld(file));
        AcknowledgedSequence.open(folder, false).close();
    }
}
