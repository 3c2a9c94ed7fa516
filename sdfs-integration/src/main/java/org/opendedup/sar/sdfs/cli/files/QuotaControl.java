package org.opendedup.sar.sdfs.cli.files;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.quota.QuotaState;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaId.Kind;
import org.opendedup.sar.metadata.record.QuotaLimits;
import org.opendedup.sar.sdfs.cli.control.ControlArguments;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;
import org.opendedup.sar.sdfs.cli.control.WorkControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.QuotaReport;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.RunningJob.Work;

/**
 * The daemon's side of {@code sdfscli VOLUME quota}. Setting limits is a job, because all that lies below a folder is
 * charged to it.
 */
public final class QuotaControl implements Closeable {
    /** Sets limits; the arguments are those of this class. */
    public static final String SET = "quota";

    /** Returns a {@link QuotaReport}. */
    public static final String REPORT = "quotas";

    /** Path of a folder. Without it there is the number of a user, group or project, under the name of its kind. */
    public static final String FOLDER = "folder";

    public static final String SOFT_BYTES = "softBytes";
    public static final String HARD_BYTES = "hardBytes";
    public static final String SOFT_FILES = "softFiles";
    public static final String HARD_FILES = "hardFiles";
    public static final String GRACE_SECONDS = "graceSeconds";

    /** In place of a number that is not given; can be none that is. */
    private static final long NONE = Long.MIN_VALUE;

    private final FileTools files;
    private final WorkControl changes;

    /** @param volume name of the volume */
    public QuotaControl(String volume, FileTools files) {
        this.files = files;
        changes = new WorkControl(SET, new AttendedJobs<>(volume, "change of a quota"), false, this::change);
    }

    /** Returns what answers the commands. */
    public Map<String, Handler> handlers() {
        return Map.of(SET, changes::answer, REPORT, (arguments, caller) -> report(new ControlArguments(arguments)));
    }

    /** Returns the changes. */
    public Jobs<?> jobs() {
        return changes.jobs();
    }

    private Map<String, Object> report(ControlArguments arguments) throws IOException {
        arguments.end();
        List<QuotaReport.Entry> entries = new ArrayList<>();
        for (QuotaState state : files.quotas().states()) {
            entries.add(entry(state));
        }
        return Json.values(new QuotaReport(entries));
    }

    private QuotaReport.Entry entry(QuotaState state) throws IOException {
        @Nullable String folder = state.folder() == 0 ? null : files.quotas().pathOf(state.folder());
        return QuotaReport.Entry.of(state, folder, System.currentTimeMillis());
    }

    private Work<Map<String, Object>> change(ControlArguments arguments) throws IOException {
        long user = number(arguments, Kind.USER);
        long group = number(arguments, Kind.GROUP);
        long project = number(arguments, Kind.PROJECT);
        String folder = arguments.textIfAny(FOLDER);
        if (folder == null && user == NONE && group == NONE && project == NONE) {
            throw new IOException("neither a user, group or project nor a folder is named");
        }
        UnaryOperator<QuotaLimits> change = limits(arguments);
        arguments.end();
        return job -> {
            QuotaState set = folder != null
                    ? files.setFolderQuota(folder, change, job)
                    : files.quotas().set(id(user, group, project), change);
            return Json.values(new QuotaReport(List.of(entry(set))));
        };
    }

    private static QuotaId id(long user, long group, long project) {
        if (user != NONE) {
            return new QuotaId(Kind.USER, (int) user);
        }
        return group != NONE ? new QuotaId(Kind.GROUP, (int) group) : new QuotaId(Kind.PROJECT, (int) project);
    }

    private static long number(ControlArguments arguments, Kind kind) throws IOException {
        long number = arguments.number(Json.word(kind), NONE);
        if (number != NONE && (number < 0 || number > 0xffff_ffffL)) {
            throw new IOException(kind.name().toLowerCase(Locale.ROOT) + " " + number + " is no number of one");
        }
        return number;
    }

    /** Returns a change of those limits that the arguments have. */
    private static UnaryOperator<QuotaLimits> limits(ControlArguments arguments) throws IOException {
        long softBytes = arguments.number(SOFT_BYTES, NONE);
        long hardBytes = arguments.number(HARD_BYTES, NONE);
        long softFiles = arguments.number(SOFT_FILES, NONE);
        long hardFiles = arguments.number(HARD_FILES, NONE);
        long grace = arguments.number(GRACE_SECONDS, NONE);
        return before -> new QuotaLimits(
                softBytes == NONE ? before.softBytes() : softBytes,
                hardBytes == NONE ? before.hardBytes() : hardBytes,
                softFiles == NONE ? before.softFiles() : softFiles,
                hardFiles == NONE ? before.hardFiles() : hardFiles,
                grace == NONE ? before.graceSeconds() : grace);
    }

    /** Stops a running change. */
    @Override
    public void close() throws IOException {
        changes.close();
    }
}
