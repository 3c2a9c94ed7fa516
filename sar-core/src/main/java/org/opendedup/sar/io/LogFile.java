package org.opendedup.sar.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * A text file that lines are appended to, bounded in bytes. A full file is renamed to {@code FILE.1}, {@code FILE.1} to
 * {@code FILE.2} and so on, and the oldest is deleted. A failed append leaves no part of its line in the file, as far
 * as the disk still works. The next append opens the file again, because its disk may have been remounted. Thread-safe;
 * {@link #force} does not block appends.
 */
public final class LogFile implements Closeable {
    /** Bytes per write call: the JDK copies them to a buffer outside the heap, where there is room for small ones. */
    private static final int MAX_WRITE_BYTES = 8 << 10;

    private final Path path;
    private final long maxBytes;
    private final int older;

    /** The open file; null until the first append, and after a failed one. Guarded by this. */
    private @Nullable FileChannel channel;

    private long length;

    /**
     * Prepares a log file; does not open it.
     *
     * @param maxBytes bound on each file, in bytes; a single line may be longer
     * @param older number of full files to keep besides the one that is written
     */
    public LogFile(Path path, long maxBytes, int older) {
        this.path = path;
        this.maxBytes = maxBytes;
        this.older = older;
    }

    /**
     * Appends whole lines.
     *
     * @throws IOException if the lines are not in the file
     */
    public synchronized void append(byte[] lines) throws IOException {
        long before = length;
        try {
            FileChannel open = opened();
            if (length > 0 && length + lines.length > maxBytes) {
                close();
                shift();
                open = opened();
            }
            before = length;
            ByteBuffer source = ByteBuffer.wrap(lines);
            for (int end = 0; end < lines.length; ) {
                end = Math.min(lines.length, end + MAX_WRITE_BYTES);
                source.limit(end);
                while (source.hasRemaining()) {
                    length += open.write(source);
                }
            }
        } catch (IOException e) {
            takeBack(before, e);
            throw e;
        }
    }

    private FileChannel opened() throws IOException {
        FileChannel open = channel;
        if (open == null) {
            open = PrivateFiles.open(
                    path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            channel = open;
            length = open.size();
            open.position(length);
            endTornLine(open);
        }
        return open;
    }

    /** Ends a line that a crash or a failing disk cut off, so that the next line does not continue it. */
    private void endTornLine(FileChannel open) throws IOException {
        ByteBuffer last = ByteBuffer.allocate(1);
        if (length > 0 && open.read(last, length - 1) == 1 && last.get(0) != '\n') {
            length += open.write(ByteBuffer.wrap(new byte[] {'\n'}));
        }
    }

    private void shift() throws IOException {
        for (int number = older; number > 0; number--) {
            Path from = number == 1 ? path : numbered(number - 1);
            if (Files.exists(from)) {
                Files.move(from, numbered(number), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        if (older == 0) {
            Files.deleteIfExists(path);
        }
    }

    private Path numbered(int number) {
        return path.resolveSibling(path.getFileName() + "." + number);
    }

    private void takeBack(long before, IOException cause) {
        FileChannel open = channel;
        if (open == null) {
            return;
        }
        try (open) {
            if (length > before) {
                open.truncate(before);
            }
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
        channel = null;
    }

    /**
     * Makes the appended lines durable; returns when they are on the disk.
     *
     * @throws IOException if some lines may not be on the disk; the next append then opens the file again
     */
    public void force() throws IOException {
        FileChannel open;
        synchronized (this) {
            open = channel;
        }
        if (open == null) {
            return;
        }
        try {
            open.force(false);
        } catch (IOException e) {
            synchronized (this) {
                if (channel == open) {
                    close();
                }
            }
            throw e;
        }
    }

    @Override
    public synchronized void close() throws IOException {
        FileChannel open = channel;
        channel = null;
        if (open != null) {
            open.close();
        }
    }
}
