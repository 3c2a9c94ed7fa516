package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import org.opendedup.sar.common.Printable;

/**
 * Writes to a terminal, whose user must not be shown something else than what is there: what commands it is escaped, but for line
 * breaks. The escapes are those of JSON, in which they change nothing.
 */
final class PrintableWriter extends Writer {
    private final Writer target;

    private PrintableWriter(Writer target) {
        this.target = target;
    }

    /** For one of the process's own streams. */
    static PrintWriter to(OutputStream stream) {
        return new PrintWriter(new PrintableWriter(new OutputStreamWriter(stream, StandardCharsets.UTF_8)), true);
    }

    @Override
    public void write(char[] characters, int offset, int length) throws IOException {
        target.write(Printable.lines(new String(characters, offset, length)));
    }

    /** A name comes in one piece: no pair of characters is torn. */
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
