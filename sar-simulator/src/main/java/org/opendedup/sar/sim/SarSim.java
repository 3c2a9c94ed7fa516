package org.opendedup.sar.sim;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.io.StandardOutput;
import org.opendedup.sar.sim.device.SelfcheckCommand;
import org.opendedup.sar.sim.estimate.EstimateCommand;
import org.opendedup.sar.sim.index.ClusterCommand;
import org.opendedup.sar.sim.index.IndexCommand;
import org.opendedup.sar.sim.restore.RestoreCommand;
import org.opendedup.sar.sim.restore.SeriesCommand;
import org.opendedup.sar.sim.sar.SarCommand;
import org.opendedup.sar.sim.tddfs.TddfsCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code sar-sim}: simulates the engine's policies on traces. A new subcommand is added by an entry in
 * {@code subcommands}.
 */
@Command(
        name = "sar-sim",
        mixinStandardHelpOptions = true,
        versionProvider = SarSim.Version.class,
        sortOptions = false,
        customSynopsis = {"sar-sim COMMAND [OPTION...]", ""},
        description = {"Runs the policies of the file system on traces.", ""},
        commandListHeading = "%nCommands:%n",
        subcommands = {
            EstimateCommand.class,
            RestoreCommand.class,
            IndexCommand.class,
            ClusterCommand.class,
            SarCommand.class,
            PaperCommand.class,
            SeriesCommand.class,
            TddfsCommand.class,
            SelfcheckCommand.class
        },
        footer = {"", "Exit codes:  0 done, 1 failed, 2 wrong usage"})
public final class SarSim implements Runnable {
    private static final int FAILED = 1;
    private static final int HELP_WIDTH = 120;

    @Spec
    @Nullable
    CommandSpec spec;

    public static void main(String[] arguments) {
        System.exit(run(new CommandLine(new SarSim()), arguments));
    }

    /** As {@link #run(CommandLine, PrintWriter, PrintWriter, String...)}, with the streams of this process. */
    static int run(CommandLine program, String... arguments) {
        return run(
                program,
                new PrintWriter(StandardOutput.stream(), true, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                arguments);
    }

    /** Runs a command and returns its exit code. */
    public static int run(PrintWriter out, PrintWriter err, String... arguments) {
        return run(new CommandLine(new SarSim()), out, err, arguments);
    }

    /** Runs the whole program, or one of its commands as a program of its own, and returns the exit code. */
    static int run(CommandLine program, PrintWriter out, PrintWriter err, String... arguments) {
        String name = program.getCommandName();
        int code = program.setOut(out)
                .setErr(err)
                .setUsageHelpWidth(HELP_WIDTH)
                // A file whose name begins with @ is a file like any other.
                .setExpandAtFiles(false)
                .setParameterExceptionHandler((wrong, given) -> refuse(wrong, err))
                .setExecutionExceptionHandler((problem, command, parsed) -> report(problem, name, err))
                .execute(arguments);
        if (!out.checkError()) {
            return code;
        }
        err.println(name + ": the output could not be written; its device may be full, or its reader may have ended");
        return code == 0 ? FAILED : code;
    }

    private static int refuse(ParameterException wrong, PrintWriter err) {
        CommandLine command = wrong.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        err.println(name + ": " + Printable.line(String.valueOf(wrong.getMessage())) + " (see " + name + " --help)");
        err.flush();
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }

    /** Reports an error that the user can correct in one line; anything else is a defect and is thrown. */
    private static int report(Exception problem, String program, PrintWriter err) throws Exception {
        if (!(problem instanceof IOException failure)) {
            throw problem;
        }
        err.println(program + ": " + Printable.line(worded(failure)));
        err.flush();
        return FAILED;
    }

    /** Adds the meaning to Java's file exceptions, whose message is often only the file's name. */
    private static String worded(IOException problem) {
        String message = problem.getMessage() == null ? problem.getClass().getSimpleName() : problem.getMessage();
        if (problem instanceof NoSuchFileException) {
            return "there is no " + message;
        }
        if (problem instanceof AccessDeniedException) {
            return message + ": this user may not read or write it";
        }
        if (problem instanceof FileAlreadyExistsException) {
            return message + " exists already and is not a folder";
        }
        return problem instanceof NotDirectoryException ? message + " is not a folder" : message;
    }

    @Override
    public void run() {
        throw new ParameterException(Objects.requireNonNull(spec).commandLine(), "name a command, such as restore");
    }

    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = SarSim.class.getPackage().getImplementationVersion();
            return new String[] {"sar-sim " + (version == null ? "(not packaged)" : version)};
        }
    }
}
