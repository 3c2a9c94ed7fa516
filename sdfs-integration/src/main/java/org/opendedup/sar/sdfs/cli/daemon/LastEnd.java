package org.opendedup.sar.sdfs.cli.daemon;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file in the run folder that exists from the mount to the end of a closing that lost nothing. From it, the next
 * mount learns how the last one ended: after a plain {@code umount}, no client waits for the daemon's answer. A mount
 * for reading leaves it as it is: what the last one left is still there.
 *
 * @param file {@link RunFiles#lastEnd()}
 */
public record LastEnd(Path file) {
    private static final Logger LOG = LoggerFactory.getLogger(LastEnd.class);

    /** In each record: the process of the daemon. */
    private static final String PID = "pid";

    /**
     * What the last daemon left.
     *
     * @param text one line
     * @param lost whether something that the volume had accepted was not written
     */
    public record Found(String text, boolean lost) {}

    /** Returns what the last daemon left; empty if it closed the volume in order. */
    public Optional<Found> found() {
        return found(record -> true);
    }

    /**
     * Returns what one daemon left that has ended; empty if it closed the volume in order, or if another one serves the
     * volume since, which has found it.
     */
    public Optional<Found> foundOf(long pid) {
        return found(record -> !record.containsKey(PID) || Json.number(record, PID) == pid);
    }

    private Optional<Found> found(Predicate<Map<String, Object>> wanted) {
        try {
            Map<String, Object> record = Json.read(Files.readString(file));
            return wanted.test(record)
                    ? Optional.of(new Found(text(record), record.containsKey("error")))
                    : Optional.empty();
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (JsonProcessingException e) {
            LOG.debug("the record of the last end is not complete", e);
            return Optional.of(new Found(
                    "how it ended last time is not recorded completely, as if a disk refused the record: data of its"
                            + " last seconds that was not synced may be missing",
                    false));
        } catch (IOException e) {
            return Optional.of(new Found("the record of its last end cannot be read: " + FailureText.of(e), false));
        }
    }

    private static String text(Map<String, Object> record) {
        if (record.containsKey("error")) {
            return "when it was closed last, at " + record.get("at") + ", not all data could be written: "
                    + ClosingReport.in(record).text("; ");
        }
        return "it was not closed in order last time, by process " + record.get(PID) + ", which mounted it at "
                + record.get("at") + ": data of its last seconds that was not synced may be missing";
    }

    /** Notes that the volume is in use. */
    void begin() {
        write(Map.of());
    }

    /** Notes how the volume was closed. */
    void end(ClosingReport closing) {
        if (closing.closed()) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                LOG.warn("{} cannot be removed; the next mount will report it: {}", file, e.getMessage());
            }
        } else {
            write(Json.values(closing));
        }
    }

    /**
     * Writes durably. If this fails, an earlier record remains, and its reader learns that the closing was not in
     * order.
     */
    private void write(Map<String, Object> what) {
        var record = new LinkedHashMap<>(what);
        record.put(PID, ProcessHandle.current().pid());
        record.put("at", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        try {
            PrivateFiles.write(file, Json.line(record).getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            LOG.warn("{} cannot be written: {}", file, e.getMessage());
        }
    }
}
