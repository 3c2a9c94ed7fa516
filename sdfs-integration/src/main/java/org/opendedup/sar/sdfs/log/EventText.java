package org.opendedup.sar.sdfs.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;

/** Converts an event to text, without a stack trace. */
final class EventText {
    private EventText() {}

    /**
     * Returns the message, followed by the types and messages of the exception and its causes. Does not make it
     * printable.
     */
    static String of(ILoggingEvent event) {
        String message = String.valueOf(event.getFormattedMessage());
        IThrowableProxy thrown = event.getThrowableProxy();
        if (thrown == null) {
            return message;
        }
        var text = new StringBuilder(message);
        while (thrown != null && text.length() < Repeats.MAX_TEXT_CHARS) {
            text.append(": ").append(thrown.getClassName());
            if (thrown.getMessage() != null) {
                text.append(": ").append(thrown.getMessage());
            }
            thrown = thrown.isCyclic() ? null : thrown.getCause();
        }
        return text.toString();
    }
}
