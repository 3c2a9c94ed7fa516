package org.opendedup.sar.metadata.repair;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;

/**
 * The old bytes of records that a repair replaces, in files of their own. Each line of a file is a family, a key and a
 * value, the latter two as hexadecimal digits; of an encrypted volume, as they are sealed. For one thread.
 */
public final class Quarantine {
    /** Beginning of the names of the files. */
    public static final String PREFIX = "quarantine-";

    private final KeyValueStore database;
    private final Directory folder;
    private final List<String> files = new ArrayList<>();

    /** Names a record. */
    record Record(Family family, ByteBuffer key) {}

    /** @param folder where the files are made */
    Quarantine(KeyValueStore database, Directory folder) {
        this.database = database;
        this.folder = folder;
    }

    /** Returns the names of the files that were made. */
    List<String> files() {
        return List.copyOf(files);
    }

    /** Writes the present bytes of those of the records that exist to a new file, durably. */
    void keep(Collection<Record> records) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (Record record : records) {
            KeyValueStore.Stored stored =
                    database.stored(record.family(), record.key().array());
            byte[] old = stored.value();
            if (old != null) {
                lines.append(record.family().name().toLowerCase(Locale.ROOT))
                        .append(' ')
                        .append(HexFormat.of().formatHex(stored.key()))
                        .append(' ')
                        .append(HexFormat.of().formatHex(old))
                        .append('\n');
            }
        }
        if (lines.isEmpty()) {
            return;
        }
        // A file for each batch: a file that is being made durable has no earlier batch to lose.
        int number = 1;
        while (folder.exists(PREFIX + number)) {
            number++;
        }
        files.add(PREFIX + number);
        try (Output output = folder.create(PREFIX + number)) {
            output.append(ByteBuffer.wrap(lines.toString().getBytes(US_ASCII)));
            output.force();
        }
        folder.sync();
    }
}
