package org.opendedup.sar.ssd;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.TornPages;

class DamagedMapDatabaseTest extends TornPages {
    private static final int ENTRIES = 1000;

    @Override
    protected void open(Path folder) throws IOException {
        try (MapDatabase database = MapDatabase.open(folder)) {
            database.forEach(entry -> {});
        }
    }

    @Override
    protected void destroy(Path folder) throws IOException {
        MapDatabase.destroy(folder);
    }

    @Test
    void noDamageKeepsADatabaseFromBeingOpenedOrMadeAnew(@TempDir Path temporary) throws IOException {
        Path written = temporary.resolve("written");
        Path copied = temporary.resolve("copied");
        for (int life = 0; life < 2; life++) {
            try (MapDatabase database = MapDatabase.open(written)) {
                for (int i = 0; i < ENTRIES; i++) {
                    MapEntry entry = new MapEntry();
                    entry.chunkId = 1 + i + life * ENTRIES;
                    entry.segment = 1;
                    entry.offset = i * 8;
                    entry.length = 100;
                    database.put(entry);
                    if (i % 100 == 99) {
                        database.commit();
                    }
                }
                if (life == 1) {
                    TestFolders.copy(written, copied); // with a log, as after a power cut
                }
            }
        }
        tear(copied, temporary);
    }
}
