package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Writes small files that are replaced as a whole. */
public final class AtomicFile {
    private AtomicFile() {}

    /**
     * Writes a file. After a crash, either the old or the new file is there, whole.
     *
     * @throws IOException if the file cannot be written; the old file is then unchanged
     */
    public static void write(Path file, byte[] contents) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null) {
            throw new IOException(file + " is no file name");
        }
        Path temporary = Files.createTempFile(folder, file.getFileName() + ".", ".tmp");
        try {
            LastingChannel.uninterrupted(() -> {
                try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
                    ByteBuffer buffer = ByteBuffer.wrap(contents);
                    while (buffer.hasRemaining()) {
                        channel.write(buffer);
                    }
                    channel.force(true);
                    return temporary;
                }
            });
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
        LastingChannel.uninterrupted(() -> {
            try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
                channel.force(true);
                return folder;
            }
        });
    }
}
