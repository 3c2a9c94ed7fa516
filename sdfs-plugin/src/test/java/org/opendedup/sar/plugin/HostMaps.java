package org.opendedup.sar.plugin;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** Maps of files as SDFS 3.12 writes them, with its default sizes: pages of 256 KiB, chunks of at least 4095 bytes. */
public final class HostMaps {
    private static final int HEADER_BYTES = 256;
    private static final int PLACE_BYTES = 24;
    /** Distance of records with fingerprints of SHA-256. */
    public static final int RECORD_BYTES = recordBytes(32);

    private HostMaps() {}

    private static int recordBytes(int hashBytes) {
        return 13 + 2 * ((256 << 10) / 4095) * (hashBytes + PLACE_BYTES);
    }

    /** A chunk of a page. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Entry(byte[] hash, long location) {}

    /** Returns where the map of a file is. */
    public static Path of(Path folder, String guid) {
        return folder.resolve("ddb").resolve(guid.substring(0, 2)).resolve(guid).resolve(guid + ".map");
    }

    /** Writes one page of a file's map; makes the map if it is not there. */
    public static void write(Path folder, String guid, long page, List<Entry> entries) throws IOException {
        Path map = of(folder, guid);
        Files.createDirectories(map.getParent());
        int hashBytes = entries.isEmpty() ? 32 : entries.get(0).hash.length;
        ByteBuffer record = ByteBuffer.allocate(13 + entries.size() * (hashBytes + PLACE_BYTES));
        record.put((byte) 0).putInt(record.capacity()).putInt(entries.size());
        int at = 0;
        for (Entry entry : entries) {
            record.put(entry.hash).putLong(entry.location);
            record.putInt(4096).putInt(at).putInt(0).putInt(4096);
            at += 4096;
        }
        record.putInt(0).flip();
        try (FileChannel channel = FileChannel.open(map, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            if (channel.size() == 0) {
                channel.write(ByteBuffer.allocate(4)
                        .putShort((short) 6442)
                        .put((byte) 3)
                        .put((byte) 1)
                        .flip());
            }
            channel.write(record, HEADER_BYTES + page * recordBytes(hashBytes));
        }
    }

    public static void delete(Path folder, String guid) throws IOException {
        Files.deleteIfExists(of(folder, guid));
    }
}
