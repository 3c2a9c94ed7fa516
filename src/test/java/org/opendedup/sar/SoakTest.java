package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.disks.Commands;

/** {@code scripts/soak}: what it would do, and a defect that it finds. */
final class SoakTest {
    private static Commands.Result soak(String... options) throws IOException {
        List<Object> command = new ArrayList<>(List.of(Commands.projectFolder().resolve("scripts/soak")));
        command.addAll(List.of(options));
        return Commands.run(command.toArray());
    }

    @Test
    void everyKindOfEntryIsListed() throws IOException {
        String list = soak("--list").output();
        assertTrue(list.contains("explore org.opendedup.sar.crash.VolumeCrashTest\n"), list);
        assertTrue(list.contains("processes org.opendedup.sar.SoakTest\n"), list);
        assertTrue(list.contains("fuzz PackFuzz\n"), list);
        assertTrue(list.contains("kill\n"), list);
        assertEquals(2, soak("--list", "--only=NoSuchThing").exitCode());
    }

    @Test
    void controlAForceThatDoesNothingIsFound() throws IOException {
        Commands.Result result = soak("--built", "--control", "--minutes=1", "--seed=1", "--only=SsdCrashTest");
        assertEquals(1, result.exitCode(), result::output);
        assertTrue(
                result.output().matches("(?s).*\nFailed: explore .*SsdCrashTest: .*: lost: .*again: scripts/test .*"),
                result::output);
    }
}
