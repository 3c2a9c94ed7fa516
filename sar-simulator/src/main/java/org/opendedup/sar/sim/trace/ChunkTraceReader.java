package org.opendedup.sar.sim.trace;

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZ;
import org.tukaani.xz.XZInputStream;

/**
 * Reads a chunk trace: a text file, plain or compressed with xz (detected by its first bytes, not by its name).
 *
 * <pre>
 * trace   = { version }
 * version = "# version " number LF { chunk }       numbers rise
 * chunk   = fingerprint " " length LF              fingerprint: hexadecimal, of any width; length: bytes, decimal
 * </pre>
 */
public final class ChunkTraceReader {
    private static final String VERSION = "# version ";
    /** Digits of a fingerprint that are used: 64 bits. */
    private static final int FINGERPRINT_DIGITS = 16;
    /** Memory limit of decompression, in KiB; {@code xz -9} needs 65 MiB. */
    private static final int XZ_MEMORY_KIB = 128 << 10;

    private final Path file;
    private long line;
    private int version;

    private ChunkTraceReader(Path file) {
        this.file = file;
    }

    /**
     * Reads a whole trace.
     *
     * @throws TraceFormatException if a line does not have the format, or the file ends early
     */
    public static void read(Path file, ChunkTraceVisitor visitor) throws IOException {
        new ChunkTraceReader(file).read(visitor);
    }

    private void read(ChunkTraceVisitor visitor) throws IOException {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(open(), StandardCharsets.ISO_8859_1), 1 << 16)) {
            for (String text = next(lines); text != null; text = next(lines)) {
                take(text, visitor);
            }
        }
        if (version == 0) {
            throw new TraceFormatException(file, line, "the trace has no versions");
        }
    }

    private InputStream open() throws IOException {
        InputStream bytes = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
        bytes.mark(XZ.HEADER_MAGIC.length);
        byte[] magic = bytes.readNBytes(XZ.HEADER_MAGIC.length);
        bytes.reset();
        return Arrays.equals(magic, XZ.HEADER_MAGIC) ? new XZInputStream(bytes, XZ_MEMORY_KIB) : bytes;
    }

    private @Nullable String next(BufferedReader lines) throws IOException {
        line++;
        try {
            return lines.readLine();
        } catch (IOException e) {
            String message = e.getMessage();
            throw new TraceFormatException(
                    file,
                    line,
                    "can't be read: " + (message == null ? e.getClass().getSimpleName() : message),
                    e);
        }
    }

    private void take(String text, ChunkTraceVisitor visitor) throws IOException {
        try {
            if (text.startsWith(VERSION)) {
                openVersion(Integer.parseInt(text.substring(VERSION.length())));
                visitor.version(version);
            } else {
                takeChunk(text, visitor);
            }
        } catch (IllegalArgumentException e) {
            // Also catches NumberFormatException, a subclass.
            throw new TraceFormatException(file, line, "'" + shortened(text) + "': " + e.getMessage(), e);
        }
    }

    private void openVersion(int number) {
        if (number <= version) {
            throw new IllegalArgumentException("version numbers rise, and start with 1");
        }
        version = number;
    }

    private void takeChunk(String text, ChunkTraceVisitor visitor) throws IOException {
        if (version == 0) {
            throw new IllegalArgumentException("a trace begins with '" + VERSION + "1'");
        }
        int space = text.indexOf(' ');
        if (space <= 0) {
            throw new IllegalArgumentException("a chunk is a fingerprint in hexadecimal, a space, and a length");
        }
        long fingerprint = Long.parseUnsignedLong(text, 0, Math.min(space, FINGERPRINT_DIGITS), 16);
        int bytes = Integer.parseInt(text, space + 1, text.length(), 10);
        if (bytes < 1) {
            throw new IllegalArgumentException("a chunk's length is 1 or more");
        }
        visitor.chunk(fingerprint, bytes);
    }

    private static String shortened(String text) {
        return text.length() <= 80 ? text : text.substring(0, 80) + "...";
    }
}
