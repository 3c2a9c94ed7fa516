package org.opendedup.sar.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Answer;

/**
 * An open file that outlives the interruption of a thread that uses it. The JDK closes a channel for all threads then,
 * and the threads of a client are the client's: it may interrupt them at any time. Here the file is opened again, and
 * what was being done is done once more; the thread is interrupted again afterwards. Safe for use by many threads.
 */
public final class LastingChannel implements Closeable {
    private final Path path;
    private final OpenOption[] options;
    private volatile FileChannel channel;
    private volatile boolean isClosed;

    /** @param options open the file again, which exists then */
    public LastingChannel(FileChannel channel, Path path, OpenOption... options) {
        this.channel = channel;
        this.path = path;
        this.options = options;
    }

    /** Uses a channel. May be done twice: it must not depend on the position of the channel, nor change it. */
    @FunctionalInterface
    public interface Use<T> {
        T use(FileChannel channel) throws IOException;
    }

    /** Uses the file. */
    public <T> T with(Use<T> use) throws IOException {
        return uninterrupted(() -> {
            while (true) {
                FileChannel open = channel;
                try {
                    return use.use(open);
                } catch (ClosedByInterruptException e) {
                    openAgain(open, e);
                    throw e;
                } catch (ClosedChannelException e) {
                    openAgain(open, e); // Another thread was interrupted.
                }
            }
        });
    }

    /** Makes the bytes of the file durable. */
    public void force() throws IOException {
        boolean isInterrupted = Thread.interrupted();
        try {
            isInterrupted |= force(channel);
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Forces by a channel; returns whether the thread was interrupted meanwhile. An interrupt takes the place of an
     * error of the disk, and the kernel does not tell an error that it has told before to a file that is opened later.
     * So another channel is opened before.
     */
    private boolean force(FileChannel open) throws IOException {
        try (FileChannel spare = spare()) {
            try {
                open.force(false);
                return false;
            } catch (ClosedChannelException e) {
                boolean isInterrupted = Thread.interrupted();
                openAgain(open, e);
                return force(spare == null ? channel : spare) | isInterrupted;
            }
        }
    }

    /** Returns null if the file is deleted, or too many are open: a force that nobody interrupts needs no other one. */
    private @Nullable FileChannel spare() {
        try {
            return FileChannel.open(path, options);
        } catch (IOException e) {
            return null;
        }
    }

    /** Makes a call that opens what it needs and closes it again; once more if the thread is interrupted meanwhile. */
    static <T> T uninterrupted(Answer<T> call) throws IOException {
        boolean isInterrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return call.get();
                } catch (ClosedByInterruptException e) {
                    isInterrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private synchronized void openAgain(FileChannel failed, ClosedChannelException e) throws IOException {
        if (isClosed) {
            throw e;
        }
        if (channel == failed) {
            channel = FileChannel.open(path, options);
        }
    }

    public boolean isOpen() {
        return !isClosed;
    }

    @Override
    public synchronized void close() throws IOException {
        isClosed = true;
        channel.close();
    }
}
