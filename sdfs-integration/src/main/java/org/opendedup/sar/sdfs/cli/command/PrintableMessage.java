package org.opendedup.sar.sdfs.cli.command;

import ch.qos.logback.classic.pattern.ClassicConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import org.opendedup.sar.common.Printable;

/** Prints an event's message on one line, whatever file names it contains: {@code %plain} of the log's patterns. */
public final class PrintableMessage extends ClassicConverter {
    @Override
    public String convert(ILoggingEvent event) {
        return Printable.line(event.getFormattedMessage());
    }
}
