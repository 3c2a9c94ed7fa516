package org.opendedup.sar.sdfs.cli.daemon;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.volume.write.UnsavedChanges;
import org.opendedup.sar.volume.write.UnsavedChangesException;

/**
 * How a volume was closed. The daemon reports it to the waiting client, to the log and to the next mount.
 *
 * @param closing {@code closed}; if that is false {@code error}, and if something is lost {@code lost} with
 *     {@code files}, {@code bytes}, {@code otherChanges} and {@code named}
 */
public record ClosingReport(Map<String, Object> closing) {
    private static final String CLOSED = "closed";

    /** @param failure the exception that closing ended with; null if it succeeded */
    static ClosingReport of(@Nullable Exception failure) {
        var closing = new LinkedHashMap<String, Object>();
        closing.put(CLOSED, failure == null);
        if (failure instanceof UnsavedChangesException unsaved) {
            Throwable cause = unsaved.getCause() == null ? unsaved : unsaved.getCause();
            closing.put("error", Printable.line(FailureText.of(cause)));
            closing.put("lost", lost(unsaved.changes()));
        } else if (failure != null) {
            closing.put("error", Printable.line(FailureText.of(failure)));
        }
        return new ClosingReport(closing);
    }

    private static Map<String, Object> lost(UnsavedChanges changes) {
        List<Map<String, Object>> named = new ArrayList<>();
        for (UnsavedChanges.UnsavedFile file : changes.named()) {
            var one = new LinkedHashMap<String, Object>();
            one.put("path", file.path());
            one.put("bytes", file.bytes());
            named.add(one);
        }
        var lost = new LinkedHashMap<String, Object>();
        lost.put("summary", changes.summary());
        lost.put("files", changes.files());
        lost.put("bytes", changes.bytes());
        lost.put("otherChanges", changes.otherChanges());
        lost.put("named", named);
        return lost;
    }

    /**
     * Returns whether a daemon reports that it closed the volume in order. Daemons of earlier releases do not report
     * it; this counts as true.
     */
    public static boolean isClosed(Map<String, Object> closing) {
        return Boolean.TRUE.equals(closing.getOrDefault(CLOSED, true));
    }

    /** Returns what failed and what is lost. */
    public String text(String separator) {
        var parts = new ArrayList<String>();
        parts.add(String.valueOf(closing.get("error")));
        if (closing.get("lost") instanceof Map<?, ?> lost && lost.get("named") instanceof List<?> named) {
            parts.add(String.valueOf(lost.get("summary")));
            for (Object file : named) {
                if (file instanceof Map<?, ?> one) {
                    parts.add(one.get("path") + ": up to " + one.get("bytes") + " bytes");
                }
            }
            if (lost.get("files") instanceof Number files && files.longValue() > named.size()) {
                parts.add("and " + (files.longValue() - named.size()) + " more files");
            }
        }
        return String.join(separator, parts);
    }
}
