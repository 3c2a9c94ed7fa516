package org.opendedup.sar.sdfs.cli.support;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.cli.report.Json;

/**
 * A new zip file for a bug report. Only its owner may read it. Every entry passes through {@link Placeholders}. A part
 * that cannot be read becomes an entry that says why: a bundle of a broken volume is the one that is needed.
 */
final class SupportBundle implements Closeable {
    /** Longest line that is copied; the rest of a longer one is left out. */
    private static final int LINE_CHARS_MAX = 8192;

    private final ZipOutputStream zip;
    private final Placeholders names;
    private final List<String> entries = new ArrayList<>();

    /** @throws java.nio.file.FileAlreadyExistsException if there is something at that path */
    static SupportBundle create(Path file, Placeholders names) throws IOException {
        return new SupportBundle(PrivateFiles.createNew(file), names);
    }

    private SupportBundle(OutputStream file, Placeholders names) {
        zip = new ZipOutputStream(file, StandardCharsets.UTF_8);
        this.names = names;
    }

    /** Returns the names of the entries, in their order. */
    List<String> entries() {
        return List.copyOf(entries);
    }

    /** Adds a text whose names are all known ones. */
    void addText(String entry, Callable<String> text) throws IOException {
        String content;
        try {
            content = names.knownIn(text.call());
        } catch (Exception e) {
            content = names.line("not available: " + FailureText.of(e)) + "\n";
        }
        begin(entry);
        write(content);
        zip.closeEntry();
    }

    /** Adds an answer of the daemon. */
    void addJson(String entry, Callable<Map<String, Object>> answer) throws IOException {
        String content;
        try {
            content = Json.pretty(names.object(answer.call()));
        } catch (Exception e) {
            content = Json.pretty(Map.of("notAvailable", names.line(FailureText.of(e))));
        }
        begin(entry);
        write(content + "\n");
        zip.closeEntry();
    }

    /**
     * Adds a file line by line; nothing if there is no such file.
     *
     * @param filter replaces the names in a line
     */
    void addLines(String entry, Path log, UnaryOperator<String> filter) throws IOException {
        if (!Files.isRegularFile(log)) {
            return;
        }
        begin(entry);
        var decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPLACE)
                .onUnmappableCharacter(CodingErrorAction.REPLACE);
        try (var lines = new BufferedReader(new InputStreamReader(Files.newInputStream(log), decoder))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                write(filter.apply(line.length() > LINE_CHARS_MAX ? line.substring(0, LINE_CHARS_MAX) : line) + "\n");
            }
        } catch (IOException e) {
            write(names.line("not read to its end: " + FailureText.of(e)) + "\n");
        }
        zip.closeEntry();
    }

    private void begin(String entry) throws IOException {
        entries.add(entry);
        zip.putNextEntry(new ZipEntry(entry));
    }

    private void write(String text) throws IOException {
        zip.write(text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws IOException {
        zip.close();
    }
}
