package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LastingChannelTest {
    private static final byte[] BYTES = "what is written".getBytes(java.nio.charset.StandardCharsets.UTF_8);

    @TempDir
    Path folder;

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    private FileChannel open(Path file) throws IOException {
        Files.write(file, BYTES);
        return FileChannel.open(file, StandardOpenOption.READ);
    }

    @Test
    void anInterruptedThreadUsesFilesAndStaysInterrupted() throws IOException {
        Directory directory = FileDirectory.open(folder);
        Thread.currentThread().interrupt();
        Output output = directory.create("in/file");
        for (int piece = 0; piece < BYTES.length; piece++) {
            output.append(ByteBuffer.wrap(BYTES, piece, 1));
        }
        output.force();
        directory.sync();
        output.close();
        ByteBuffer read = ByteBuffer.allocate(BYTES.length);
        try (Input input = directory.open("in/file")) {
            assertEquals(BYTES.length, input.length());
            input.readFully(0, read);
        }
        AtomicFile.write(folder.resolve("whole"), BYTES);
        assertTrue(Thread.interrupted(), "the interrupt is the caller's");
        assertArrayEquals(BYTES, read.array());
        assertArrayEquals(BYTES, Files.readAllBytes(folder.resolve("whole")));
    }

    @Test
    void anInterruptInTheMiddleClosesTheFileForNobody() throws IOException {
        FileChannel first = open(folder.resolve("file"));
        try (LastingChannel channel = new LastingChannel(first, folder.resolve("file"), StandardOpenOption.READ)) {
            int[] calls = {0};
            long bytes = channel.with(open -> {
                if (calls[0]++ == 0) {
                    Thread.currentThread().interrupt();
                }
                return (long) open.read(ByteBuffer.allocate(100), 0);
            });
            assertTrue(Thread.interrupted());
            assertEquals(BYTES.length, bytes);
            assertEquals(2, calls[0]);
            assertFalse(first.isOpen(), "the control: the JDK has closed it");
            // Another thread was interrupted, and closed what this one had begun to use.
            channel.with(open -> {
                if (calls[0]++ == 2) {
                    open.close();
                }
                return open.size();
            });
            assertEquals(4, calls[0]);
        }
    }

    @Test
    void aForceIsMadeUpForWhenAnotherThreadWasInterrupted() throws IOException {
        Path file = folder.resolve("file");
        FileChannel first = open(file);
        try (LastingChannel channel = new LastingChannel(first, file, StandardOpenOption.READ)) {
            first.close();
            Thread.currentThread().interrupt();
            channel.force();
            assertTrue(Thread.interrupted());
            assertEquals(BYTES.length, channel.with(FileChannel::size));
        }
        assertThrows(ClosedChannelException.class, () -> {
            LastingChannel closed = new LastingChannel(open(file), file, StandardOpenOption.READ);
            closed.close();
            closed.force();
        });
    }

    @Test
    void controlAChannelOfTheJdkIsClosedForAll() throws IOException {
        FileChannel channel = open(folder.resolve("file"));
        Thread.currentThread().interrupt();
        assertThrows(ClosedByInterruptException.class, () -> channel.read(ByteBuffer.allocate(1), 0));
        Thread.interrupted();
        assertThrows(ClosedChannelException.class, () -> channel.read(ByteBuffer.allocate(1), 0));
    }

    @Test
    void whatItsOwnerClosesStaysClosed() throws IOException {
        Path file = folder.resolve("file");
        LastingChannel channel = new LastingChannel(open(file), file, StandardOpenOption.READ);
        channel.close();
        assertFalse(channel.isOpen());
        assertThrows(ClosedChannelException.class, () -> channel.with(FileChannel::size));
        channel.close();
    }
}
