package org.opendedup.sar.sdfs.cli.command;

import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import org.opendedup.sar.common.Printable;

/**
 * Writes to a terminal, and escapes control characters except line breaks, so that a file name cannot change what the
 * user sees. The escapes are those of JSON, so they do not change the meaning of JSON output.
 */
public final class PrintableWriter extends Writer {
    private final Writer target;

    private PrintableWriter(Writer target) {
        this.target = target;
    }

    /** Wraps a stream, such as one of the process's own. */
    public static PrintWriter to(OutputStream stream) {
        return new PrintWriter(new PrintableWriter(new OutputStreamWriter(stream, StandardCharsets.UTF_8)), true);
    }

    @Override
    public void write(char[] characters, int offset, int length) throws IOException {
        target.write(Printable.lines(new String(characters, offset, length)));
    }

    /** A name arrives as one string, so no surrogate pair is split. */
    @Override
    public void write(String text, int offset, int length) throws IOException {
        target.write(Printable.lines(text.substring(offset, offset + length)));
    }

    @Override
    public void flush() throws IOException {
        target.flush();
    }

    @Override
    public void close() throws IOException {
        target.close();
    }
}
