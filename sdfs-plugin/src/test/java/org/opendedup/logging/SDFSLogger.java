package org.opendedup.logging;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Stands for SDFS's log, which has more methods: keeps the lines, and prints them. */
public final class SDFSLogger {
    /** Lines so far, each after its level. */
    public static final List<String> LINES = new CopyOnWriteArrayList<>();

    /** A line with this text fails. */
    public static final String FAILS = "cannot be written";

    private SDFSLogger() {}

    /** The part of SDFS's type of loggers that the plugin uses. */
    public interface Log {
        default void error(String message, @Nullable Throwable thrown) {
            add("error " + message);
        }

        default void warn(String message, @Nullable Throwable thrown) {
            add("warn " + message);
        }

        default void info(String message, @Nullable Throwable thrown) {
            add("info " + message);
        }

        default void debug(String message, @Nullable Throwable thrown) {
            add("debug " + message);
        }

        private static void add(String line) {
            if (line.contains(FAILS)) {
                throw new IllegalStateException(line);
            }
            LINES.add(line);
            System.out.println(line);
        }
    }

    public static Log getLog() {
        return new Log() {};
    }
}
