package org.opendedup.sar.sdfs.cli.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProgressLineTest {
    private final StringWriter err = new StringWriter();

    private ProgressLine line(boolean isTerminal, long seldomNanos) {
        var out = new PrintWriter(new StringWriter());
        return new ProgressLine(new Environment(Map.of(), out, new PrintWriter(err), isTerminal), seldomNanos);
    }

    @Test
    void writesOverOneLineOfATerminal() {
        ProgressLine line = line(true, Long.MAX_VALUE);
        line.show("1 %  ");
        line.show("2 %  ");
        assertEquals("\r1 %  \r2 %  ", err.toString());
        line.clear();
        assertEquals("\r1 %  \r2 %  \r" + " ".repeat(100) + "\r", err.toString());
    }

    @Test
    void writesPlainLinesSeldomElsewhere() {
        ProgressLine seldom = line(false, Long.MAX_VALUE);
        seldom.show("1 %  ");
        seldom.clear();
        assertEquals("", err.toString());
        ProgressLine often = line(false, 0);
        often.show("1 %  ");
        often.show("2 %  ");
        often.clear();
        assertEquals(String.format("1 %%%n2 %%%n"), err.toString());
    }
}
