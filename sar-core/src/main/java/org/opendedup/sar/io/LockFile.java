package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * A lock between processes, by way of a file. The kernel drops the lock when its process ends, however it ends: a lock
 * file that was left behind says nothing and is used again.
 */
public final class LockFile implements AutoCloseable {
    private final FileChannel channel;

    private LockFile(FileChannel channel) {
        this.channel = channel;
    }

    /** The lock, or empty if another holds it. The folder must exist. */
    public static Optional<LockFile> tryAcquire(Path file) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            FileLock lock = channel.tryLock();
            if (lock != null) {
                return Optional.of(new LockFile(channel));
            }
        } catch (OverlappingFileLockException e) {
            // Held in this very process. Its lock would be lost with any channel to the file (fcntl locks belong to the
            // process), so this one stays open.
            return Optional.empty();
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        channel.close();
        return Optional.empty();
    }

    /** Whether a process holds the lock. */
    public static boolean isHeld(Path file) throws IOException {
        if (Files.notExists(file)) {
            return false;
        }
        Optional<LockFile> lock = tryAcquire(file);
        if (lock.isEmpty()) {
            return true;
        }
        lock.get().close();
        return false;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
