package org.opendedup.sar.io;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Reads past the kernel's cache (O_DIRECT), to find out how a disk does: what is cached says nothing about it. */
public final class UncachedRead {
    private UncachedRead() {}

    /**
     * Reads one block of a file, and throws the bytes away. Where the file system can't do without the cache, it is read through that.
     *
     * @param offset of any byte of the block
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
