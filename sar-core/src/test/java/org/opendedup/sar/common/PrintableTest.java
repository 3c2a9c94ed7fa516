package org.opendedup.sar.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

class PrintableTest {
    @Test
    void whatIsShownAsItselfStays() {
        String plain = "/mnt/größe 😀 \\u000a {}";
        assertSame(plain, Printable.line(plain));
        assertSame("", Printable.line(""));
        assertSame("a\n\tb\r", Printable.lines("a\n\tb\r"));
    }

    @Test
    void whatCommandsATerminalOrBeginsALineIsEscaped() {
        assertEquals("a\\u000ab\\u000d\\u0009\\u0000\\u001b[0m", Printable.line("a\nb\r\t\0\u001b[0m"));
        assertEquals(
                "\\u007f\\u0080\\u009b\\u2028\\u2029\\u0085", Printable.line("\u007f\u0080\u009b\u2028\u2029\u0085"));
        assertEquals("\\u202egnp\\ufeff\\u200b", Printable.lines("\u202egnp\ufeff\u200b"));
        assertEquals("a\\udb40\\udc62b", Printable.line("a\udb40\udc62b"), "a tag, which nobody sees");
        assertEquals("\\ud800x\\udc00", Printable.line("\ud800x\udc00"));
    }
}
