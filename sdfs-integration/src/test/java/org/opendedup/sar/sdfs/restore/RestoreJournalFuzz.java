package org.opendedup.sar.sdfs.restore;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.fuzz.FuzzFolder;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.sdfs.restore.RestoreJournal.State;

/** The journal of a restore. */
public final class RestoreJournalFuzz {
    private static final String GOLDEN = """
            sdfs-restore 3
            volume 00000000-0000-0001-0000-000000000002
            source 2f61
            tree 00ff
            contents ff00
            root 7
            nextContainer 8
            bytes 9
            damaged 0
            lost 0
            missing 0
            onlyRootLeft true
            crc 0
            """;

    private static final ParserSet PARSERS = new ParserSet()
            .addDeclaring("journal", List.of(IOException.class), RestoreJournalFuzz::journal, GOLDEN.getBytes(UTF_8))
            .addDeclaring(
                    "journal with its checksum",
                    List.of(IOException.class),
                    RestoreJournalFuzz::sealed,
                    GOLDEN.getBytes(UTF_8));

    private RestoreJournalFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static void journal(byte[] bytes) throws IOException {
        Path file = FuzzFolder.emptied().resolve("journal");
        Files.write(file, bytes);
        RestoreJournal journal = new RestoreJournal(file, "a journal");
        State state = journal.read().orElseThrow();
        journal.write(state);
        if (!journal.read().orElseThrow().equals(state)) {
            throw new AssertionError("a journal that changes when it is written and read");
        }
    }

    private static void sealed(byte[] bytes) throws IOException {
        String text = new String(bytes, UTF_8);
        String body = text.substring(0, Math.max(0, text.lastIndexOf("crc ")));
        byte[] covered = body.getBytes(UTF_8);
        String crc = Integer.toHexString(ParserSet.crc(covered, covered.length));
        journal((body + "crc " + crc + "\n").getBytes(UTF_8));
    }
}
