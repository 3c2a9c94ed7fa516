package org.opendedup.sar.sdfs.cli.command;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.SilentDaemonException;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.report.FailureText;

/** Asks the daemons of all volumes for their state, side by side: those that hang hold up nobody else. */
public final class VolumeStates {
    /** State of a volume that no daemon serves. */
    public static final Map<String, Object> NOT_MOUNTED = Map.of("state", "not mounted");

    /** Time for all answers. A daemon has five seconds to accept a connection, and as many to answer. */
    private static final Duration LIMIT = Duration.ofSeconds(6);

    /** Volumes that are asked at once. */
    private static final int THREADS_MAX = 64;

    private VolumeStates() {}

    /**
     * What is known of a volume.
     *
     * @param name of the volume
     * @param code see {@link ExitCode}: whether the state is known
     * @param state what its daemon answers, or what stands in its place: at least {@code state}
     */
    public record Known(String name, int code, Map<String, Object> state) {}

    /** Returns what is known of each volume, in the order of their names. Takes some seconds at most. */
    public static List<Known> ask(Environment environment) throws IOException, InterruptedException {
        List<String> names = environment.configDirectory().volumes();
        List<Callable<Known>> questions = new ArrayList<>();
        names.forEach(name -> questions.add(() -> ask(environment, name)));
        ExecutorService threads = Executors.newFixedThreadPool(
                Math.max(1, Math.min(THREADS_MAX, names.size())), Threads.named("sdfs-states"));
        try {
            List<Future<Known>> answers = threads.invokeAll(questions, LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            List<Known> known = new ArrayList<>();
            for (int i = 0; i < answers.size(); i++) {
                known.add(answers.get(i).isCancelled() ? silent(names.get(i)) : answer(answers.get(i)));
            }
            return known;
        } finally {
            threads.shutdownNow();
        }
    }

    private static Known answer(Future<Known> answer) throws InterruptedException {
        try {
            return answer.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a volume was not asked", e);
        }
    }

    private static Known silent(String name) {
        return new Known(name, ExitCode.NO_ANSWER, Map.of("state", "does not answer"));
    }

    /** A volume of which nothing is known must not hide the others. */
    private static Known ask(Environment environment, String name) {
        try {
            return new Known(
                    name,
                    ExitCode.OK,
                    ControlSocket.ask(environment.controlSocket(name), VolumeCommands.PING)
                            .orElse(NOT_MOUNTED));
        } catch (SilentDaemonException e) {
            return silent(name);
        } catch (IOException e) {
            return unknown(name, FailureText.of(e));
        } catch (IllegalArgumentException e) {
            // The name of a file that is no volume's.
            return unknown(name, String.valueOf(e.getMessage()));
        }
    }

    private static Known unknown(String name, String reason) {
        return new Known(name, ExitCode.FAILED, Map.of("state", "unknown: " + reason));
    }
}
