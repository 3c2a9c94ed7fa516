package org.opendedup.sar.mounted;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.joran.spi.JoranException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.keys.Argon2Cost;
import org.opendedup.sar.sdfs.cli.CheckCommand;
import org.opendedup.sar.sdfs.cli.MkfsProgram;
import org.opendedup.sar.sdfs.cli.MountCommand;
import org.opendedup.sar.sdfs.cli.SdfsCli;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.PrintableWriter;
import org.opendedup.sar.sdfs.cli.daemon.DaemonCommand;
import org.opendedup.sar.sdfs.cli.daemon.DaemonStart;
import org.opendedup.sar.sdfs.cli.daemon.FuseMountService;
import org.opendedup.sar.sdfs.cli.daemon.VolumeDaemon;
import org.slf4j.LoggerFactory;

/**
 * Runs the project's commands in this JVM, and serves in threads of it what they mount: that takes a tenth of the
 * processor time of a JVM for each. The umask and the rest of the process are those of the tests.
 */
final class InThisJvm {
    static final List<String> COMMANDS = List.of("mkfs.sdfs", "mount.sdfs", "sdfscli", "sdfs-check");

    /** Of trying a passphrase: what suits the machine takes a second. */
    private static final Argon2Cost CHEAP = new Argon2Cost(64, 1, 1);

    private static final int END_SECONDS = 60;
    private static final int ABORT_SECONDS = 20;
    private static final String LOG_FILE = "-Dsdfs.log.file=";

    /** Begins the options for the daemon's JVM that set one of the project's system properties. */
    private static final String PROPERTY = "-Dsar.";

    private final List<Daemon> daemons = new CopyOnWriteArrayList<>();

    Commands.Result run(Map<String, String> variables, String script, List<String> options) {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        PrintWriter both = PrintableWriter.to(output);
        Environment environment =
                new Environment(variables, both, both, false, Reader.nullReader(), question -> null, () -> CHEAP);
        String[] arguments = options.toArray(String[]::new);
        int code = script.equals("mkfs.sdfs")
                ? MkfsProgram.run(environment, arguments)
                : CommandRunner.run(command(script, environment), environment, arguments);
        return new Commands.Result(code, output.toString(StandardCharsets.ISO_8859_1));
    }

    private Object command(String script, Environment environment) {
        return switch (script) {
            case "mount.sdfs" ->
                new MountCommand(environment, new FuseMountService(), DaemonCommand.class, this::start);
            case "sdfscli" -> new SdfsCli(environment);
            case "sdfs-check" -> new CheckCommand(environment);
            default -> throw new AssertionError(script + " does not run in this JVM");
        };
    }

    private Daemon start(ProcessBuilder builder, DaemonStart.Input input) throws IOException {
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        input.writeTo(read);
        Daemon daemon = new Daemon(builder, read.toString(StandardCharsets.US_ASCII));
        daemons.add(daemon);
        Thread thread = new Thread(daemon.serving, "daemon");
        thread.setDaemon(true);
        thread.start();
        return daemon;
    }

    /** Waits until the volume that was mounted last is closed. */
    void awaitEnd() throws IOException {
        Daemon last = daemons.get(daemons.size() - 1);
        if (!last.hasEndedIn(END_SECONDS)) {
            throw new AssertionError("the daemon still runs after " + END_SECONDS + " s");
        }
    }

    /**
     * Opens the switch that aborts a mount. Opened while it is mounted, it stays that of this mount; later its number
     * may be another one's.
     *
     * @param device that of the mount; may be empty
     */
    static OutputStream abortOf(String device) throws IOException {
        Path abort = Path.of("/sys/fs/fuse/connections", device.replaceFirst(".*:", ""), "abort");
        return !device.isEmpty() && Files.exists(abort)
                ? Files.newOutputStream(abort, StandardOpenOption.WRITE)
                : OutputStream.nullOutputStream();
    }

