package org.opendedup.sar.io;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Reads without the kernel's cache (O_DIRECT), to measure how well a disk works: cached data say nothing about the
 * disk.
 */
public final class UncachedRead {
    private UncachedRead() {}

    /**
     * Reads one block of a file and discards the bytes. Reads through the cache if the file system does not support
     * O_DIRECT.
     *
     * @param offset offset in the file of any byte of the block
     */
    public static void block(Path file, long offset) throws IOException {
        int blockBytes = Math.toIntExact(Files.getFileStore(file).getBlockSize());
        ByteBuffer target = ByteBuffer.allocateDirect(2 * blockBytes)
                .alignedSlice(blockBytes)
                .limit(blockBytes);
        try (FileChannel channel = open(file)) {
            channel.read(target, offset / blockBytes * blockBytes);
        }
    }

    private static FileChannel open(Path file) throws IOException {
        try {
            return FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT);
        } catch (UnsupportedOperationException e) {
            return FileChannel.open(file, StandardOpenOption.READ);
        }
    }
}
