package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.sdfs.cli.report.IndexReport;
import org.opendedup.sar.sdfs.join.Joins;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The daemon's side of {@code sdfscli VOLUME index}: the control command {@value #COMMAND}, whose argument
 * {@code action} selects the operation. {@link JoinControl} has the exact passes. Safe for use by many threads.
 */
public final class IndexControl {
    public static final String COMMAND = "index";
    public static final String STATUS = "status";
    public static final String CONVERT = "convert";

    /** Argument of {@link #CONVERT}. */
    public static final String CLASS = "class";

    private static final Logger LOG = LoggerFactory.getLogger(IndexControl.class);

    private final Source source;
    private final Keeper keeper;
    private final Joins joins;
    private final IndexClass kind;
    /** The class in the volume file. Guarded by this. */
    private IndexClass next;

    /** The index of an open volume. */
    @FunctionalInterface
    public interface Source {
        VolumeCondition condition() throws IOException;
    }

    /** Stores the class for the next mount. */
    @FunctionalInterface
    public interface Keeper {
        /** @throws IOException if it cannot be stored; the old one then stays stored */
        void keep(IndexClass kind) throws IOException;
    }

    /**
     * @param kind the class in use
     * @param joins the exact passes, which the report shows
     */
    public IndexControl(IndexClass kind, Source source, Keeper keeper, Joins joins) {
        this.kind = kind;
        next = kind;
        this.source = source;
        this.keeper = keeper;
        this.joins = joins;
    }

    /** @throws IOException if the command fails; the message is for the client */
    public IndexReport answer(Map<String, Object> request) throws IOException {
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
            default -> throw new IOException("the daemon knows no action '" + action + "' of " + COMMAND);
        }
        return report();
    }

    private synchronized void convert(IndexClass to) throws IOException {
        if (to == next) {
            throw new IOException(
                    "the index is of class " + to.label() + " already" + (to == kind ? "" : " from the next mount on"));
        }
        keeper.keep(to);
        next = to;
        LOG.info("the next mount makes a fingerprint index of class {}", to.label());
    }

    private synchronized IndexReport report() throws IOException {
        return IndexReport.of(kind, next, source.condition().index(), joins);
    }
}
