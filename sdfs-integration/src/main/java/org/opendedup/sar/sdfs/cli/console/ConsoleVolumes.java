package org.opendedup.sar.sdfs.cli.console;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.VolumeStates;
import org.opendedup.sar.sdfs.cli.console.ConsoleUsers.User;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.JmxControl;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.jmx.Recent;

/** The volumes of the machine, as the console reaches them. Safe for use by many threads. */
final class ConsoleVolumes {
    /** Requests to one volume at a time: one that hangs must not hold up the others. */
    private static final int REQUESTS_MAX = 4;

    /** Each look asks all volumes, with a thread for each. */
    private static final Duration LIST_AGE_MAX = Duration.ofMillis(500);

    private final Environment environment;
    private final Recent<List<Map<String, Object>>> recent = new Recent<>(LIST_AGE_MAX, this::look);
    private final Map<String, Semaphore> free = new ConcurrentHashMap<>();

    /** Why a volume does not answer; the message is for people. */
    static final class NoAnswerException extends IOException {
        private static final long serialVersionUID = 1L;

        NoAnswerException(String message) {
            super(message);
        }
    }

    ConsoleVolumes(Environment environment) {
        this.environment = environment;
    }

    /** Returns name, state and, if it is mounted, mount point and name in JMX of each volume. */
    List<Map<String, Object>> all() {
        return recent.get();
    }

    private List<Map<String, Object>> look() throws IOException {
        List<Map<String, Object>> volumes = new ArrayList<>();
        try {
            for (VolumeStates.Known known : VolumeStates.ask(environment)) {
                var entry = new LinkedHashMap<String, Object>();
                entry.put("name", known.name());
                entry.put("bean", known.state().getOrDefault("jmxName", known.name()));
                for (String fact : List.of("state", "mountPoint")) {
                    if (known.state().containsKey(fact)) {
                        entry.put(fact, known.state().get(fact));
                    }
                }
                volumes.add(entry);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        return volumes;
    }

    /**
     * Passes a request of the Jolokia protocol on.
     *
     * @return the answer, in JSON
     * @throws NoAnswerException if there is no such volume, it is not mounted, or it does not answer
     */
    String ask(String volume, User user, String request) throws NoAnswerException {
        Semaphore turns = free.computeIfAbsent(known(volume), name -> new Semaphore(REQUESTS_MAX));
        if (!turns.tryAcquire()) {
            throw new NoAnswerException(volume + " has not answered the requests before");
        }
        try {
            return ControlSocket.ask(
                            environment.controlSocket(volume),
                            JmxControl.COMMAND,
                            Map.of(
                                    JmxControl.ROLE,
                                    user.role().toString(),
                                    JmxControl.USER,
                                    user.name(),
                                    JmxControl.REQUEST,
                                    request))
                    .map(answer -> String.valueOf(answer.get(JmxControl.ANSWER)))
                    .orElseThrow(() -> new NoAnswerException(volume + " is not mounted"));
        } catch (NoAnswerException e) {
            throw e;
        } catch (IOException e) {
            throw new NoAnswerException(FailureText.of(e));
        } finally {
            turns.release();
        }
    }

    private String known(String volume) throws NoAnswerException {
        ConfigDirectory directory = environment.configDirectory();
        try {
            if (directory.volumes().contains(volume)) {
                return volume;
            }
        } catch (IOException e) {
            throw new NoAnswerException(FailureText.of(e));
        }
        throw new NoAnswerException("there is no such volume");
    }
}
