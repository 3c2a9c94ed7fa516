package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelClockTest {
    /** Returns how many of the clock's times are later than those of files that are made afterwards, or earlier. */
    private static int disorders(InstantSource clock, Path folder) throws IOException {
        int wrong = 0;
        for (int i = 0; i < 2000; i++) {
            Instant before = clock.instant();
            Path file = Files.createDirectory(folder.resolve(clock.getClass().getSimpleName() + i));
            Instant made = Files.getLastModifiedTime(file).toInstant();
            Instant after = clock.instant();
            wrong += before.isAfter(made) || made.isAfter(after) ? 1 : 0;
        }
        return wrong;
    }

    @Test
    void itsTimesAndThoseOfTheKernelHaveOneOrder(@TempDir Path folder) throws IOException {
        assertTrue(disorders(KernelClock.machine(), folder) == 0);
        assertTrue(disorders(InstantSource.system(), folder) > 0, "the control");
    }
}
