package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LockWatchTest {
    @TempDir
    Path folder;

    private final List<Path> gone = new ArrayList<>();

    @Test
    void aLockFileThatIsReplacedOrRemovedIsNoticed() throws IOException {
        Path lock = Files.writeString(folder.resolve("lock"), "1");
        try (LockWatch watch = new LockWatch(lock, gone::add)) {
            watch.begin();
            Files.writeString(lock, "2");
            watch.look();
            assertEquals(List.of(), gone, "the control: its content may change");
            // The old one still exists, as while its user has it open.
            Files.move(lock, folder.resolve("held"));
            watch.look();
            assertEquals(List.of(lock), gone);
            Files.writeString(lock, "3");
            watch.look();
            assertEquals(List.of(lock, lock), gone);
        }
    }

    @Test
    void withoutALockFileNothingIsWatched() throws IOException {
        try (LockWatch watch = new LockWatch(folder.resolve("lock"), gone::add)) {
            watch.begin();
            Files.writeString(folder.resolve("lock"), "1");
            watch.look();
        }
        assertEquals(List.of(), gone);
    }
}
