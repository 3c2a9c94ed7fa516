package org.opendedup.sar.plugin;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/** Damage of a volume that is not mounted. */
final class DamagedPacks {
    private DamagedPacks() {}

    /** Changes bytes in the middle of each pack of a data location. */
    static void make(Path data) throws IOException {
        List<Path> packs;
        try (Stream<Path> files = Files.walk(data)) {
            packs = files.filter(file -> file.toString().endsWith(".pack")).toList();
        }
        assertFalse(packs.isEmpty());
        for (Path pack : packs) {
            try (FileChannel channel = FileChannel.open(pack, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.wrap(new byte[512]), 100_000);
            }
        }
    }
}
