package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.files.FakeFileTools;

/**
 * Any user can give a file a name that looks like another line of the output, or that moves the cursor: no command
 * shows a name as it is.
 */
@Timeout(30)
class OddNamesTest {
    private static final String ODD = FakeFileTools.ODD;
    private static final String SHOWN = "a\\u000ab\\u001b[31m";

    @TempDir
    Path folder;

    @Test
    void whatIsSaidOfAFileNamesItOnOneLine() throws Exception {
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            for (List<String> command : List.of(
                    List.of("file"), List.of("defrag"), List.of("sar", "explain"), List.of("tier", "explain"))) {
                String[] words = Stream.concat(command.stream(), Stream.of(ODD)).toArray(String[]::new);
                assertEquals(0, daemon.cli(words), daemon.err());
                assertPlain(daemon.out());
            }
        }
    }

    @Test
    void whatIsRefusedIsNamedOnOneLine() throws Exception {
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            for (String[] command : List.of(
                    new String[] {"file", "no such " + ODD},
                    new String[] {"file", "/etc/" + ODD},
                    new String[] {"file", "vm/disk.img", "--" + ODD},
                    new String[] {"file", "vm/disk.img", ODD},
                    new String[] {"support-bundle", folder.resolve(ODD).toString(), "--pid=" + ODD})) {
                assertFalse(daemon.cli(command) == 0, daemon.out());
                assertPlain(daemon.err());
            }
        }
    }

    /** A pattern of the shell passes on the name of each file of a folder, and its writer chose name and content. */
    @Test
    void aNameThatBeginsWithAtNamesNoFileOfFurtherWords() throws Exception {
        Path words = Files.writeString(folder.resolve("words"), "--secret vm/disk.img");
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            for (String[] command : List.of(new String[] {"file", "@" + words}, new String[] {
                "restore", "@" + words, folder.resolve("target").toString()
            })) {
                assertFalse(daemon.cli(command) == 0, daemon.out());
                assertTrue(daemon.err().contains("@" + words), daemon.err());
                assertFalse(daemon.err().contains("secret"), daemon.err());
            }
        }
    }

    private static void assertPlain(String text) {
        assertTrue(text.contains(SHOWN), text);
        assertFalse(text.contains("a\nb"), text);
        assertFalse(text.contains("\u001b"), text);
    }
}
