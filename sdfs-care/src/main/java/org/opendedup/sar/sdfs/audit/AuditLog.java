package org.opendedup.sar.sdfs.audit;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.io.LogFile;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The audit log of a volume: one line of JSON for each mount, unmount, and request that changes something. The program
 * only appends; a full file is renamed, as the log is ({@link LogFile}). Only the volume's user and root can read it. A
 * power cut may lose the lines of the last seconds: a disk that hangs must not hold up an unmount. Safe for use by many
 * threads.
 *
 * <pre>
 * {"at":"2026-11-29T15:04:05Z","what":"gc","user":"root","uid":0,"loginUid":1000,"pid":4711,
 *  "program":"/usr/lib/jvm/…/java","arguments":{"action":"start"},"result":"done"}
 * </pre>
 */
public final class AuditLog implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);
    private static final long MAX_FILE_BYTES = 10 << 20;
    private static final int OLDER_FILES = 5;
    private static final String AT = "at";

    private final LogFile file;

    /** Prepares the log; opens its file with the first line. */
    public AuditLog(Path file) {
        this.file = new LogFile(file, MAX_FILE_BYTES, OLDER_FILES);
    }

    /**
     * Appends a line. A failure is logged: what was done is done.
     *
     * @param what the command, or another event
     * @param details further fields of the line
     */
    public void note(String what, Actor who, Map<String, ?> details) {
        var line = new LinkedHashMap<String, Object>();
        line.put(AT, Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        line.put("what", what);
        line.putAll(Json.values(who));
        line.putAll(details);
        try {
            file.append((Json.line(line) + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            LOG.warn("the audit log cannot be written: {}; the line is: {}", e.getMessage(), Json.line(line));
        }
    }

    /**
     * Appends the line of a request.
     *
     * @param result {@code done}, or why it was refused or failed
     */
    public void request(String command, Map<String, Object> arguments, Actor who, String result) {
        note(command, who, Map.of("arguments", arguments, "result", result));
    }

    /**
     * Returns the last lines of a log, the oldest first; none if there is no log. What is no object of JSON, as after a
     * power cut, is left out.
     *
     * @param most number of lines
     */
    public static List<Map<String, Object>> last(Path file, int most) throws IOException {
        List<Map<String, Object>> lines = new ArrayList<>();
        for (int older = 0; older <= OLDER_FILES && lines.size() < most; older++) {
            Path part = older == 0 ? file : file.resolveSibling(file.getFileName() + "." + older);
            lines.addAll(0, linesOf(part));
        }
        return lines.subList(Math.max(0, lines.size() - most), lines.size());
    }

    private static List<Map<String, Object>> linesOf(Path part) throws IOException {
        List<Map<String, Object>> lines = new ArrayList<>();
        try {
            for (String line : Files.readString(part).split("\n")) {
                try {
                    lines.add(Json.read(line));
                } catch (IOException e) {
                    LOG.debug("{} has a line that is torn", part, e);
                }
            }
        } catch (NoSuchFileException e) {
            return List.of();
        }
        return lines;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
