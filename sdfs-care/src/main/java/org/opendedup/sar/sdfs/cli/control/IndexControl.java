package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.sdfs.cli.report.IndexUseText;
import org.opendedup.sar.sdfs.cli.report.JoinText;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.join.Joins;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The daemon's side of {@code sdfscli VOLUME index}: the control command {@value #COMMAND}, whose argument
 * {@code action} selects the operation. A conversion or an exact pass goes on when the command that started it has
 * ended. Safe for use by many threads.
 */
public final class IndexControl {
    public static final String COMMAND = "index";
    public static final String STATUS = "status";
    public static final String CONVERT = "convert";
    public static final String JOIN = "join";
    public static final String STOP = "stop";

    /** Argument of {@link #CONVERT}, and in a report: the class in use. */
    public static final String CLASS = "class";

    /** In a report: the class to which the index is being converted; absent while it is not. */
    public static final String CONVERTING = "converting";

    /** In a report: why the last conversion of this mount failed; absent if it did not. */
    public static final String ERROR = "error";

    private static final Logger LOG = LoggerFactory.getLogger(IndexControl.class);

    private final Source source;
    private final Keeper keeper;
    private final Joins joins;
    // Guarded by this.
    private IndexClass kind;
    private @Nullable IndexClass converting;
    private @Nullable String error;

    /** The index of an open volume. */
    public interface Source {
        VolumeCondition condition() throws IOException;

        /** As {@link org.opendedup.sar.volume.VolumeMaintenance#exchangeIndex}. */
        CompletableFuture<Void> exchangeIndex(IndexClass kind);
    }

    /** Stores the class for the next mount. */
    @FunctionalInterface
    public interface Keeper {
        /** @throws IOException if it cannot be stored; the old one then stays stored */
        void keep(IndexClass kind) throws IOException;
    }

    /**
     * @param kind the class in use
     * @param joins the exact passes
     */
    public IndexControl(IndexClass kind, Source source, Keeper keeper, Joins joins) {
        this.kind = kind;
        this.source = source;
        this.keeper = keeper;
        this.joins = joins;
    }

    /** @throws IOException if the command fails; the message is for the client */
    public Map<String, Object> answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        String action = arguments.text("action");
        switch (action) {
            case STATUS -> arguments.end();
            case CONVERT -> {
                String label = arguments.text(CLASS);
                arguments.end();
                convert(IndexClass.of(label)
                        .orElseThrow(() -> new IOException(
                                "the index '" + label + "' is not known; this release has " + IndexClass.labels())));
            }
            case JOIN -> {
                arguments.end();
                if (joins.start(Cause.SDFSCLI).isEmpty()) {
                    throw new IOException("an exact pass is running already");
                }
            }
            case STOP -> {
                arguments.end();
                if (!joins.stop(Cause.SDFSCLI)) {
                    throw new IOException("no exact pass is running");
                }
            }
            default -> throw new IOException("the daemon knows no action '" + action + "' of " + COMMAND);
        }
        return report();
    }

    private synchronized void convert(IndexClass to) throws IOException {
        if (converting != null) {
            throw new IOException("the index is being converted to " + converting.label() + " already");
        }
        if (to == kind) {
            throw new IOException("the index is of class " + to.label() + " already");
        }
        converting = to;
        error = null;
        LOG.info("the fingerprint index is converted from {} to {}", kind.label(), to.label());
        source.exchangeIndex(to).whenComplete((nothing, failure) -> ended(to, failure));
    }

    private synchronized void ended(IndexClass to, @Nullable Throwable failure) {
        converting = null;
        if (failure != null) {
            error = reason(failure);
            return;
        }
        kind = to;
        try {
            keeper.keep(to);
            LOG.info("the fingerprint index is of class {} now", to.label());
        } catch (IOException e) {
            LOG.error("the volume file does not name the new class of the index: the next mount rebuilds the old", e);
            error = "the index was converted, but the volume file could not be changed: " + e.getMessage()
                    + "; the next mount rebuilds the old one";
        }
    }

    private static String reason(Throwable failure) {
        Throwable cause = failure instanceof CompletionException wrapped && wrapped.getCause() != null
                ? wrapped.getCause()
                : failure;
        return Objects.requireNonNullElse(cause.getMessage(), cause.toString());
    }

    /** Returns a report about an index that is neither converted nor joined. */
    public static Map<String, Object> report(IndexClass kind, VolumeCondition.Index condition) {
        var report = new LinkedHashMap<String, Object>();
        report.put(CLASS, kind.label());
        putCondition(condition, report);
        return report;
    }

    private static void putCondition(VolumeCondition.Index condition, Map<String, Object> report) {
        report.put("usable", condition.usable());
        report.put("complete", condition.complete());
        report.put("updating", condition.updating());
        report.put("examinedContainers", condition.examined());
        report.put("containers", condition.containers());
        IndexUseText.put(condition.use(), report);
    }

    private synchronized Map<String, Object> report() throws IOException {
        VolumeCondition.Index condition = source.condition().index();
        var report = new LinkedHashMap<String, Object>();
        report.put(CLASS, kind.label());
        if (converting != null) {
            report.put(CONVERTING, converting.label());
        }
        if (error != null) {
            report.put(ERROR, error);
        }
        putCondition(condition, report);
        JoinText.put(joins, report);
        return report;
    }
}
