package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * Keeps a second process from serving a volume. The kernel drops the lock when its process ends, however it ends: a lock
 * file that was left behind says nothing and is used again.
 */
final class VolumeLock implements AutoCloseable {
    private final FileChannel channel;

    private VolumeLock(FileChannel channel) {
        this.channel = channel;
    }

    /** The lock, or empty if another holds it. The folder must exist. */
    static Optional<VolumeLock> tryAcquire(Path file) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            FileLock lock = channel.tryLock();
            if (lock != null) {
                return Optional.of(new VolumeLock(channel));
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
    static boolean isHeld(Path file) throws IOException {
        if (Files.notExists(file)) {
            return false;
        }
        Optional<VolumeLock> lock = tryAcquire(file);
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
