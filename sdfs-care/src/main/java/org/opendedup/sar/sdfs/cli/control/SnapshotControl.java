package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.report.SnapshotReport;
import org.opendedup.sar.sdfs.config.KeepRules;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.snapshot.SnapshotCare;

/**
 * The daemon's side of {@code sdfscli VOLUME snapshot}: the control command {@value #COMMAND}, whose argument
 * {@code action} selects the operation.
 */
public final class SnapshotControl {
    public static final String COMMAND = "snapshot";
    public static final String CREATE = "create";
    public static final String LIST = BackupControl.LIST;
    public static final String DELETE = "delete";
    /** What a deletion would do; changes nothing. */
    public static final String SELECT = "select";

    public static final String HOLD = "hold";
    public static final String PRUNE = "prune";
    /** Not asked of a daemon: the volume must not be mounted. */
    public static final String ROLLBACK = "rollback";

    private final SnapshotCare care;
    private final StartTimes timer;

    /** @param timer when the schedule makes snapshots */
    public SnapshotControl(SnapshotCare care, StartTimes timer) {
        this.care = care;
        this.timer = timer;
    }

    /** @throws IOException if the command fails; the message is for the client */
    public Record answer(Map<String, Object> request, ControlServer.Caller caller) throws IOException {
        var arguments = new ControlArguments(request);
        String action = arguments.text("action");
        return switch (action) {
            case CREATE -> create(arguments);
            case LIST -> {
                arguments.end();
                yield SnapshotReport.All.of(care, timer);
            }
            case DELETE -> {
                String name = arguments.text("snapshot");
                long number = arguments.number("number", SnapshotCare.ANY);
                arguments.end();
                care.delete(name, number);
                yield new SnapshotReport.Deleted(name, care.source().beingFreed());
            }
            case SELECT -> {
                List<String> names = arguments.texts("snapshots");
                boolean withSpace = arguments.number("space", 0) != 0;
                arguments.end();
                yield SnapshotReport.Deletion.of(care.select(names), care.source(), withSpace);
            }
            case HOLD -> {
                String name = arguments.text("snapshot");
                long until = arguments.number("untilMs", 0);
                arguments.end();
                yield SnapshotReport.One.of(care.hold(name, until));
            }
            case PRUNE -> prune(arguments);
            default -> throw new IOException("the daemon knows no action '" + action + "' of " + COMMAND);
        };
    }

    private Record create(ControlArguments arguments) throws IOException {
        String name = arguments.textIfAny("snapshot");
        long until = arguments.number("untilMs", 0);
        arguments.end();
        return SnapshotReport.One.of(care.create(name, until));
    }

    private Record prune(ControlArguments arguments) throws IOException {
        String rules = arguments.textIfAny("keep");
        boolean all = arguments.number("all", 0) != 0;
        boolean dryRun = arguments.number("dryRun", 0) != 0;
        arguments.end();
        KeepRules wanted = rules == null ? care.rules() : KeepRules.parse(rules);
        return SnapshotReport.Pruned.of(care.prune(wanted, all, dryRun), wanted, dryRun, care.source());
    }
}
