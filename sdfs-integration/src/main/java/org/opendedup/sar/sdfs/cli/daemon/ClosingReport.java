package org.opendedup.sar.sdfs.cli.daemon;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.volume.write.UnsavedChanges;
import org.opendedup.sar.volume.write.UnsavedChanges.UnsavedFile;
import org.opendedup.sar.volume.write.UnsavedChangesException;

/**
 * How a volume was closed. The daemon reports it to the waiting client, to the log and to the next mount.
 *
 * @param closed whether it was closed in order
 * @param error null if it was
 * @param lost null if nothing is lost
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ClosingReport(
        boolean closed, @Nullable String error, @Nullable Lost lost) {
    /** Of a volume that was closed in order. */
    private static final ClosingReport IN_ORDER = new ClosingReport(true, null, null);

    /** See {@link UnsavedChanges}. */
    public record Lost(String summary, long files, long bytes, long otherChanges, List<UnsavedFile> named) {
        private static Lost of(UnsavedChanges changes) {
            return new Lost(
                    changes.summary(), changes.files(), changes.bytes(), changes.otherChanges(), changes.named());
        }
    }

    /** @param failure the exception that closing ended with; null if it succeeded */
    static ClosingReport of(@Nullable Exception failure) {
        if (failure == null) {
            return IN_ORDER;
        }
        Lost lost = failure instanceof UnsavedChangesException unsaved ? Lost.of(unsaved.changes()) : null;
        Throwable cause = lost == null || failure.getCause() == null ? failure : failure.getCause();
        return new ClosingReport(false, Printable.line(FailureText.of(cause)), lost);
    }

    /** Returns the part of a daemon's answer. Daemons of earlier releases do not report it: they closed in order. */
    public static ClosingReport in(Map<String, Object> state) {
        return state.containsKey("closed") ? Json.record(state, ClosingReport.class) : IN_ORDER;
    }

    /** Returns what failed and what is lost. */
    public String text(String separator) {
        var parts = new ArrayList<String>();
        parts.add(String.valueOf(error));
        if (lost != null) {
            parts.add(lost.summary);
            lost.named.forEach(file -> parts.add(file.path() + ": up to " + file.bytes() + " bytes"));
            if (lost.files > lost.named.size()) {
                parts.add("and " + (lost.files - lost.named.size()) + " more files");
            }
        }
        return String.join(separator, parts);
    }
}
