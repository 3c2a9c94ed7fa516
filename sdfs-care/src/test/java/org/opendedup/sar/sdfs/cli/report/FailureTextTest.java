package org.opendedup.sar.sdfs.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class FailureTextTest {
    @Test
    void aPathAloneIsExplained() {
        assertEquals("/x: no such file or folder", FailureText.of(new NoSuchFileException("/x")));
    }

    @Test
    void aReasonIsNotExplainedAgain() {
        assertEquals(
                "/x: is a disk not mounted?",
                FailureText.of(new NoSuchFileException("/x", null, "is a disk not mounted?")));
    }
}
