package org.opendedup.sar.plugin;

import java.lang.reflect.Method;
import java.util.logging.ErrorManager;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.jspecify.annotations.Nullable;

/**
 * Sends the log lines of the plugin and its engine to the log of SDFS, where an administrator looks for them. They
 * reach java.util.logging first, which both sides of {@link EngineLoader} have in common. SDFS's logger is found by
 * name, because its types are not compiled against; in a process without it, lines stay where java.util.logging writes
 * them.
 */
final class HostLog extends Handler {
    /**
     * The parent of all loggers of the plugin and its engine. Held, because the JDK forgets a logger that nobody holds.
     */
    private static final Logger PARENT = Logger.getLogger("org.opendedup.sar");

    private static final String HOSTS_LOGGER = "org.opendedup.logging.SDFSLogger";

    private final Formatter text = new SimpleFormatter();
    private final Object log;
    private final Method error;
    private final Method warn;
    private final Method info;
    private final Method debug;

    private HostLog(ClassLoader host) throws ReflectiveOperationException {
        Method getLog = Class.forName(HOSTS_LOGGER, true, host).getMethod("getLog");
        log = getLog.invoke(null);
        error = method(getLog.getReturnType(), "error");
        warn = method(getLog.getReturnType(), "warn");
        info = method(getLog.getReturnType(), "info");
        debug = method(getLog.getReturnType(), "debug");
    }

    private static Method method(Class<?> logger, String name) throws NoSuchMethodException {
        return logger.getMethod(name, String.class, Throwable.class);
    }

    /** Sends what is logged from now on to the log of SDFS, if there is one. Idempotent. */
    static synchronized void use() {
        for (Handler handler : PARENT.getHandlers()) {
            if (handler instanceof HostLog) {
                return;
            }
        }
        try {
            PARENT.addHandler(new HostLog(HostLog.class.getClassLoader()));
            PARENT.setUseParentHandlers(false);
        } catch (ReflectiveOperationException | LinkageError e) {
            PARENT.log(Level.FINE, "the log of SDFS is not used", e);
        }
    }

    @Override
    public void publish(@Nullable LogRecord line) {
        if (line == null || !isLoggable(line)) {
            return;
        }
        try {
            method(line.getLevel())
                    .invoke(log, line.getLoggerName() + ": " + text.formatMessage(line), line.getThrown());
        } catch (ReflectiveOperationException | RuntimeException e) {
            // Whoever logs a line must not fail because of it.
            reportError(null, e, ErrorManager.WRITE_FAILURE);
        }
    }

    private Method method(Level level) {
        if (level.intValue() >= Level.SEVERE.intValue()) {
            return error;
        }
        if (level.intValue() >= Level.WARNING.intValue()) {
            return warn;
        }
        return level.intValue() >= Level.INFO.intValue() ? info : debug;
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