    /** Ends all daemons, even if their mounts are in use. {@code abort} aborts a mount, see {@link #abortOf}. */
    void end(OutputStream abort) throws IOException {
        for (Daemon daemon : daemons) {
            // In a thread of its own: it waits for the file system.
            new Thread(daemon::end, "end").start();
            if (!daemon.hasEndedIn(ABORT_SECONDS)) {
                abort.write('1');
                if (!daemon.hasEndedIn(END_SECONDS)) {
                    throw new AssertionError("the daemon's thread does not end");
                }
            }
        }
    }

    /** A daemon in this JVM, as the command that starts it sees it. */
    private static final class Daemon implements DaemonStart.Daemon {
        private final FutureTask<Integer> serving;
        private volatile VolumeDaemon daemon;

        /** @param input what it reads */
        Daemon(ProcessBuilder builder, String input) throws IOException {
            List<String> words = builder.command();
            List<String> options = words.subList(words.indexOf(DaemonCommand.class.getName()) + 1, words.size());
            PrintWriter console = PrintableWriter.to(
                    Files.newOutputStream(builder.redirectError().file().toPath()));
            Environment environment =
                    new Environment(builder.environment(), console, console, false, new StringReader(input));
            List<String[]> properties = words.stream()
                    .filter(word -> word.startsWith(PROPERTY))
                    .map(word -> word.substring(2).split("=", 2))
                    .toList();
            String log = words.stream()
                    .filter(word -> word.startsWith(LOG_FILE))
                    .findFirst()
                    .orElseThrow()
                    .substring(LOG_FILE.length());
            serving = new FutureTask<>(() -> {
                properties.forEach(property -> System.setProperty(property[0], property[1]));
                LoggerContext logging = logTo(log);
                try (console) {
                    return CommandRunner.run(
                            new DaemonCommand(environment, new FuseMountService(), Map.of(), found -> daemon = found),
                            environment,
                            options.toArray(String[]::new));
                } finally {
                    endLog(logging);
                    properties.forEach(property -> System.clearProperty(property[0]));
                }
            });
        }

        /** Makes the daemon's log by its own configuration. */
        private static LoggerContext logTo(String file) throws JoranException {
            LoggerContext own = new LoggerContext();
            own.putProperty("sdfs.log.file", file);
            JoranConfigurator configurator = new JoranConfigurator();
            configurator.setContext(own);
            configurator.doConfigure(InThisJvm.class.getResource("/logback-daemon.xml"));
            root(own).iteratorForAppenders().forEachRemaining(root()::addAppender);
            root().setLevel(root(own).getLevel());
            return own;
        }

        private static void endLog(LoggerContext own) {
            List<Appender<ILoggingEvent>> appenders = new CopyOnWriteArrayList<>();
            root(own).iteratorForAppenders().forEachRemaining(appenders::add);
            appenders.forEach(root()::detachAppender);
            own.stop();
            List<String> left = new CopyOnWriteArrayList<>();
            root().iteratorForAppenders().forEachRemaining(appender -> left.add(appender.getName()));
            if (!left.contains("bounded")) {
                root().setLevel(Level.toLevel(System.getProperty("sar.log"), Level.OFF));
            }
        }

        private static Logger root() {
            return root((LoggerContext) LoggerFactory.getILoggerFactory());
        }

        private static Logger root(LoggerContext context) {
            return context.getLogger(Logger.ROOT_LOGGER_NAME);
        }

        boolean hasEndedIn(int seconds) throws IOException {
            try {
                serving.get(seconds, TimeUnit.SECONDS);
                return true;
            } catch (TimeoutException e) {
                return false;
            } catch (ExecutionException e) {
                throw new IOException("the daemon failed", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while waiting for the daemon", e);
            }
        }

        @Override
        public boolean isAlive() {
            return !serving.isDone();
        }

        @Override
        public long pid() {
            return ProcessHandle.current().pid();
        }

        @Override
        public void end() {
            VolumeDaemon serves = daemon;
            if (serves != null) {
                serves.requestStop();
            }
        }
    }
}
