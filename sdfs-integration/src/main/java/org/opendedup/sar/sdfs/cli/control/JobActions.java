package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.ControlArguments;

/**
 * The daemon's side of a command for jobs that go on when the command that started them has ended: its argument
 * {@code action} selects the operation.
 */
abstract class JobActions {
    public static final String START = JobControl.START;
    public static final String STATUS = JobControl.STATUS;
    public static final String STOP = JobControl.STOP;
    public static final String SET = PaceControl.SET;

    /** In the reply to {@link #START}: false if another job was running; the rest of the reply is about it. */
    public static final String STARTED = "started";

    private final String command;

    JobActions(String command) {
        this.command = command;
    }

    /** @throws IOException if the command fails; the message is for the client */
    public final Map<String, Object> answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        try {
            String action = arguments.text("action");
            return switch (action) {
                case START -> start(arguments);
                case STATUS -> status(arguments);
                case STOP -> stop(arguments);
                case SET -> changed(arguments);
                default -> throw new IOException("the daemon knows no action '" + action + "' of " + command);
            };
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private Map<String, Object> changed(ControlArguments arguments) throws IOException {
        var result = new LinkedHashMap<String, Object>();
        result.put("before", settings());
        set(arguments);
        result.put("after", settings());
        return result;
    }

    abstract Map<String, Object> start(ControlArguments arguments) throws IOException;

    abstract Map<String, Object> status(ControlArguments arguments) throws IOException;

    abstract Map<String, Object> stop(ControlArguments arguments) throws IOException;

    /** Changes settings. */
    abstract void set(ControlArguments arguments) throws IOException;

    /** Returns the settings that {@link #set} changes. */
    abstract Map<String, Object> settings();
}
