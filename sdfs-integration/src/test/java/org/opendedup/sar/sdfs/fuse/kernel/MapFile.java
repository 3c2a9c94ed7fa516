package org.opendedup.sar.sdfs.fuse.kernel;

import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Writes {@code mapped} at byte 5000 of a file through a shared mapping, and checks that the rest reads as zeros. */
final class MapFile {
    private MapFile() {}

    public static void main(String[] arguments) throws Exception {
        try (FileChannel channel =
                FileChannel.open(Path.of(arguments[0]), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MappedByteBuffer map = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size());
            for (int i = 0; i < map.limit(); i++) {
                if (map.get(i) != 0) {
                    throw new IllegalStateException("byte " + i + " is " + map.get(i));
                }
            }
            map.put(5000, "mapped".getBytes(StandardCharsets.US_ASCII));
            map.force();
        }
    }
}
