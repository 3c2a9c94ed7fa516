package org.opendedup.sar.sdfs.log;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** The daemon's log as its configuration makes it, beside the tests' own. */
public final class DaemonLog implements AutoCloseable {
    private final LoggerContext context = new LoggerContext();
    private final Path file;

    /** @param socket of the system's log */
    public DaemonLog(Path file, Path socket) throws Exception {
        this.file = file;
        context.setMDCAdapter(new LogbackMDCAdapter());
        context.putProperty("sdfs.log.file", file.toString());
        context.putProperty("sdfs.log.socket", socket.toString());
        var configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(Objects.requireNonNull(DaemonLog.class.getResource("/logback-daemon.xml")));
    }

    public Logger logger(String name) {
        return context.getLogger(name);
    }

    private RepeatsAppender bounded() {
        return (RepeatsAppender)
                Objects.requireNonNull(logger(org.slf4j.Logger.ROOT_LOGGER_NAME).getAppender("bounded"));
    }

    /** What happens once a minute. */
    public void endPeriod() {
        bounded().tellCounts();
    }

    /** What happens every few seconds. */
    public void tick() {
        ((LogFileAppender) Objects.requireNonNull(bounded().getAppender("file"))).tick();
    }

    public List<String> lines() throws IOException {
        return Files.exists(file) ? Files.readAllLines(file) : List.of();
    }

    @Override
    public void close() {
        context.stop();
    }
}
