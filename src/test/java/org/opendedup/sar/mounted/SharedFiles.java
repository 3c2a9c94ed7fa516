package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.disks.Bytes;

/** A mounted volume with an SSD, and files that share the chunks promoted to it. */
final class SharedFiles {
    /** Chunks that all files share. */
    static final int SHARED = 64;

    private static final int CHUNK = 4096;
    private static final int FILES = 6;

    private SharedFiles() {}

    /** Makes a volume that promotes data written twice to its SSD. */
    static MountedVolume makeWithSsd(Path folder) throws IOException {
        Path made = Files.createDirectory(folder.resolve("with-ssd"));
        return MountedVolume.makeWith(
                made,
                "--hash-type=SHA256",
                "--sar-ssd-location=" + made.resolve("ssd"),
                "--sar-ssd-capacity=256MB",
                "--sar-policy=reference-count",
                "--sar-reference-count-threshold=2");
    }

    /** Writes the files. After each shared chunk there is a chunk of the file's own, so that no run is long. */
    static void write(MountedVolume volume) throws IOException {
        for (int file = 0; file < FILES; file++) {
            Bytes.writeAndSync(path(volume, file), content(file));
        }
    }

    static Path path(MountedVolume volume, int file) {
        return volume.mountPoint().resolve("file" + file);
    }

    /** Only the shared chunks. */
    static byte[] shared() {
        return Bytes.random(1, SHARED * CHUNK);
    }

    private static byte[] content(int file) {
        return alternating(shared(), Bytes.random(2 + file, SHARED * CHUNK));
    }

    /** A chunk of one, a chunk of the other, and so on: so no chunks are in a long run. */
    static byte[] alternating(byte[] shared, byte[] own) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (int at = 0; at < shared.length; at += CHUNK) {
            content.write(shared, at, CHUNK);
            content.write(own, at, CHUNK);
        }
        return content.toByteArray();
    }

    /** Reads the files from the volume's own store. */
    static void assertReads(MountedVolume volume) throws IOException {
        volume.dropKernelCaches();
        for (int file = 0; file < FILES; file++) {
            assertEquals(new Bytes.Comparison(2 * SHARED, 0, 0), Bytes.compare(path(volume, file), content(file)));
        }
    }
}
