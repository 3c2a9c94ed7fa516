package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.control.JobControl;
import picocli.CommandLine.Model.OptionSpec;

/** A command for jobs of the daemon that go on when it has ended; its subcommands are methods. */
abstract class JobCommand extends CommandGroup {
    private final String control;

    /** @param control name of the control command, whose argument {@code action} selects the operation */
    JobCommand(String control) {
        super(control);
        this.control = control;
    }

    /**
     * Starts a job.
     *
     * @param noun name of the job
     * @param waits whether to show its progress, and to wait for its end
     * @return its last report; empty if nobody waits, and it is said that it has begun
     */
    final Optional<Map<String, Object>> start(String noun, Map<String, ?> arguments, boolean waits)
            throws IOException, CommandFailedException, InterruptedException {
        Map<String, Object> reply = cli().ask(control, request(JobControl.START, arguments));
        boolean started = isStarted(reply);
        checkReply(reply);
        String begun = begun(noun, reply);
        if (!waits) {
            String name = cli().name();
            String command = "sdfscli " + name + " " + control;
            String paused = started && Boolean.TRUE.equals(reply.get("paused"))
                    ? "\n" + capital(noun) + "s are PAUSED; " + command + " set --paused=false continues them."
                    : "";
            print(named(reply), begun + paused + "\nWatch it: " + command + " status. Stop it: " + command + " stop");
            return Optional.empty();
        }
        if (!started) {
            cli().environment()
                    .err()
                    .println("sdfscli: " + begun + " Waiting for its end; Ctrl-C ends only the waiting.");
        } else if (Boolean.TRUE.equals(reply.get("continued")) && !cli().json) {
            cli().environment().err().println("sdfscli: " + begun);
        }
        var last = new LinkedHashMap<String, Object>();
        last.put(JobControl.STARTED, started);
        last.putAll(new JobClient(cli(), control, noun, !cli().json).follow(reply, started));
        if ("failed".equals(last.get("state"))) {
            throw new CommandFailedException("the " + noun + " failed: " + last.get("error"));
        }
        return Optional.of(last);
    }

    private static String capital(String noun) {
        return Character.toUpperCase(noun.charAt(0)) + noun.substring(1);
    }

    static boolean isStarted(Map<String, Object> reply) {
        return Boolean.TRUE.equals(reply.get(JobControl.STARTED));
    }

    static boolean isDone(Map<String, Object> report) {
        return "done".equals(report.get("state"));
    }

    /** @throws CommandFailedException if the job that runs already is not the one that was meant */
    void checkReply(Map<String, Object> reply) throws CommandFailedException {}

    /** Returns what has begun, or is running already. */
    String begun(String noun, Map<String, Object> reply) {
        return isStarted(reply)
                ? "A " + noun + " has begun; it runs in the daemon."
                : "A " + running(noun, reply) + ".";
    }

    static String running(String noun, Map<String, Object> reply) {
        return noun + " is running already, started by " + reply.get("cause") + " at " + reply.get("began");
    }

    /** Returns a report with the volume's name, and without the number that only the daemon needs. */
    @Override
    Map<String, Object> named(Map<String, ?> report) {
        Map<String, Object> named = super.named(report);
        named.remove("number");
        return named;
    }

    /**
     * Asks the daemon for a subcommand, which has no use for the options of this command.
     *
     * @throws CommandFailedException if the volume is not mounted
     */
    final Map<String, Object> askFor(String action, Map<String, ?> arguments)
            throws IOException, CommandFailedException {
        List<OptionSpec> options =
                Objects.requireNonNull(spec).commandLine().getParseResult().matchedOptions();
        for (OptionSpec option : options) {
            if (!option.longestName().equals("--json")) {
                throw usage(option.longestName() + " is an option of '" + control + "' without a command");
            }
        }
        return ask(action, arguments);
    }

    /** Changes settings, and prints what has changed. */
    final void set(Map<String, Object> changes, String example) throws IOException, CommandFailedException {
        if (changes.isEmpty()) {
            throw usage(JobControl.SET, "name a value to set, such as " + example);
        }
        Map<String, Object> reply = askFor(JobControl.SET, changes);
        print(reply, PaceOptions.changed(reply));
    }
}
