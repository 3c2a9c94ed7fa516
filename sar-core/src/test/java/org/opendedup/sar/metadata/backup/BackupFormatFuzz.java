package org.opendedup.sar.metadata.backup;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.fuzz.ParserSet;

/** The list of a backup's files. */
public final class BackupFormatFuzz {
    private static final ParserSet PARSERS = new ParserSet()
            .add("list", BackupFormatFuzz::list, golden())
            .add("list with its checksum", bytes -> BackupFormat.decode(bytes, "a list"), golden());

    private BackupFormatFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static byte[] golden() {
        BackupOrigin origin = new BackupOrigin(new Epoch(new UUID(1, 2), 3, -4), 5, 6, 7);
        return BackupFormat.encode(
                new Backup(
                        8,
                        origin,
                        List.of(
                                new BackupFile("CURRENT", 16, 0x12345678, "file-000008-CURRENT"),
                                new BackupFile(
                                        "000012.sst",
                                        4096,
                                        -1,
                                        "table-000012-4096-00112233445566778899aabbccddeeff.sst"))),
                null);
    }

    private static void list(byte[] bytes) throws IOException {
        String text = new String(bytes, US_ASCII);
        int end = text.lastIndexOf("crc ");
        byte[] body = text.substring(0, Math.max(0, end)).getBytes(US_ASCII);
        String crc = String.format(Locale.ROOT, "crc %08x\n", ParserSet.crc(body, body.length));
        Backup backup = BackupFormat.decode((new String(body, US_ASCII) + crc).getBytes(US_ASCII), "a list");
        for (BackupFile file : backup.files()) {
            // A restore copies each file to a folder by these names.
            if (file.bytes() < 0 || isElsewhere(file.name()) || isElsewhere(file.stored())) {
                throw new AssertionError("a list with " + file);
            }
        }
        Backup again = BackupFormat.decode(BackupFormat.encode(backup, null), "a list");
        if (!again.equals(backup)) {
            throw new AssertionError(backup + " becomes " + again);
        }
    }

    /** Returns whether a name could lead out of its folder. */
    private static boolean isElsewhere(String name) {
        return name.isEmpty() || name.startsWith(".") || name.contains("/");
    }
}
