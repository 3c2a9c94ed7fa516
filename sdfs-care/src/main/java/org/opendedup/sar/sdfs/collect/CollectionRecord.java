package org.opendedup.sar.sdfs.collect;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file with the latest collection that has ended: later mounts show it, and make up for one that was missed. Nothing
 * depends on it; if it cannot be written or read, only the log says so.
 *
 * @param file null to keep nothing
 */
public record CollectionRecord(@Nullable Path file) {
    public static final CollectionRecord NONE = new CollectionRecord(null);

    private static final Logger LOG = LoggerFactory.getLogger(CollectionRecord.class);
    private static final ObjectMapper MAPPER = new JsonMapper();

    /** The content of the file, as JSON; times in ISO 8601. See {@link JobStatus} and {@link Collected}. */
    private record Content(
            JobState state,
            Cause cause,
            String stage,
            long returnedBytes,
            double seconds,
            String began,
            String ended,
            @Nullable ArrangementReport arrangement,
            @Nullable CollectionReport report,
            @Nullable String failure) {}

    void keep(JobStatus<Collected> last) {
        if (file == null) {
            return;
        }
        Throwable failure = last.failure();
        Collected did = Collected.of(last);
        var content = new Content(
                last.state(),
                last.cause(),
                last.stage(),
                did.returnedBytes(),
                last.seconds(),
                last.began().toString(),
                String.valueOf(last.ended()),
                did.arrangement(),
                did.report(),
                failure == null ? null : String.valueOf(failure.getMessage()));
        try {
            PrivateFiles.write(file, MAPPER.writeValueAsBytes(content));
        } catch (IOException e) {
            LOG.warn("{} cannot be written; later mounts do not know this collection: {}", file, e.getMessage());
        }
    }

    /** Returns the collection, with number 0: no collection of this mount. Empty if none is known. */
    Optional<JobStatus<Collected>> read() {
        if (file == null) {
            return Optional.empty();
        }
        try {
            Content content = MAPPER.readValue(Files.readAllBytes(file), Content.class);
            return Optional.of(new JobStatus<>(
                    0,
                    content.state,
                    content.cause,
                    content.stage,
                    0,
                    0,
                    0,
                    content.seconds,
                    Instant.parse(content.began),
                    Instant.parse(content.ended),
                    new Collected(false, content.returnedBytes, content.arrangement, content.report),
                    content.failure == null ? null : new IOException(content.failure)));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException | RuntimeException e) {
            LOG.warn("{} cannot be read; the last collection is not known: {}", file, e.getMessage());
            return Optional.empty();
        }
    }
}
