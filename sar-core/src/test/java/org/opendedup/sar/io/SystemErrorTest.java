package org.opendedup.sar.io;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.NoSpaceException;

/** A full disk is recognized by its error text, whatever the language of the process. */
final class SystemErrorTest {
    private static final String GERMAN = "Auf dem Gerät ist kein Speicherplatz mehr verfügbar";

    @Test
    void theWordsAreThoseOfTheProcessOrEnglish() {
        assertTrue(SystemError.NO_SPACE.isIn("/a/b: " + GERMAN, errno -> errno == 28 ? GERMAN : "?"));
        assertTrue(SystemError.NO_SPACE.isIn("No space left on device", errno -> GERMAN));
        assertTrue(SystemError.NO_SPACE.isIn("No space left on device", errno -> null));
        assertFalse(SystemError.QUOTA_EXCEEDED.isIn(GERMAN, errno -> errno == 28 ? GERMAN : "?"));
        assertFalse(SystemError.NO_SPACE.isIn(GERMAN, errno -> null));
        assertFalse(SystemError.NO_SPACE.isIn(null, errno -> GERMAN));
        for (SystemError error : SystemError.values()) {
            String other = error == SystemError.READ_ONLY ? "Input/output error" : "Read-only file system";
            assertFalse(error.isIn(other), error::name);
        }
        assertTrue(SystemError.isFullIn("Disk quota exceeded"));
        assertTrue(SystemError.isFull(28) && SystemError.isFull(122) && !SystemError.isFull(5));
    }

    /** The error text in the path has no effect. */
    @Test
    void thePathOfAFileDoesNotCount() {
        String path = "/no space left on device";
        assertFalse(Device.isFull(new FileSystemException(path, null, "Permission denied")));
        assertTrue(Device.isFull(new FileSystemException(path, null, "No space left on device")));
    }

    @Test
    void noAnswerIsNoDamage() {
        for (String text : List.of(
                "Too many open files",
                "Too many open files in system",
                "Cannot allocate memory",
                "Resource temporarily unavailable",
                "Interrupted system call",
                "Connection timed out",
                "Stale file handle",
                "No such device",
                "Transport endpoint is not connected")) {
            IOException one = new FileSystemException("/a/b.pack", null, text);
            assertTrue(NoAnswer.is(one), text);
            assertTrue(NoAnswer.is(new IOException("a container cannot be read", one)), text);
            assertTrue(NoAnswer.is(new IOException("/a/b.pack cannot be opened: " + text)), text);
            assertFalse(NoAnswer.is(new FileSystemException(text, null, "Input/output error")), text);
        }
        assertTrue(NoAnswer.is(new ClosedByInterruptException()));
        assertTrue(NoAnswer.is(new InterruptedIOException()));
        assertTrue(NoAnswer.is(new AccessDeniedException("/a/b.pack")));
        for (String text : List.of("Input/output error", "No data available", "Structure needs cleaning")) {
            assertFalse(NoAnswer.is(new IOException(text)), text);
        }
        assertFalse(NoAnswer.is(new NoSuchFileException("/a/b.pack")), "whoever asks looks for it again");
        assertFalse(NoAnswer.is(new EOFException("it ends at byte 1")));
    }

    /** A file that cannot be looked at is not one that is missing. */
    @Test
    void aFileThatCannotBeLookedAtIsNotMissing(@TempDir Path folder) throws IOException {
        Directory directory = FileDirectory.open(folder);
        directory.create("file").close();
        assertTrue(directory.exists("file"));
        assertFalse(directory.exists("other/file"));
        assertThrows(IOException.class, () -> directory.exists("file/below"));
    }

    @Test
    void aFullDiskIsKnownToAProcessThatSpeaksGerman() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/dev/full")), "needs /dev/full");
        ProcessBuilder child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Dstdout.encoding=UTF-8",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName())
                .redirectErrorStream(true);
        child.environment().putAll(Map.of("LC_ALL", "C.UTF-8", "LANGUAGE", "de"));
        Process process = child.start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertEquals(0, process.waitFor(), output);
        List<String> lines = output.lines().toList();
        String message = lines.get(lines.size() - 2);
        assumeFalse(message.contains("No space"), "the C library has no German here");
        assertEquals(NoSpaceException.class.getName(), lines.get(lines.size() - 1), output);
    }

    /** Writes to a full device, and prints the error text and its classification. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) throws IOException {
            Path full = Path.of("/dev/full");
            try (Output output =
                    new FileOutput(FileChannel.open(full, StandardOpenOption.WRITE), full, new TransferBuffers(1))) {
                output.append(ByteBuffer.allocate(10));
            } catch (IOException e) {
                System.out.println(e.getMessage());
                System.out.println(e.getClass().getName());
            }
        }
    }
}
