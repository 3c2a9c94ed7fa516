package org.opendedup.sar.common;

/**
 * Makes text safe for logs and terminals. Any user can choose a file name: one with a line break could forge a line of
 * the log, one with an escape sequence could control the terminal, and one with a text direction character could look
 * like another name.
 */
public final class Printable {
    private Printable() {}

    /**
     * Returns the text on one line: every character that is not shown as itself becomes {@code \}{@code u} and four
     * hexadecimal digits.
     */
    public static String line(String text) {
        return escaped(text, false);
    }

    /**
     * As {@link #line}, but keeps line breaks and tabs: for the program's own text of several lines, or text that
     * restarts a line.
     */
    public static String lines(String text) {
        return escaped(text, true);
    }

    private static String escaped(String text, boolean keepLines) {
        int clean = 0;
        while (clean < text.length() && isPlain(text, clean, keepLines)) {
            clean++;
        }
        if (clean == text.length()) {
            return text;
        }
        var escaped = new StringBuilder(text.length() + 16).append(text, 0, clean);
        for (int at = clean; at < text.length(); at++) {
            if (isPlain(text, at, keepLines)) {
                escaped.append(text.charAt(at));
            } else {
                escaped.append(String.format("\\u%04x", (int) text.charAt(at)));
            }
        }
        return escaped.toString();
    }

    private static boolean isPlain(String text, int at, boolean keepLines) {
        char character = text.charAt(at);
        if (character >= ' ' && character < 0x7f) {
            return true;
        }
        if (keepLines && (character == '\n' || character == '\r' || character == '\t')) {
            return true;
        }
        boolean isSecond =
                Character.isLowSurrogate(character) && at > 0 && Character.isHighSurrogate(text.charAt(at - 1));
        return switch (Character.getType(text.codePointAt(isSecond ? at - 1 : at))) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE -> false;
            default -> true;
        };
    }
}
