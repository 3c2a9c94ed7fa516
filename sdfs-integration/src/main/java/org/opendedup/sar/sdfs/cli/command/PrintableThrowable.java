package org.opendedup.sar.sdfs.cli.command;

import ch.qos.logback.classic.pattern.ThrowableHandlingConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import org.opendedup.sar.common.Printable;

/**
 * Prints an event's exception with its stack, in the JDK's format, but with each message on one line, whatever file
 * names it contains: {@code %trace} of the log's patterns.
 */
public final class PrintableThrowable extends ThrowableHandlingConverter {
    @Override
    public String convert(ILoggingEvent event) {
        IThrowableProxy thrown = event.getThrowableProxy();
        if (thrown == null) {
            return "";
        }
        var text = new StringBuilder();
        append(text, "", "", thrown);
        return text.toString();
    }

    private static void append(StringBuilder text, String indent, String caption, IThrowableProxy thrown) {
        text.append(indent).append(caption).append(thrown.getClassName());
        if (thrown.getMessage() != null) {
            text.append(": ").append(Printable.line(thrown.getMessage()));
        }
        text.append('\n');
        if (thrown.isCyclic()) {
            return;
        }
        StackTraceElementProxy[] steps = thrown.getStackTraceElementProxyArray();
        int own = steps.length - thrown.getCommonFrames();
        for (int i = 0; i < own; i++) {
            text.append(indent).append('\t').append(steps[i].getSTEAsString()).append('\n');
        }
        if (own < steps.length) {
            text.append(indent).append("\t... ").append(steps.length - own).append(" more\n");
        }
        for (IThrowableProxy suppressed : thrown.getSuppressed()) {
            append(text, indent + "\t", "Suppressed: ", suppressed);
        }
        if (thrown.getCause() != null) {
            append(text, indent, "Caused by: ", thrown.getCause());
        }
    }
}
